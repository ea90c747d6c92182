//! Tree search: operations answered when the search is done.

pub(super) mod constraints;
pub mod events;

use std::collections::HashSet;

use axum::{
    Json,
    extract::{Path, Request, State, rejection::PathRejection},
    http::header,
    response::{IntoResponse, Response},
};
use chem::{Limits, MappedMolecule};
use contract::{
    AizynthTrees, COMPACT_RESULT, CompactResult, Country, EngineAnswer, ErrorItem, ExportFormat,
    MAX_AMOUNT_MMOL, MAX_DEPTH_LIMIT, QuotaKind, RetrocastPredictions, RouteGraph, StreamEvent,
    TreeSearchRequest, TreeSearchResult,
};

use http_errors::ApiError;
use serde_json::{Value, json};

use super::{
    MAX_ID, answer_fault,
    engines::Engines,
    export::{self, exported},
    metered_search::{MeteredSearch, whole_seconds},
    named_path_id,
};
use crate::{
    answer_shape::{AnswerShape, Shaped},
    engine_answer::engine_answer,
    examples::example,
    fields::{
        Faults, FieldFault, Fields, InputValue, boolean, choice, integer, nullable, number, positive, text,
    },
    operation::{DeadlineKind, FaultExample, Operation},
    streams::{StreamContext, asks_for_events},
};

/// Maximum length of a target, in characters.
pub(crate) const MAX_TARGET: usize = 1000;

/// Maximum number of vendors in one field of a request.
const MAX_VENDORS: usize = 100;

/// Rules for searching.
pub const CREATE: Operation = Operation {
    deadline: DeadlineKind::Search,
    fault: Some(FaultExample::NotPositive("max_seconds")),
    ..Operation::with_body(None, QuotaKind::TreeSearch)
};

/// Searches for routes to the target within the time budget and returns every validated one.
#[utoipa::path(
    post, path = "/synth/v1/treesearch", tag = "tree search", operation_id = "create_tree_search",
    description = "Searches for routes to the target within the time budget and returns all validated ones. \
        Experimental.",
    summary = "Create a tree search",
    params(("format" = Option<String>, Query, description = export::DESCRIPTION),
        ("view" = Option<String>, Query, description = "With `compact`, molecules and steps stand once, and \
            routes name them by their indices (`CompactResult`): about a sixth of the bytes. Means nothing with \
            `format`. An extension.")),
    request_body(content = TreeSearchRequest),
    responses((status = 200,
        description = "The routes; an answer without routes is not an error. With `Accept: text/event-stream`, \
            an extension, events while routes are found: `progress` (`SearchProgress`), `route` \
            (`FoundRoute`), and as the last one `answer` (`TreeSearchResult`) or `problem` \
            (`StreamProblem`). Resume a stream that ends without either at its `Content-Location`.",
        content((TreeSearchResult = "application/json", example = json!(example!("tree_search"))), (StreamEvent = "text/event-stream"),
            (CompactResult = "application/vnd.retort.compact+json"),
            (AizynthTrees = "application/vnd.retort.aizynth+json"), (RetrocastPredictions = "application/vnd.retort.retrocast+json")),
        headers(("Content-Location" = String, description = "Of a stream: the address at which to resume it."))),
        (status = 409, description = export::NOTHING_TO_EXPORT)),
)]
pub async fn create(
    search: MeteredSearch,
    stream_context: StreamContext,
    request: Request,
) -> Result<Response, ApiError> {
    let (longest, is_stream) = (search.jobs.longest_search(), asks_for_events(request.headers()));
    let parse = move |body: &[u8], faults: &mut Faults| parse(body, longest, faults);
    let (shape, search_request) = search.caller.query_and_body(request, shape, parse).await?;

    if let Some(parameter) = shape.parameter().filter(|_| is_stream) {
        return Err(ApiError::Invalid(vec![export::no_format_of_a_stream(parameter)]));
    }
    if is_stream {
        return events::begin(search, search_request, stream_context).await;
    }
    let result = match run(&search, search_request, None).await? {
        Ok(result) => result,
        Err(refusal) => return Ok(refusal),
    };
    match shape {
        ResultShape::Export(format) => exported(&search, format, result).await,
        ResultShape::Compact => compact(result).await,
        ResultShape::Contract => Ok(Json(result).into_response()),
    }
}

