//! Tree search: operations answered when the search is done.

pub(super) mod constraints;
pub mod events;
mod view;

use std::collections::HashSet;

use axum::{
    extract::{Path, Request, State, rejection::PathRejection},
    http::header,
    response::{IntoResponse, Response},
};
use chem::{Limits, MappedMolecule};
use contract::{
    AizynthTrees, CompactResult, CompactRoute, Country, EngineAnswer, ErrorItem, ExportFormat,
    MAX_AMOUNT_MMOL, MAX_DEPTH_LIMIT, NodeData, QuotaKind, RetrocastPredictions, RouteGraph, StreamEvent,
    TreeSearchRequest, TreeSearchResult,
};

use http_errors::ApiError;
use serde_json::{Value, json};

pub use self::view::View;
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
        ("view" = Option<String>, Query, description = View::DESCRIPTION)),
    request_body(content = TreeSearchRequest),
    responses((status = 200,
        description = "The routes; an answer without routes is not an error. With `Accept: text/event-stream`, \
            an extension, events while routes are found: `progress` (`SearchProgress`), `route` \
            (`FoundRoute`), and as the last one `answer` (as without a stream) or `problem` \
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

    match shape {
        ResultShape::Export(_) if is_stream => Err(ApiError::Invalid(vec![export::no_format_of_a_stream()])),
        ResultShape::Own(view) if is_stream => {
            events::begin(search, search_request, view, stream_context).await
        }
        shape => match (run(&search, search_request, None).await?, shape) {
            (Err(refusal), _) => Ok(refusal),
            (Ok(result), ResultShape::Export(format)) => exported(&search, format, result.expanded()).await,
            (Ok(result), ResultShape::Own(view)) => {
                let body = view.written(result).await?;
                Ok(([(header::CONTENT_TYPE, view.media_type())], body).into_response())
            }
        },
    }
}

/// Shape of the result that a query asks for.
enum ResultShape {
    /// The service's own.
    Own(View),
    /// That of another program.
    Export(ExportFormat),
}

/// Parses a query that has at most a format and a view, which means nothing to the format of another program.
fn shape(mut query: Fields<'_, '_>) -> Option<ResultShape> {
    let format = query.optional("format", None, export::format_name);
    let view = View::read(&mut query);
    query.finish();
    let own = ResultShape::Own(view?);
    Some(format?.map_or(own, ResultShape::Export))
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
        (Ok(result), Some(format)) => exported(&search, format, result.expanded()).await,
        (Ok(result), None) => Ok(Shaped(shape.of_result(result.expanded()), shape).into_response()),
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
) -> Result<Result<CompactResult, Response>, ApiError> {
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
fn validated(result: CompactResult, max_groups: u32, max_group_size: u32) -> Result<CompactResult, ApiError> {
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
fn contract_violations(result: &CompactResult, max_groups: u32, max_group_size: u32) -> Vec<ErrorItem> {
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
            for route in variations.iter().flatten() {
                if let Err(reason) = check_route(route, result) {
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

/// Checks a route of `result` as [`check_graph`] does, without expanding it.
fn check_route(route: &CompactRoute, result: &CompactResult) -> Result<(), &'static str> {
    let molecules = route.molecules.iter().map(|&index| result.molecules.get(index as usize));
    let steps = route.steps.iter().map(|&index| result.steps.get(index as usize));
    let (Some(molecules), Some(steps)) =
        (molecules.collect::<Option<Vec<_>>>(), steps.collect::<Option<Vec<_>>>())
    else {
        return Err("it names a molecule or a step that the result lacks");
    };
    let nodes = molecules.iter().map(|molecule| (&*molecule.id, &molecule.data));
    let ends = steps.iter().flat_map(|step| step.precursors.iter().chain([&step.product]));
    check_parts(nodes, ends.map(String::as_str))
}

pub(super) fn check_graph(graph: &RouteGraph) -> Result<(), &'static str> {
    if !graph.directed || graph.multigraph {
        return Err("it is not a simple directed graph");
    }
    let ends = graph.edges.iter().flat_map(|edge| [&*edge.source, &*edge.target]);
    check_parts(graph.nodes.iter().map(|node| (&*node.id, &node.data)), ends)
}

/// Checks a graph of these nodes, with the ends of all edges.
fn check_parts<'a>(
    nodes: impl Iterator<Item = (&'a str, &'a NodeData)>,
    mut ends: impl Iterator<Item = &'a str>,
) -> Result<(), &'static str> {
    let mut ids = HashSet::new();
    for (id, data) in nodes {
        if !ids.insert(id) {
            return Err("it repeats a node id");
        }
        if data.is_building_block != data.building_block_idx.is_some() {
            return Err("a building block lacks its index, or another node has one");
        }
    }
    match ids.is_empty() {
        true => Err("it has no nodes"),
        false if ends.all(|id| ids.contains(id)) => Ok(()),
        false => Err("an edge refers to an unknown node"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_has_the_molecules_of_its_steps_and_nothing_that_its_result_lacks() {
        let sound = CompactResult::of(serde_json::from_value(example!("tree_search")).unwrap());
        let route = |result: &CompactResult| -> CompactRoute {
            let routes = result.route_hierarchy.values().flat_map(|groups| groups.values());
            routes.flatten().flatten().next().unwrap().clone()
        };
        let check = |change: &dyn Fn(&mut CompactResult, &mut CompactRoute)| {
            let (mut result, mut route) = (sound.clone(), route(&sound));
            change(&mut result, &mut route);
            check_route(&route, &result).err().unwrap_or_default()
        };

        assert_eq!(contract_violations(&sound, 1, 1), []);
        assert_eq!(check(&|_, _| {}), "");
        let lacking = "it names a molecule or a step that the result lacks";
        assert_eq!(check(&|result, _| result.steps.clear()), lacking);
        assert_eq!(check(&|_, route| route.molecules.push(99)), lacking);
        assert_eq!(check(&|_, route| route.molecules.push(0)), "it repeats a node id");
        assert_eq!(
            check(&|_, route| *route = CompactRoute { graph: None, molecules: vec![], steps: vec![] }),
            "it has no nodes"
        );
        assert_eq!(check(&|_, route| _ = route.molecules.pop()), "an edge refers to an unknown node");
        assert_eq!(
            check(&|result, _| result.molecules[0].data.is_building_block = true),
            "a building block lacks its index, or another node has one"
        );
    }
}
