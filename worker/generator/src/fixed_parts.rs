//! Parts that every molecule of a draw contains.

use chem::Part;

/// Parts that every molecule of a draw contains, with substituents at their attachment points alone.
#[derive(Debug, Clone)]
pub enum FixedParts {
    /// A scaffold, which gets a substituent at each point.
    Scaffold(Part),
    /// Fragments, which a linker joins.
    Fragments(Fragments),
}

/// Two or more fragments, each with one attachment point.
#[derive(Debug, Clone)]
pub struct Fragments(Vec<Part>);

/// Reason why parts are not fragments to be linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the fields are named in each variant's message")]
pub enum FragmentsError {
    /// There is nothing to link, or too much.
    #[error("{found} fragments, wanted 2 to {limit}")]
    Count { found: usize, limit: usize },
    /// The fragment with this index, counted from 0, has several points.
    #[error("the fragment {index} has {found} attachment points, wanted one")]
    Points { index: usize, found: usize },
}

impl Fragments {
    /// Maximum number of fragments.
    pub const LIMIT: usize = 6;

    /// Checks that the parts can be linked.
    ///
    /// # Errors
    /// Fails unless there are 2 to [`Self::LIMIT`] fragments with one point each.
    pub fn new(parts: Vec<Part>) -> Result<Self, FragmentsError> {
        if !(2..=Self::LIMIT).contains(&parts.len()) {
            return Err(FragmentsError::Count { found: parts.len(), limit: Self::LIMIT });
        }
        match parts.iter().position(|part| part.points() != 1) {
            Some(index) => Err(FragmentsError::Points { index, found: parts[index].points() }),
            None => Ok(Self(parts)),
        }
    }

    /// Returns the fragments in their order.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.0
    }
}

impl FixedParts {
    /// Returns the parts; the first is the one that strings begin with.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        match self {
            Self::Scaffold(part) => std::slice::from_ref(part),
            Self::Fragments(fragments) => fragments.parts(),
        }
    }
}
