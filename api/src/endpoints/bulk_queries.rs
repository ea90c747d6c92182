//! Bulk queries of up to a thousand molecules, and searches of the catalogue. Extensions of the contract.
//!
//! An invalid molecule gets an error entry at its position from the worker, so that the rest of the query is
//! answered. A fault of the request itself fails the request. The worker compresses the answer as it is sent; here it
//! is decompressed, validated, and passed on.

use axum::{
    extract::{Request, State},
    http::header,
    response::{IntoResponse, Response},
};
use chem::{Limits, MappedMolecule};
use contract::{
    Analogue, AnaloguesRequest, BuildingBlocksRequest, BulkQuery, BulkQueryResult, CatalogueCriterion,
    CatalogueRequest, CatalogueSearchResult, Country, DEFAULT_MIN_SIMILARITY, ExpandedMolecule,
    ExpansionsRequest, LEAST_NUMBER, MAX_BULK_QUERY, MAX_CATALOGUE_MATCHES, MAX_CATALOGUE_TEXT,
    MAX_LISTED_OFFERS, MAX_PRECURSOR_SETS, MoleculeAvailability, Node, QuotaKind, RouteGraph,
    SYNTHESIZABILITY_SECONDS, StepCheck, Synthesizability, SynthesizabilityRequest, scope,
};
use http_errors::ApiError;
use serde::de::DeserializeOwned;

use super::{
    answer_fault,
    checked_route::route_to,
    engines::{Engines, engine},
    gzip_json::outcome_json,
    metered_search::MeteredSearch,
    treesearch::{check_graph, constraints},
};
use crate::{
    examples::example,
    fields::{Faults, FieldFault, Fields, InputValue, between, boolean, choice, integer, nullable, text},
    operation::{DeadlineKind, FaultExample, Operation},
};

/// Rules shared by all bulk queries.
const BULK_QUERY: Operation = Operation {
    deadline: DeadlineKind::Search,
    ..Operation::with_body(Some(scope::QUERIES_CREATE), QuotaKind::TreeSearch)
};
/// Rules for expanding molecules.
pub const EXPANSIONS: Operation =
    Operation { fault: Some(FaultExample::Above("limit", MAX_PRECURSOR_SETS)), ..BULK_QUERY };
/// Rules for looking up building blocks.
pub const BUILDING_BLOCKS: Operation =
    Operation { fault: Some(FaultExample::Missing("smiles")), ..BULK_QUERY };
/// Rules for searching the catalogue.
pub const SEARCH: Operation =
    Operation { fault: Some(FaultExample::Above("limit", MAX_CATALOGUE_MATCHES)), ..BULK_QUERY };
/// Rules for making analogues.
pub const ANALOGUES: Operation =
    Operation { fault: Some(FaultExample::Missing("building_block")), ..BULK_QUERY };
/// Rules for estimating synthesizability.
pub const SYNTHESIZABILITY: Operation =
    Operation { fault: Some(FaultExample::Above("max_seconds", 1)), ..BULK_QUERY };

/// Maximum number of characters of a molecule. A molecule longer than [`MAX_TARGET`](super::treesearch::MAX_TARGET)
/// gets an error entry.
pub(crate) const MAX_MOLECULE: usize = 10_000;

/// Seconds charged to the account for each molecule until the actual time is known.
const EXPANSION_SECONDS: f64 = 0.01;
const CHECKED_EXPANSION_SECONDS: f64 = 0.03;
const BUILDING_BLOCK_SECONDS: f64 = 0.001;
const INCHIKEY_SECONDS: f64 = 0.001;
const ANALOGUE_SECONDS: f64 = 0.1;

/// Seconds charged to the account for a catalogue search until the actual time is known: as long as a substructure
/// search may take.
const SUBSTRUCTURE_SECONDS: f64 = 5.0;
const CATALOGUE_SECONDS: f64 = 0.1;

