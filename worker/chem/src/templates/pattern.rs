//! Substructure patterns.

use std::ops::ControlFlow;

use chematic::smarts::{self, MatchConfig, QueryMolecule};

use super::matching::matcher::matches;
use super::matching::query::Query;
use super::prepared::PreparedMolecule;
use super::text;
use crate::error::TemplateError;
use crate::molecules::molecule::Molecule;

/// Longest SMARTS taken, in bytes.
const MAX_BYTES: usize = 4000;

/// Steps tried before it is given up to find a pattern: some tens of milliseconds. Loose components and recursion multiply them; what
/// is asked of molecules needs some hundreds.
const MAX_STEPS: u64 = 100_000;

/// A SMARTS pattern, matched as RDKit matches it.
pub struct Pattern {
    query: QueryMolecule,
    /// The same as masks, where they say all of it.
    masks: Option<Query>,
}

impl Pattern {
    /// Parses a SMARTS pattern.
    ///
    /// # Errors
    /// Fails when the string is no SMARTS, has no atom, or is too long.
    pub fn parse(smarts: &str) -> Result<Self, TemplateError> {
        if smarts.len() > MAX_BYTES {
            return Err(TemplateError::TooLong { bytes: smarts.len(), limit: MAX_BYTES });
        }
        let query = text::pattern(smarts)?;
        let masks = Query::new(&query).filter(|masks| masks.exact);
        Ok(Self { query, masks })
    }

    /// Whether the pattern occurs in the molecule, as far as that is found within a bound that only strange patterns reach.
    #[must_use]
    pub fn matches(&self, molecule: &Molecule) -> bool {
        let config = MatchConfig { max_visit_budget: Some(MAX_STEPS), ..MatchConfig::default() };
        smarts::has_match_perceived(&self.query, molecule.graph(), &config)
    }

    /// The sets of atoms that the pattern lies on, each ascending, in the order in which they are found, with the bound of
    /// [`Self::matches`].
    #[must_use]
    pub fn matched_atoms(&self, molecule: &Molecule) -> Vec<Vec<usize>> {
        let config = MatchConfig { max_visit_budget: Some(MAX_STEPS), ..MatchConfig::default() };
        smarts::find_match_atom_sets_perceived(&self.query, molecule.graph(), &config)
    }

    /// The atoms that the pattern's first atom is in some match, ascending; found in about a microsecond.
    ///
    /// `None` where masks do not say enough: of the pattern (recursion, ring sizes, stereo), or of the molecule
    /// (more than 256 atoms, `*`).
    #[must_use]
    pub fn first_atoms(&self, molecule: &PreparedMolecule) -> Option<Vec<u32>> {
        let (masks, target) = (self.masks.as_ref()?, molecule.target()?);
        let mut atoms = Vec::new();
        matches(masks, target, &mut |images| {
            atoms.push(u32::from(images[0]));
            ControlFlow::Continue(())
        });
        atoms.sort_unstable();
        atoms.dedup();
        Some(atoms)
    }
}

impl std::fmt::Debug for Pattern {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Pattern({} atoms)", self.query.atoms.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_lies_on_each_set_of_atoms_once() {
        let ether = Pattern::parse("COC").unwrap();

        let found = ether.matched_atoms(&"COCOC".parse().unwrap());

        assert_eq!(found, [[0, 1, 2], [2, 3, 4]]);
    }

    #[test]
    fn a_pattern_that_rdkit_refuses_or_finds_nowhere_is_none() {
        for (smarts, reason) in [
            ("", "it has no atom"),
            ("C11", "a ring bond from atom 0 to atom 0 is one too many"),
            ("C1=C1", "a ring bond from atom 0 to atom 1 is one too many"),
        ] {
            let fault = Pattern::parse(smarts).err().map(|fault| fault.to_string());

            assert_eq!(fault, Some(format!("`{smarts}` is no SMARTS pattern: {reason}")));
        }
    }
}
