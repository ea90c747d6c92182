//! Ids in paths.

use axum::{
    extract::{FromRequestParts, MatchedPath, Path, rejection::PathRejection},
    http::request::Parts,
};
use contract::ExportFormat;
use http_errors::{ApiError, query_pairs};

use super::{MAX_ID, export, treesearch::View, with_empty_query};
use crate::fields::{Faults, Fields, InputValue, word};

/// The one id in the path of a request; the query must be empty.
pub struct PathId(pub String);

impl<S: Send + Sync> FromRequestParts<S> for PathId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::from_request_parts(parts, state).await;
        let mut faults = Faults::default();
        let id = named_path_id(name(parts), path, &mut faults);
        with_empty_query(&parts.uri, faults, id).map(Self)
    }
}

/// The one id in the path of a request whose query has at most the format of the answer.
pub struct PathIdAndFormat(pub String, pub Option<ExportFormat>);

impl<S: Send + Sync> FromRequestParts<S> for PathIdAndFormat {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        id_and_query(parts, state, export::format).await.map(|(id, format)| Self(id, format))
    }
}

/// The one id in the path of a request whose query has at most the view of a search result.
pub struct PathIdAndView(pub String, pub View);

impl<S: Send + Sync> FromRequestParts<S> for PathIdAndView {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        id_and_query(parts, state, View::query).await.map(|(id, view)| Self(id, view))
    }
}

/// Returns the id in the operation's path, and what `parse` reads in the query.
async fn id_and_query<T>(
    parts: &mut Parts,
    state: &(impl Send + Sync),
    parse: impl FnOnce(Fields<'_, '_>) -> Option<T>,
) -> Result<(String, T), ApiError> {
    let path = Path::from_request_parts(parts, state).await;
    let mut faults = Faults::default();
    let id = named_path_id(name(parts), path, &mut faults);
    let parsed = parse(Fields::query(query_pairs(&parts.uri), &mut faults));
    faults.settle(id.zip(parsed))
}

/// Returns the name of the id in the operation's path.
fn name(parts: &Parts) -> &str {
    let path = parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str);
    path.split_once('{').and_then(|(_, rest)| rest.split_once('}')).map_or("id", |(name, _)| name)
}

/// Returns the id that the path calls `name`.
pub fn named_path_id(
    name: &str,
    path: Result<Path<String>, PathRejection>,
    faults: &mut Faults,
) -> Option<String> {
    // Invalid UTF-8 is no word either.
    let text = path.map_or_else(|_| "\u{fffd}".to_owned(), |Path(text)| text);
    word(1, Some(MAX_ID))(&InputValue::Query(text))
        .map_err(|fault| faults.push(fault.at(["path".into(), name.into()])))
        .ok()
}