/// Finds precursors of molecules for one step.
#[utoipa::path(
    post, path = "/synth/v1/expansions", tag = "bulk queries", operation_id = "create_expansions",
    description = "Returns the precursors from which each of up to 1,000 molecules can be made in one step: sets \
        whose steps pass the check, by the probability of their templates. A call uses search seconds of \
        the account in proportion to its work. A long call pauses while tree searches run. An extension.",
    summary = "Expand molecules",
    request_body(content = ExpansionsRequest),
    responses((status = 200, description = "The precursors of each molecule.", body = BulkQueryResult<ExpandedMolecule>, example = json!(example!("expansions")))),
)]
pub async fn expansions(
    State(engines): State<Engines>,
    search: MeteredSearch,
    request: Request,
) -> Result<Response, ApiError> {
    let parsed = search.caller.body(request, parse_expansions).await?;
    answer(search, &engines, parsed, |parsed, result| is_expected(parsed, result, expansion_fits)).await
}

/// Looks up vendors and prices of molecules.
#[utoipa::path(
    post, path = "/synth/v1/building-blocks", tag = "bulk queries", operation_id = "look_up_building_blocks",
    description = "Returns stock, price, lead time and offers of each of up to 1,000 molecules, from the \
        catalogue and the vendors that the account's tree searches use, without a price limit. An extension.",
    summary = "Look up building blocks",
    request_body(content = BuildingBlocksRequest),
    responses((status = 200, description = "Stock and offers of each molecule.", body = BulkQueryResult<MoleculeAvailability>, example = json!(example!("sold_blocks")))),
)]
pub async fn building_blocks(
    State(engines): State<Engines>,
    search: MeteredSearch,
    request: Request,
) -> Result<Response, ApiError> {
    let parsed = search.caller.body(request, parse_building_blocks).await?;
    answer(search, &engines, parsed, |parsed, result| is_expected(parsed, result, availability_fits)).await
}

/// Runs a short search for each molecule, to see if it can be made or bought.
#[utoipa::path(
    post, path = "/synth/v1/synthesizability", tag = "bulk queries", operation_id = "create_synthesizability",
    description = "Searches for a first route to each of up to 1,000 molecules, for at most `max_seconds` each \
        on one core. A molecule that can be bought is solved in 0 steps. The call ends at its deadline \
        (`deadline_seconds` of the answer); molecules that were not reached have an error entry. A long \
        call pauses while tree searches run. An extension.",
    summary = "Estimate synthesizability",
    request_body(content = SynthesizabilityRequest),
    responses((status = 200, description = "The estimate of each molecule.", body = BulkQueryResult<Synthesizability>, example = json!(example!("synthesizability")))),
)]
pub async fn synthesizability(
    State(engines): State<Engines>,
    search: MeteredSearch,
    request: Request,
) -> Result<Response, ApiError> {
    let parsed = search.caller.body(request, parse_synthesizability).await?;
    answer(search, &engines, parsed, |parsed, result| {
        is_expected(parsed, result, |_, _: &Synthesizability| true)
    })
    .await
}

/// Runs a route with other molecules in the place of one of its building blocks.
#[utoipa::path(
    post, path = "/synth/v1/analogues", tag = "bulk queries", operation_id = "create_analogues",
    description = "Replaces a building block of a route by each of up to 1,000 molecules, and runs the changed \
        steps forwards by their templates. The answer has the resulting analogue with its route, or the \
        step that does not accept the molecule and the reason. Steps pass the same checks as those of a \
        tree search. An extension.",
    summary = "Make analogues along a route",
    request_body(content = AnaloguesRequest),
    responses((status = 200, description = "The analogue of each molecule.", body = BulkQueryResult<Analogue>, example = json!(example!("analogues")))),
)]
pub async fn analogues(
    State(engines): State<Engines>,
    search: MeteredSearch,
    request: Request,
) -> Result<Response, ApiError> {
    let parsed = search.caller.body(request, parse_analogues).await?;
    answer(search, &engines, parsed, |parsed, result| is_expected(parsed, result, analogue_fits)).await
}

