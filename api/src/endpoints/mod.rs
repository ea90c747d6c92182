//! The operations, one file a resource.

pub mod batches;
pub mod engines;
pub mod generate;
pub mod health;
pub mod looks;
pub mod models;
pub mod operations;
mod paging;
pub mod plans;
pub mod sample_batches;
pub mod samples;
pub mod treesearch;

use axum::{
    extract::{Path, rejection::PathRejection},
    http::Uri,
};
use contract::{ErrorItem, Problem};
use edge::{ApiError, query_pairs};
use serde_json::Value;
use ulid::Ulid;

use crate::fields::{Faults, Fields, Input, word};

/// The longest id in a path or a cursor.
const MAX_ID: usize = 255;

/// The id that the path names as `name`.
fn path_word(
    name: &'static str,
    path: Result<Path<String>, PathRejection>,
    faults: &mut Faults,
) -> Option<String> {
    // What is no UTF-8 is no word either.
    let text = path.map_or_else(|_| "\u{fffd}".to_owned(), |Path(text)| text);
    word(1, Some(MAX_ID))(&Input::Query(text))
        .map_err(|fault| faults.push(fault.at(["path".into(), name.into()])))
        .ok()
}

/// The id that the path names as `name`, where the query asks for nothing.
fn path_id(
    name: &'static str,
    path: Result<Path<String>, PathRejection>,
    uri: &Uri,
) -> Result<String, ApiError> {
    let mut faults = Faults::default();
    let id = path_word(name, path, &mut faults);
    nothing_else(uri, faults, id)
}

/// What was read of the request, which asks for nothing by its query.
fn nothing_else<T>(uri: &Uri, mut faults: Faults, read: Option<T>) -> Result<T, ApiError> {
    Fields::query(query_pairs(uri), &mut faults).finish();
    faults.settle(read)
}

/// Refuses a query that asks for anything.
fn nothing_asked(uri: &Uri) -> Result<(), ApiError> {
    nothing_else(uri, Faults::default(), Some(()))
}

/// A new id of what `kind` stands for; ids sort by their time.
fn new_id(kind: &str) -> String {
    format!("{kind}_{}", Ulid::generate().to_string().to_lowercase())
}

/// What a job's problem says to people. Where a later release knows more problems than this one, its word will do.
fn in_words(problem: Value) -> String {
    serde_json::from_value::<Problem>(problem.clone()).map_or_else(
        |_| problem["problem"].as_str().unwrap_or_default().to_owned(),
        |known| known.to_string(),
    )
}

/// A fault of an answer, found before it is sent.
fn misfit(field: &str, kind: &str, msg: &str) -> ErrorItem {
    ErrorItem { loc: vec!["response".into(), field.into()], msg: msg.to_owned(), kind: kind.to_owned() }
}