/// Shape of the result that a query asks for.
enum ResultShape {
    /// That of the contract.
    Contract,
    /// The contract's, with molecules and steps once.
    Compact,
    /// That of another program.
    Export(ExportFormat),
}

impl ResultShape {
    /// Returns the query's parameter that asks for the shape.
    fn parameter(&self) -> Option<&'static str> {
        match self {
            Self::Contract => None,
            Self::Compact => Some("view"),
            Self::Export(_) => Some("format"),
        }
    }
}

/// Parses a query that has at most a format and a view, which means nothing to the format of another program.
fn shape(mut query: Fields<'_, '_>) -> Option<ResultShape> {
    let format = query.optional("format", None, export::format_name);
    let views = choice(&[false, true], |is_compact| if is_compact { "compact" } else { "full" });
    let is_compact = query.optional("view", false, views);
    query.finish();
    let contract = if is_compact? { ResultShape::Compact } else { ResultShape::Contract };
    Some(format?.map_or(contract, ResultShape::Export))
}

/// Answers with a compact result.
async fn compact(result: TreeSearchResult) -> Result<Response, ApiError> {
    // A thousand routes take long enough to be written off the async threads.
    let writing = tokio::task::spawn_blocking(move || serde_json::to_vec(&CompactResult::of(result)));
    let written = writing.await.map_err(|error| ApiError::internal(&error))?;
    let body = written.map_err(|error| ApiError::internal(&error))?;
    Ok(([(header::CONTENT_TYPE, COMPACT_RESULT)], body).into_response())
}

/// Searches with an engine and answers as clients of this API family read it.
#[utoipa::path(
    post, path = "/synth/v1/{engine}/treesearch", tag = "tree search", operation_id = "create_engine_tree_search",
    description = "Searches with one of the engines that live searchers serve, and answers in the shape of this \
        API family: routes by backbone and steps, each with its price, and reactions as nodes. An extension.",
    summary = "Create a tree search with an engine",
    params(("engine" = String, Path, min_length = 1, max_length = 255, pattern = r"^\w+$",
        description = "Name of the engine."),
        ("format" = Option<String>, Query, description = export::DESCRIPTION)),
    request_body(content = TreeSearchRequest),
    responses(
        (status = 200, description = "The routes; an answer without routes is not an error.",
            content((EngineAnswer = "application/json", example = engine_example),
                (TreeSearchResult = "application/vnd.retort.treesearch+json"),
                (AizynthTrees = "application/vnd.retort.aizynth+json"), (RetrocastPredictions = "application/vnd.retort.retrocast+json"))),
        (status = 404, description = "No live searcher serves an engine of this name."),
        (status = 409, description = export::NOTHING_TO_EXPORT),
    ),
)]
pub async fn create_by_engine(
    State(engines): State<Engines>,
    search: MeteredSearch,
    shape: AnswerShape,
    path: Result<Path<String>, PathRejection>,
    request: Request,
) -> Result<Response, ApiError> {
    let longest = search.jobs.longest_search();
    let parse = move |body: &[u8], faults: &mut Faults| {
        let engine = named_path_id("engine", path, faults);
        let search_request = parse(body, longest, faults);
        engine.zip(search_request)
    };
    let (format, (engine, search_request)) =
        search.caller.query_and_body(request, export::format, parse).await?;

    let result =
        run(&search, search_request, Some(engines.called(&engine))).await.map_err(|error| match error {
            // An unknown name in the body is a bad reference; an unknown name in the path is "not found".
            ApiError::BadReference => ApiError::NotFound,
            error => error,
        })?;
    match (result, format) {
        (Ok(result), Some(format)) => exported(&search, format, result).await,
        (Ok(result), None) => Ok(Shaped(shape.of_result(result), shape).into_response()),
        (Err(refusal), _) => Ok(refusal),
    }
}

/// Returns the example of a tree search in the shape for clients of this API family.
fn engine_example() -> Value {
    let result = serde_json::from_value(example!("tree_search"));
    json!(result.map(engine_answer).expect("treesearch: the example is an answer"))
}