/// Searches the catalogue.
#[utoipa::path(
    post, path = "/synth/v1/building-blocks/search", tag = "bulk queries", operation_id = "search_building_blocks",
    description = "Finds building blocks by one of `smiles`, `similar_to`, `substructure` and `text`, with their \
        offers: in the catalogue, from the vendors that the account's tree searches use, without a price \
        limit. A substructure search reads the lightest molecules first. It ends when it has enough or \
        after some seconds, and returns what it has found. An extension.",
    summary = "Search the catalogue",
    request_body(content = CatalogueRequest),
    responses((status = 200, description = "The blocks found.", body = CatalogueSearchResult, example = json!(example!("found_blocks")))),
)]
pub async fn search(
    State(engines): State<Engines>,
    search: MeteredSearch,
    request: Request,
) -> Result<Response, ApiError> {
    let parsed = search.caller.body(request, parse_search).await?;
    answer(search, &engines, parsed, is_expected_match).await
}

/// Parsed bulk query.
pub(crate) struct ParsedBulkQuery {
    pub(crate) smiles: Vec<String>,
    query: BulkQuery,
    engine: Option<String>,
}

impl ParsedBulkQuery {
    /// Returns the upper estimate of the query's work, in seconds.
    fn max_work_seconds(&self) -> f64 {
        let molecules = self.smiles.len() as f64;
        match &self.query {
            BulkQuery::Expansions { check: StepCheck::Rules, .. } => EXPANSION_SECONDS * molecules,
            BulkQuery::Expansions { check: StepCheck::Forwards, .. } => CHECKED_EXPANSION_SECONDS * molecules,
            BulkQuery::BuildingBlocks { inchikey, .. } => {
                (BUILDING_BLOCK_SECONDS + if *inchikey { INCHIKEY_SECONDS } else { 0.0 }) * molecules
            }
            BulkQuery::Synthesizability { max_seconds } => max_seconds * molecules,
            BulkQuery::Makeability { limits } => limits.max_seconds_each * molecules,
            BulkQuery::Analogues { .. } => ANALOGUE_SECONDS * molecules,
            BulkQuery::Catalogue { sought: CatalogueCriterion::Substructure { .. }, .. } => {
                SUBSTRUCTURE_SECONDS
            }
            BulkQuery::Catalogue { .. } => CATALOGUE_SECONDS,
        }
    }
}

pub(crate) fn parse_expansions(body: &[u8], faults: &mut Faults) -> Option<ParsedBulkQuery> {
    let mut body = Fields::body(body, faults)?;
    let smiles = smiles(&mut body);
    let limit = body.optional("limit", 50, integer(1, Some(MAX_PRECURSOR_SETS.into())));
    let check = body.optional("check", StepCheck::Rules, choice(&StepCheck::ALL, StepCheck::name));
    let engine = body.optional("engine", None, engine);
    body.finish();
    let query = BulkQuery::Expansions { limit: u32::try_from(limit?).ok()?, check: check? };
    Some(ParsedBulkQuery { smiles: smiles?, query, engine: engine? })
}

pub(crate) fn parse_building_blocks(body: &[u8], faults: &mut Faults) -> Option<ParsedBulkQuery> {
    let mut body = Fields::body(body, faults)?;
    let smiles = smiles(&mut body);
    let offers = offers(&mut body);
    let inchikey = body.optional("inchikey", false, boolean);
    body.finish();
    let (ships_to, max_offers) = offers?;
    let query = BulkQuery::BuildingBlocks { ships_to, max_offers, inchikey: inchikey? };
    Some(ParsedBulkQuery { smiles: smiles?, query, engine: None })
}

/// Parses the country that offers are shipped to, and the number of offers to list.
fn offers(body: &mut Fields<'_, '_>) -> Option<(Option<Country>, u32)> {
    let country = nullable(choice(&Country::ALL, Country::code));
    let ships_to = body.optional("ships_to", Some(Country::Us), country);
    let max_offers = body.optional("max_offers", 10, integer(0, Some(MAX_LISTED_OFFERS.into())));
    Some((ships_to?, u32::try_from(max_offers?).ok()?))
}

