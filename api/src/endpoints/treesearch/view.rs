//! View of a search result in an answer (`?view=`).

use contract::{COMPACT_RESULT, CompactResult, StoredSearchResult};
use http_errors::ApiError;

use crate::fields::{Fields, choice};

/// Amount that an answer repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// The contract's shape: each route has all of its molecules and steps.
    Full,
    /// Molecules and steps once ([`CompactResult`]).
    Compact,
}

impl View {
    /// Description of the parameter `view`.
    pub const DESCRIPTION: &str = "With `compact`, molecules and steps stand once, and routes name them by their \
        indices (`CompactResult`): about a sixth of the bytes. Means nothing with `format`. An extension.";

    /// Parses the parameter `view`.
    pub fn read(query: &mut Fields<'_, '_>) -> Option<Self> {
        let name = |view| if view == Self::Full { "full" } else { "compact" };
        query.optional("view", Self::Full, choice(&[Self::Full, Self::Compact], name))
    }

    /// Parses a query that has at most a view.
    pub fn query(mut query: Fields<'_, '_>) -> Option<Self> {
        let view = Self::read(&mut query);
        query.finish();
        view
    }

    /// Returns the query of an address at which the answer has this view.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Full => "",
            Self::Compact => "?view=compact",
        }
    }

    /// Returns the media type of an answer.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Full => "application/json",
            Self::Compact => COMPACT_RESULT,
        }
    }

    /// Serialises a result.
    pub async fn written(self, result: CompactResult) -> Result<String, ApiError> {
        // A thousand routes take long enough to be written off the async threads.
        let writing = tokio::task::spawn_blocking(move || {
            let shaped = match self {
                Self::Full => StoredSearchResult::Full(result.expanded()),
                Self::Compact => StoredSearchResult::Compact(result),
            };
            shaped.to_json()
        });
        let written = writing.await.map_err(|error| ApiError::internal(&error))?;
        written.map_err(|error| ApiError::internal(&error))
    }
}
