//! Substructure patterns.

use chematic::smarts::{self, MatchConfig, QueryMolecule};

use crate::error::TemplateError;
use crate::molecule::Molecule;

/// Longest SMARTS taken, in bytes.
const MAX_BYTES: usize = 4000;

/// A SMARTS pattern, matched as RDKit matches it.
pub struct Pattern(QueryMolecule);

impl Pattern {
    /// Parses a SMARTS pattern.
    ///
    /// # Errors
    /// Fails when the string is no SMARTS, or too long.
    pub fn parse(smarts: &str) -> Result<Self, TemplateError> {
        if smarts.len() > MAX_BYTES {
            return Err(TemplateError::TooLong { bytes: smarts.len(), limit: MAX_BYTES });
        }
        smarts::parse_smarts(smarts)
            .map(Self)
            .map_err(|error| TemplateError::Smarts { smarts: smarts.to_owned(), reason: error.to_string() })
    }

    /// Whether the pattern occurs in the molecule.
    #[must_use]
    pub fn matches(&self, molecule: &Molecule) -> bool {
        smarts::has_match_perceived(&self.0, molecule.graph(), &MatchConfig::default())
    }
}