pub(crate) fn parse_search(body: &[u8], faults: &mut Faults) -> Option<ParsedBulkQuery> {
    let mut body = Fields::body(body, faults)?;
    let smiles = body.optional("smiles", None, optional(constraints::molecule));
    let similar_to = body.optional("similar_to", None, optional(constraints::molecule));
    let substructure = body.optional("substructure", None, optional(constraints::part));
    let number = body.optional("text", None, optional(entry_number));
    let min_similarity = body.optional("min_similarity", DEFAULT_MIN_SIMILARITY, between(0.0, 1.0));
    let limit = body.optional("limit", 25, integer(1, Some(MAX_CATALOGUE_MATCHES.into())));
    let offers = offers(&mut body);
    let (similar_to, min_similarity) = (similar_to?, min_similarity?);
    let criteria = [
        smiles?.map(|smiles| CatalogueCriterion::Structure { smiles }),
        similar_to.map(|smiles| CatalogueCriterion::Similar { smiles, least: min_similarity }),
        substructure?.map(|pattern| CatalogueCriterion::Substructure { pattern }),
        number?.map(|text| CatalogueCriterion::Number { text }),
    ];
    let mut criteria = criteria.into_iter().flatten();
    let (sought, further) = (criteria.next(), criteria.next());
    if sought.is_none() || further.is_some() {
        body.fault_of_all(FieldFault::new(
            "one_of",
            "Exactly one of 'smiles', 'similar_to', 'substructure' and 'text' should be given",
        ));
    }
    body.finish();
    let (ships_to, max_offers) = offers?;
    let limit = u32::try_from(limit?).ok()?;
    let query = BulkQuery::Catalogue { sought: sought?, limit, ships_to, max_offers };
    Some(ParsedBulkQuery { smiles: Vec::new(), query, engine: None })
}

/// Makes the parser `read` optional, for a field that may be missing.
fn optional<T>(
    read: impl FnOnce(&InputValue<'_>) -> Result<T, FieldFault>,
) -> impl FnOnce(&InputValue<'_>) -> Result<Option<T>, FieldFault> {
    move |input| read(input).map(Some)
}

/// Parses the beginning of a vendor's catalogue number.
fn entry_number(input: &InputValue<'_>) -> Result<String, FieldFault> {
    text(LEAST_NUMBER, Some(MAX_CATALOGUE_TEXT))(input)
}

pub(crate) fn parse_synthesizability(body: &[u8], faults: &mut Faults) -> Option<ParsedBulkQuery> {
    let mut body = Fields::body(body, faults)?;
    let smiles = smiles(&mut body);
    let (least, most) = SYNTHESIZABILITY_SECONDS;
    let max_seconds = body.optional("max_seconds", 0.05, between(least, most));
    let engine = body.optional("engine", None, engine);
    body.finish();
    let query = BulkQuery::Synthesizability { max_seconds: max_seconds? };
    Some(ParsedBulkQuery { smiles: smiles?, query, engine: engine? })
}

pub(crate) fn parse_analogues(body: &[u8], faults: &mut Faults) -> Option<ParsedBulkQuery> {
    let stop = faults.stop().clone();
    let mut body = Fields::body(body, faults)?;
    let route = body.required("route", |input| route_to(None, input, &stop));
    let building_block = body.required("building_block", constraints::molecule);
    let smiles = smiles(&mut body);
    let engine = body.optional("engine", None, engine);
    if let (Some(route), Some(block)) = (&route, &building_block)
        && !is_bought(route, block)
    {
        let msg = "Input should be a molecule of the route that no step makes";
        body.fault("building_block", FieldFault::new("not_in_route", msg));
    }
    body.finish();
    let query = BulkQuery::Analogues { route: Box::new(route?), building_block: building_block? };
    Some(ParsedBulkQuery { smiles: smiles?, query, engine: engine? })
}

/// Returns true if a step of the route takes the molecule and no step makes it.
fn is_bought(route: &RouteGraph, smiles: &str) -> bool {
    let canonical = |smiles: &str| {
        Some(MappedMolecule::of_one(smiles, Limits::TARGET).ok()?.molecule().canonical_smiles())
    };
    let block = canonical(smiles);
    let is_made = |node: &&Node| route.edges.iter().any(|edge| edge.source == node.id);
    route.nodes.iter().skip(1).filter(|node| !is_made(node)).any(|node| canonical(&node.data.smiles) == block)
}

fn smiles(body: &mut Fields<'_, '_>) -> Option<Vec<String>> {
    body.required_list("smiles", MAX_BULK_QUERY, text(0, Some(MAX_MOLECULE)))
}

/// Returns the answer to `parsed`, validated by `fits`.
async fn answer<T: DeserializeOwned + Send + 'static>(
    search: MeteredSearch,
    engines: &Engines,
    parsed: ParsedBulkQuery,
    fits: fn(&ExpectedAnswer, &T) -> bool,
) -> Result<Response, ApiError> {
    let expected = ExpectedAnswer { query: parsed.query.clone(), molecules: parsed.smiles.len() };
    let max_work_seconds = parsed.max_work_seconds();
    let engine = parsed.engine.as_deref().map(|engine| engines.called(engine));
    let outcome =
        match search.submit_bulk_query(max_work_seconds, parsed.smiles, parsed.query, engine).await? {
            Ok(outcome) => outcome,
            Err(refusal) => return Ok(refusal),
        };
    // Megabytes take long enough to decompress to be kept off the async threads.
    let decompression = tokio::task::spawn_blocking(move || {
        let body = outcome_json(&outcome.zipped).map_err(|error| ApiError::internal(&error))?;
        let answer: T = serde_json::from_slice(&body).map_err(|error| ApiError::internal(&error))?;
        if fits(&expected, &answer) {
            return Ok(body);
        }
        tracing::error!("the outcome of a bulk query does not fit the response schema");
        let msg = "the items do not match the request";
        Err(ApiError::BadAnswer(vec![answer_fault("items", "response_invalid", msg)]))
    });
    let body = decompression.await.map_err(|error| ApiError::internal(&error))??;
    Ok(([(header::CONTENT_TYPE, "application/json")], body).into_response())
}

