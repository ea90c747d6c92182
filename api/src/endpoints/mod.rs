//! The operations, one file a resource.

pub mod batches;
pub mod engines;
pub mod health;
pub mod models;
pub mod operations;
mod paging;
pub mod plans;
pub mod samples;
pub mod treesearch;

use axum::extract::{Path, rejection::PathRejection};
use contract::ErrorItem;

use crate::fields::{Faults, Input, word};

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

/// A fault of an answer, found before it is sent.
fn misfit(field: &str, kind: &str, msg: &str) -> ErrorItem {
    ErrorItem { loc: vec!["response".into(), field.into()], msg: msg.to_owned(), kind: kind.to_owned() }
}
