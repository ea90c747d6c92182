//! Operations of the API, one file per resource.

pub mod batches;
pub mod bulk_queries;
pub(crate) mod checked_route;
pub mod engines;
pub(crate) mod export;
pub mod generate;
mod gzip_json;
pub mod health;
mod hidden_offers;
pub mod kept_routes;
pub mod likelihoods;
mod metered_search;
pub mod models;
pub mod operations;
mod ownership;
pub(crate) mod paging;
mod path_id;
pub mod plans;
pub mod sample_batches;
pub mod samples;
pub mod treesearch;

use axum::http::Uri;
use contract::{ErrorItem, JobFailure};
use http_errors::{ApiError, query_pairs};
use serde_json::Value;
use ulid::Ulid;

use crate::fields::{Faults, Fields};
use path_id::{PathId, PathIdAndFormat, PathIdAndView, named_path_id};

/// Longest id in a path or a cursor, and longest name of a vendor, a template or a class.
pub(crate) const MAX_ID: usize = 255;

/// Returns the parsed request; its query must be empty.
fn with_empty_query<T>(uri: &Uri, mut faults: Faults, read: Option<T>) -> Result<T, ApiError> {
    Fields::query(query_pairs(uri), &mut faults).finish();
    faults.settle(read)
}

/// Refuses a query that is not empty.
fn require_empty_query(uri: &Uri) -> Result<(), ApiError> {
    with_empty_query(uri, Faults::default(), Some(()))
}

/// Makes a new id with the prefix `kind`; ids sort by time.
fn new_id(kind: &str) -> String {
    format!("{kind}_{}", Ulid::generate().to_string().to_lowercase())
}

/// Describes a job's problem for people. A later release may know more problems than this one; then the stored word
/// is used.
fn problem_text(problem: Value) -> String {
    serde_json::from_value::<JobFailure>(problem.clone()).map_or_else(
        |_| problem.get("problem").and_then(Value::as_str).unwrap_or_default().to_owned(),
        |known| known.to_string(),
    )
}

/// Makes a fault of an answer that is validated before it is sent.
fn answer_fault(field: &str, kind: &str, msg: &str) -> ErrorItem {
    ErrorItem { loc: vec!["response".into(), field.into()], msg: msg.to_owned(), kind: kind.to_owned() }
}
