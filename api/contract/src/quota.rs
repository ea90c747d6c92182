//! Quotas and rate limits of accounts.

use std::{fmt, str::FromStr};

/// A quota, by its name in headers, the database and `retort account ration`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QuotaKind {
    /// Samples created.
    SamplesCreate,
    /// Molecules in the samples created.
    Molecules,
    /// Cheap operations: lists, retrievals, deletions.
    Reads,
    /// Tree searches.
    TreeSearch,
    /// Seconds that those searches may take.
    SearchSeconds,
    /// Megabytes of plans and kept routes: the total stored, not the amount a minute.
    StoredMegabytes,
}

impl QuotaKind {
    /// Every quota.
    pub const ALL: [Self; 6] = [
        Self::SamplesCreate,
        Self::Molecules,
        Self::Reads,
        Self::TreeSearch,
        Self::SearchSeconds,
        Self::StoredMegabytes,
    ];

    /// Returns the name of the quota.
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

impl fmt::Display for QuotaKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Error for a text that names no quota.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no ration `{text}`; there are samples-create, molecules, reads, treesearch, search-seconds and \
    stored-megabytes"
)]
pub struct RationError {
    /// The text that was parsed.
    pub text: String,
}

impl FromStr for QuotaKind {
    type Err = RationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|quota_kind| quota_kind.as_str() == text)
            .ok_or_else(|| RationError { text: text.to_owned() })
    }
}
