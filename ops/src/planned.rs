//! A target, what was asked of it, and what came of that.

use contract::{TreeSearchRequest, TreeSearchResult};
use serde::{Serialize, Serializer, ser::SerializeStruct as _};

/// A target that was planned, or could not be.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// What its file calls it.
    pub name: Option<String>,
    /// What the search was asked for.
    pub asked: TreeSearchRequest,
    /// What was found, with or without a route, or why nothing was looked for.
    pub outcome: Result<TreeSearchResult, String>,
}

impl Planned {
    /// The target as it was written.
    pub fn smiles(&self) -> &str {
        &self.asked.search_smiles
    }

    /// What was found.
    pub fn answer(&self) -> Option<&TreeSearchResult> {
        self.outcome.as_ref().ok()
    }
}

impl Serialize for Planned {
    /// `name`, `smiles`, `asked`, and of `answer` and `error` one that is not null.
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
