//! Search results in answers that come in two shapes.

use serde::Serialize;

use crate::{EngineAnswer, TreeSearchResult};

/// Media type of bodies in which a search result has the tree search's own shape.
pub const NATIVE_RESULT: &str = "application/vnd.retort.treesearch+json";

/// A search result in one of its two shapes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ShapedResult {
    /// For clients of this API family.
    Engine(EngineAnswer),
    /// The tree search's own, as [`NATIVE_RESULT`] names it.
    Native(TreeSearchResult),
}
