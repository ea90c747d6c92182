//! What accounts have only so much of.

use std::{fmt, str::FromStr};

/// A ration, by the name that headers, the database and `retort account ration` give it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ration {
    /// Samples created.
    SamplesCreate,
    /// Molecules in the samples created.
    Molecules,
    /// Everything that costs little: lists, retrievals, deletions.
    Reads,
    /// Tree searches.
    TreeSearch,
    /// Seconds that those searches may take.
    SearchSeconds,
    /// Megabytes of plans and kept routes: of these not a minute's, but all that are stored.
    StoredMegabytes,
}

impl Ration {
    /// Every ration.
    pub const ALL: [Self; 6] = [
        Self::SamplesCreate,
        Self::Molecules,
        Self::Reads,
        Self::TreeSearch,
        Self::SearchSeconds,
        Self::StoredMegabytes,
    ];

    /// Its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SamplesCreate => "samples-create",
            Self::Molecules => "molecules",
            Self::Reads => "reads",
            Self::TreeSearch => "treesearch",
            Self::SearchSeconds => "search-seconds",
            Self::StoredMegabytes => "stored-megabytes",
        }
    }
}

impl fmt::Display for Ration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The text names no ration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no ration `{text}`; there are samples-create, molecules, reads, treesearch, search-seconds and \
    stored-megabytes"
)]
pub struct RationError {
    /// What was read.
    pub text: String,
}

impl FromStr for Ration {
    type Err = RationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|ration| ration.as_str() == text)
            .ok_or_else(|| RationError { text: text.to_owned() })
    }
}
