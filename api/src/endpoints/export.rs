//! Search results in the formats of other programs (`?format=`).
//!
//! The formats are written by `contract::export`. InChIKeys come from a searcher, as a bulk query's do: the library
//! that computes them is native code, which this process does not link.

use std::collections::{BTreeMap, BTreeSet};

use axum::{
    http::header,
    response::{IntoResponse, Response},
};
use contract::{
    BulkQuery, BulkQueryResult, ErrorItem, ExportFormat, MAX_BULK_QUERY, MoleculeAvailability, NOT_REACHED,
    TreeSearchResult, export,
};
use http_errors::ApiError;

use super::{gzip_json::outcome_json, metered_search::MeteredSearch};
use crate::fields::{FieldFault, Fields, InputValue, choice};

/// Description of the parameter `format`.
pub const DESCRIPTION: &str = "Answers with the routes in the format of another program, best first: `aizynth` as AiZynthFinder's trees, \
    `retrocast` as RetroCast's predictions. An extension.";

/// Description of the 409 answer.
pub const NOTHING_TO_EXPORT: &str = "There is no result to export, or a molecule of it has no InChIKey.";

/// Search seconds charged for each InChIKey until the actual time is known.
const INCHIKEY_SECONDS: f64 = 0.002;

/// Parses a query that has at most a format.
pub fn format(mut query: Fields<'_, '_>) -> Option<Option<ExportFormat>> {
    let format = query.optional("format", None, format_name);
    query.finish();
    format
}

/// Parses the name of a format.
pub fn format_name(input: &InputValue<'_>) -> Result<Option<ExportFormat>, FieldFault> {
    choice(&ExportFormat::ALL, ExportFormat::name)(input).map(Some)
}

/// Returns the fault of a request for a stream whose query names another format.
pub fn no_format_of_a_stream() -> ErrorItem {
    ErrorItem {
        loc: vec!["query".into(), "format".into()],
        msg: "An event stream has no other format".to_owned(),
        kind: "value_error".to_owned(),
    }
}

/// Answers with the routes of `result` in `format`.
pub async fn exported(
    search: &MeteredSearch,
    format: ExportFormat,
    result: TreeSearchResult,
) -> Result<Response, ApiError> {
    let keys = match format {
        ExportFormat::Aizynth => Ok(BTreeMap::new()),
        ExportFormat::Retrocast => inchi_keys(search, &result).await?,
    };
    let keys = match keys {
        Ok(keys) => keys,
        Err(refusal) => return Ok(refusal),
    };
    // A thousand routes take long enough to be written off the async threads.
    let writing = tokio::task::spawn_blocking(move || {
        export(format, &result, |smiles| keys.get(smiles).cloned()).map(|routes| routes.to_string())
    });
    let written = writing.await.map_err(|error| ApiError::internal(&error))?;
    let body = written.map_err(|missing| ApiError::Conflict { message: missing.to_string() })?;
    Ok(([(header::CONTENT_TYPE, format.media_type())], body).into_response())
}

/// Returns the InChIKeys of all molecules in routes, by SMILES, as far as they have one; the inner error is the answer
/// to an account whose search seconds are spent.
async fn inchi_keys(
    search: &MeteredSearch,
    result: &TreeSearchResult,
) -> Result<Result<BTreeMap<String, String>, Response>, ApiError> {
    let routes = result.route_hierarchy.values().flat_map(BTreeMap::values).flatten().flatten();
    let smiles: BTreeSet<&String> =
        routes.flat_map(|route| &route.nodes).map(|node| &node.data.smiles).collect();
    let smiles: Vec<String> = smiles.into_iter().cloned().collect();
    let mut keys = BTreeMap::new();
    for some in smiles.chunks(MAX_BULK_QUERY) {
        #[expect(clippy::cast_precision_loss, reason = "a thousand molecules at most")]
        let most_seconds = INCHIKEY_SECONDS * some.len() as f64;
        let look = BulkQuery::BuildingBlocks { ships_to: None, max_offers: 0, inchikey: true };
        let outcome = match search.submit_bulk_query(most_seconds, some.to_vec(), look, None).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(refusal)) => return Ok(Err(refusal)),
            Err(ApiError::DeadlinePassed { .. }) => return Err(ApiError::late()),
            Err(error) => return Err(error),
        };
        let told: BulkQueryResult<MoleculeAvailability> = outcome_json(&outcome.zipped)
            .and_then(|body| Ok(serde_json::from_slice(&body)?))
            .map_err(|error| ApiError::internal(&error))?;
        if told.items.iter().any(|item| item.error.as_deref() == Some(NOT_REACHED)) {
            return Err(ApiError::late());
        }
        let known = some.iter().zip(told.items);
        keys.extend(known.filter_map(|(smiles, item)| Some((smiles.clone(), item.inchikey?))));
    }
    Ok(Ok(keys))
}
