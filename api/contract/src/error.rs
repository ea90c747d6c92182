//! Error bodies.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Body of every error that has one. It lists all faults of the request or of the answer, not only the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// The faults, in the order of the request: path, query, header, body.
    pub detail: Vec<ErrorItem>,
}

/// One fault, in the shape and wording of Pydantic v2.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorItem {
    /// Location of the fault: `body`, `query`, `path`, `header` or `response`, then names and indices inward.
    pub loc: Vec<Location>,
    /// Human-readable message.
    pub msg: String,
    /// Machine-readable error type: `missing`, `greater_than_equal`, `smiles_invalid` …
    #[serde(rename = "type")]
    pub kind: String,
}

/// One part of a fault's location: a name, or an index (for malformed JSON, a byte offset).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Location {
    /// Index in an array, or offset in a text.
    Index(u64),
    /// A part of the request or the name of a field.
    Name(String),
}

impl From<&str> for Location {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<usize> for Location {
    fn from(index: usize) -> Self {
        Self::Index(index as u64)
    }
}
