//! The operations, one file a resource.

pub mod health;
pub mod samples;
pub mod treesearch;

use contract::ErrorItem;

/// A fault of an answer, found before it is sent.
fn misfit(field: &str, kind: &str, msg: &str) -> ErrorItem {
    ErrorItem { loc: vec!["response".into(), field.into()], msg: msg.to_owned(), kind: kind.to_owned() }
}