/// Facts of the query against which its answer is validated.
struct ExpectedAnswer {
    query: BulkQuery,
    molecules: usize,
}

/// Returns true if there is an item for each molecule, and each `fits`.
fn is_expected<T>(
    expected: &ExpectedAnswer,
    result: &BulkQueryResult<T>,
    fits: fn(&BulkQuery, &T) -> bool,
) -> bool {
    result.items.len() == expected.molecules && result.items.iter().all(|item| fits(&expected.query, item))
}

fn expansion_fits(query: &BulkQuery, item: &ExpandedMolecule) -> bool {
    let &BulkQuery::Expansions { limit, .. } = query else { return false };
    let is_whole = |set: &contract::PrecursorSet| {
        !set.smiles.is_empty()
            && set.smiles.len() == set.in_stock.len()
            && (0.0..=1.0).contains(&set.probability)
            && (0.0..=1.0).contains(&set.plausibility)
    };
    item.precursors.len() <= limit as usize && item.precursors.iter().all(is_whole)
}

/// Returns true if there is either a route to a target or a reason for its absence.
fn analogue_fits(_: &BulkQuery, item: &Analogue) -> bool {
    let is_whole = item.plausibility.is_none_or(|share| (0.0..=1.0).contains(&share));
    match (&item.route, &item.error) {
        (Some(route), None) => is_whole && item.target.is_some() && check_graph(route).is_ok(),
        (None, Some(_)) => true,
        _ => false,
    }
}

fn availability_fits(query: &BulkQuery, item: &MoleculeAvailability) -> bool {
    let (&BulkQuery::BuildingBlocks { max_offers, .. } | &BulkQuery::Catalogue { max_offers, .. }) = query
    else {
        return false;
    };
    item.in_stock == item.building_block_idx.is_some() && item.offers.len() <= max_offers as usize
}

/// Returns true if at most the requested number of blocks was found, each of them is sold, and each has a similarity
/// if that was requested.
fn is_expected_match(expected: &ExpectedAnswer, found: &CatalogueSearchResult) -> bool {
    let BulkQuery::Catalogue { sought, limit, .. } = &expected.query else { return false };
    let is_similar = |similarity: Option<f64>| match sought {
        CatalogueCriterion::Similar { .. } => {
            similarity.is_some_and(|similarity| (0.0..=1.0).contains(&similarity))
        }
        _ => similarity.is_none(),
    };
    found.items.len() <= *limit as usize
        && (0.0..=1.0).contains(&found.searched)
        && found.items.iter().all(|item| {
            item.sold.in_stock
                && availability_fits(&expected.query, &item.sold)
                && is_similar(item.similarity)
        })
}