/// Runs the search `search_request` and checks its result; the inner error is the answer to an account whose search seconds
/// are spent.
async fn run(
    search: &MeteredSearch,
    search_request: TreeSearchRequest,
    engine: Option<&str>,
) -> Result<Result<TreeSearchResult, Response>, ApiError> {
    let MeteredSearch { jobs, limits, deadlines, arrival, caller } = search;
    let (groups, group_size) = (search_request.max_backbone_groups, search_request.max_backbone_group_size);
    let max_seconds = search_request.max_seconds;
    let reservation = match limits
        .reserve(QuotaKind::SearchSeconds, &caller.account_id, &caller.quotas, whole_seconds(max_seconds))
        .await
    {
        Ok(reservation) => reservation,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let searching = jobs.search(&caller.account_id, search_request, engine);
    let searched = deadlines.search(*arrival, max_seconds, searching).await;
    let used = searched.as_ref().map_or(0, |result| whole_seconds(result.metadata.total_elapsed));
    reservation.settle(used).await;
    validated(searched?, groups, group_size).map(Ok)
}

/// Returns `result` if it satisfies the contract.
fn validated(
    result: TreeSearchResult,
    max_groups: u32,
    max_group_size: u32,
) -> Result<TreeSearchResult, ApiError> {
    let faults = contract_violations(&result, max_groups, max_group_size);
    if faults.is_empty() {
        return Ok(result);
    }
    tracing::error!(?faults, "a tree search result does not fit the response schema");
    Err(ApiError::BadAnswer(faults))
}

pub(crate) fn parse(body: &[u8], max_seconds_limit: f64, faults: &mut Faults) -> Option<TreeSearchRequest> {
    let mut body = Fields::body(body, faults)?;
    let search_smiles = body.required("search_smiles", target);
    let options =
        parse_options(&mut body, search_smiles.as_ref().map(|(_, target)| target), max_seconds_limit);
    body.finish();
    Some(TreeSearchRequest { search_smiles: search_smiles?.0, ..options? })
}

/// Parses the fields of a request except the target, which is left empty. Bonds are looked up in `target`, if there
/// is one.
pub(super) fn parse_options(
    body: &mut Fields<'_, '_>,
    target: Option<&MappedMolecule>,
    max_seconds_limit: f64,
) -> Option<TreeSearchRequest> {
    let default = TreeSearchRequest::new("");
    let many = integer(1, None);
    let early_exit_first_solution =
        body.optional("early_exit_first_solution", default.early_exit_first_solution, boolean);
    // A limit below the contract's default lowers the default too.
    let max_seconds =
        body.optional("max_seconds", default.max_seconds.min(max_seconds_limit), positive(max_seconds_limit));
    let max_depth =
        body.optional("max_depth", default.max_depth.into(), integer(1, Some(MAX_DEPTH_LIMIT.into())));
    let mask_trivial_solution =
        body.optional("mask_trivial_solution", default.mask_trivial_solution, boolean);
    let mask_bblocks_mw_gte =
        body.optional("mask_bblocks_mw_gte", default.mask_bblocks_mw_gte, nullable(number));
    let mask_usd_pricing_gte =
        body.optional("mask_usd_pricing_gte", default.mask_usd_pricing_gte, nullable(number));
    let ships_to =
        body.optional("ships_to", default.ships_to, nullable(choice(&Country::ALL, Country::code)));
    let mask_lead_times_gte =
        body.optional("mask_lead_times_gte", default.mask_lead_times_gte, nullable(number));
    let max_backbone_groups = body.optional("max_backbone_groups", default.max_backbone_groups.into(), &many);
    let max_backbone_group_size =
        body.optional("max_backbone_group_size", default.max_backbone_group_size.into(), &many);
    let limit_backbone_group_size_by_cost = body.optional(
        "limit_backbone_group_size_by_cost",
        default.limit_backbone_group_size_by_cost,
        boolean,
    );
    let amount_mmol = body.optional("amount_mmol", default.amount_mmol, positive(MAX_AMOUNT_MMOL));
    let step_yield = body.optional("step_yield", default.step_yield, positive(1.0));
    let vendor = text(0, Some(MAX_ID));
    let vendors_only = body.list("vendors_only", MAX_VENDORS, &vendor);
    let vendors_never = body.list("vendors_never", MAX_VENDORS, &vendor);
    let vendors_first = body.list("vendors_first", MAX_VENDORS, &vendor);
    let constraint_fields = constraints::read(body, target);
    Some(TreeSearchRequest {
        search_smiles: String::new(),
        early_exit_first_solution: early_exit_first_solution?,
        max_seconds: max_seconds?,
        max_depth: u32::try_from(max_depth?).ok()?,
        mask_trivial_solution: mask_trivial_solution?,
        mask_bblocks_mw_gte: mask_bblocks_mw_gte?,
        mask_usd_pricing_gte: mask_usd_pricing_gte?,
        ships_to: ships_to?,
        mask_lead_times_gte: mask_lead_times_gte?,
        // A bound beyond 32 bits has the same effect as no bound.
        max_backbone_groups: u32::try_from(max_backbone_groups?).unwrap_or(u32::MAX),
        max_backbone_group_size: u32::try_from(max_backbone_group_size?).unwrap_or(u32::MAX),
        limit_backbone_group_size_by_cost: limit_backbone_group_size_by_cost?,
        amount_mmol: amount_mmol?,
        step_yield: step_yield?,
        vendors_only: vendors_only?,
        vendors_never: vendors_never?.unwrap_or_default(),
        vendors_first: vendors_first?.unwrap_or_default(),
        ..constraint_fields?
    })
}

/// Parses the SMILES of one molecule within the size limits of a target; returns the text and the parsed molecule.
pub(super) fn target(input: &InputValue<'_>) -> Result<(String, MappedMolecule), FieldFault> {
    let smiles = text(1, Some(MAX_TARGET))(input)?;
    let mapped = MappedMolecule::of_one(&smiles, Limits::TARGET).map_err(|error| not_smiles(&error))?;
    Ok((smiles, mapped))
}

pub(super) fn not_smiles(reason: &dyn std::fmt::Display) -> FieldFault {
    FieldFault::new("smiles_invalid", format!("Input should be a valid SMILES: {reason}"))
}

/// Lists the violations of the contract in `result`.
fn contract_violations(result: &TreeSearchResult, max_groups: u32, max_group_size: u32) -> Vec<ErrorItem> {
    let mut faults = Vec::new();
    let hierarchy = &result.route_hierarchy;
    let mut fault = |kind: &str, msg: String| faults.push(answer_fault("route_hierarchy", kind, &msg));
    // One backbone may appear under several numbers of steps.
    let groups = hierarchy.values().flat_map(|groups| groups.keys()).collect::<HashSet<_>>().len();
    if groups > max_groups as usize {
        fault("too_long", format!("{groups} backbones are more than the {max_groups} requested"));
    }
    for (steps, groups) in hierarchy {
        if steps.parse::<u32>().map(|steps| steps.to_string()).as_ref() != Ok(steps) {
            fault("string_pattern_mismatch", format!("`{steps}` is not a number of steps"));
        }
        for (key, variations) in groups {
            if !is_backbone_key(key) {
                fault("string_pattern_mismatch", format!("`{key}` is not a backbone key"));
            }
            if variations.len() > max_group_size as usize {
                fault("too_long", format!("`{key}` has more variations than the {max_group_size} requested"));
            }
            for graph in variations.iter().flatten() {
                if let Err(reason) = check_graph(graph) {
                    fault("graph_invalid", format!("a route of `{key}`: {reason}"));
                }
            }
        }
    }
    faults
}

fn is_backbone_key(key: &str) -> bool {
    let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    key.strip_prefix('b').is_some_and(|digits| digits.len() == 16 && digits.bytes().all(is_hex))
}

pub(super) fn check_graph(graph: &RouteGraph) -> Result<(), &'static str> {
    let ids: HashSet<_> = graph.nodes.iter().map(|node| node.id.as_str()).collect();
    let is_node = |id: &str| ids.contains(id);
    if !graph.directed || graph.multigraph {
        return Err("it is not a simple directed graph");
    }
    if ids.is_empty() || ids.len() != graph.nodes.len() {
        return Err("it has no nodes or repeats a node id");
    }
    if !graph.edges.iter().all(|edge| is_node(&edge.source) && is_node(&edge.target)) {
        return Err("an edge refers to an unknown node");
    }
    if graph.nodes.iter().any(|node| node.data.is_building_block != node.data.building_block_idx.is_some()) {
        return Err("a building block lacks its index, or another node has one");
    }
    Ok(())
}
