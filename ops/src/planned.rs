//! A target, its request, and the result.

use contract::{RouteTree, TreeSearchRequest, TreeSearchResult};
use serde::{Serialize, Serializer, ser::SerializeStruct as _};

/// A target that was planned, or could not be planned.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedTarget {
    /// Name in the input file.
    pub name: Option<String>,
    /// Request of the search.
    pub asked: TreeSearchRequest,
    /// Result with or without a route, or the reason why there was no search.
    pub outcome: Result<TreeSearchResult, String>,
}

impl PlannedTarget {
    /// Returns the target as the user wrote it.
    pub fn smiles(&self) -> &str {
        &self.asked.search_smiles
    }

    /// Returns the result.
    pub fn answer(&self) -> Option<&TreeSearchResult> {
        self.outcome.as_ref().ok()
    }

    /// Returns the routes as trees, best first.
    pub fn route_trees(&self) -> Vec<RouteTree<'_>> {
        self.answer().map(TreeSearchResult::route_trees).unwrap_or_default()
    }
}

impl Serialize for PlannedTarget {
    /// Writes `name`, `smiles`, `asked`, and either `answer` or `error`; the other one is null.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut planned = serializer.serialize_struct("Planned", 5)?;
        planned.serialize_field("name", &self.name)?;
        planned.serialize_field("smiles", self.smiles())?;
        planned.serialize_field("asked", &self.asked)?;
        planned.serialize_field("answer", &self.answer())?;
        planned.serialize_field("error", &self.outcome.as_ref().err())?;
        planned.end()
    }
}
