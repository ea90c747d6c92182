//! Substructure patterns.

use std::ops::ControlFlow;

use chem_fast::Limits;
use chematic::smarts::{self, MatchConfig, QueryMolecule};

use super::letter_screen::LetterCounts;
use super::matching::matcher::matches;
use super::matching::query::MaskPattern;
use super::prepared::PreparedMolecule;
use super::text;
use crate::error::TemplateError;
use crate::molecules::molecule::Molecule;

/// Maximum length of a SMARTS, in bytes.
const MAX_BYTES: usize = 4000;

/// Maximum number of search steps for a pattern: some tens of milliseconds. Disconnected components and recursion
/// multiply the steps; ordinary patterns need some hundreds.
const MAX_STEPS: u64 = 100_000;

/// A SMARTS pattern with RDKit's matching rules.
pub struct Pattern {
    query: QueryMolecule,
    /// The pattern as bit masks, if they express all of it.
    masks: Option<MaskPattern>,
    letters: LetterCounts,
}

impl Pattern {
    /// Parses a SMARTS pattern.
    ///
    /// # Errors
    /// Fails if the string is not SMARTS, has no atom, or is too long.
    pub fn parse(smarts: &str) -> Result<Self, TemplateError> {
        if smarts.len() > MAX_BYTES {
            return Err(TemplateError::TooLong { bytes: smarts.len(), limit: MAX_BYTES });
        }
        let query = text::pattern(smarts)?;
        let masks = MaskPattern::new(&query).filter(|masks| masks.exact);
        let letters = LetterCounts::of(&query);
        Ok(Self { query, masks, letters })
    }

    /// Parses a substructure as users write it: a SMARTS pattern, or a SMILES whose aromatic rings are written with
    /// double bonds. Such a SMILES would match nothing as a pattern, so it stands for its aromatic form, with any
    /// substituent on its nitrogen atoms.
    ///
    /// # Errors
    /// Fails as [`Self::parse`] does.
    pub fn parse_substructure(text: &str) -> Result<Self, TemplateError> {
        let is_aromatic = |text: &str| text.bytes().any(|byte| b"bcnops".contains(&byte));
        let as_molecule = if is_aromatic(text) { None } else { Molecule::parse(text, Limits::DEFAULT).ok() };
        match as_molecule.map(|molecule| molecule.canonical_smiles()) {
            Some(canonical) if is_aromatic(&canonical) => Self::parse(&canonical.replace("[nH]", "n")),
            _ => Self::parse(text),
        }
    }

    /// Returns true if the pattern may occur in the molecule of a canonical SMILES, judging by its letters. Strings
    /// for which this is false need not be parsed.
    #[must_use]
    pub fn may_occur_in(&self, canonical: &str) -> bool {
        self.letters.are_in(canonical)
    }

    /// Returns true if the pattern occurs in the molecule. The search is bounded; only unusual patterns reach the
    /// bound.
    ///
    /// ```
    /// use chem::{Molecule, Pattern};
    ///
    /// let primary_amide = Pattern::parse("[NX3;H2][CX3]=O")?;
    /// assert!(primary_amide.matches(&"NC(=O)c1ccccc1".parse::<Molecule>()?));
    /// assert!(!primary_amide.matches(&"CC(=O)Nc1ccc(O)cc1".parse::<Molecule>()?));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn matches(&self, molecule: &Molecule) -> bool {
        let config = MatchConfig { max_visit_budget: Some(MAX_STEPS), ..MatchConfig::default() };
        smarts::has_match_perceived(&self.query, molecule.graph(), &config)
    }

    /// Returns the sets of atoms that the pattern matches, each ascending, in the order in which they are found, with
    /// the bound of [`Self::matches`].
    #[must_use]
    pub fn matched_atoms(&self, molecule: &Molecule) -> Vec<Vec<usize>> {
        let config = MatchConfig { max_visit_budget: Some(MAX_STEPS), ..MatchConfig::default() };
        smarts::find_match_atom_sets_perceived(&self.query, molecule.graph(), &config)
    }

    /// Returns the atoms that the pattern's first atom matches, ascending, in about a microsecond.
    ///
    /// `None` if masks cannot express the pattern (recursion, ring sizes, stereo) or the molecule (more than 256
    /// atoms, `*`).
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
    fn a_part_with_double_bonds_in_aromatic_rings_is_found_in_aromatic_rings() {
        let indole: Molecule = "Cn1ccc2ccccc21".parse().unwrap();
        for (part, occurs) in [
            ("C1=CC=CC=C1", true),
            ("C1=CC2=CC=CC=C2N1", true),
            ("c1ccccc1", true),
            ("C1CCCCC1", false),
            ("[nH]", false),
        ] {
            assert_eq!(Pattern::parse_substructure(part).unwrap().matches(&indole), occurs, "{part}");
        }
        assert!(Pattern::parse_substructure("C1=CC").is_err());
    }

    #[test]
    fn a_pattern_that_rdkit_refuses_or_finds_nowhere_is_none() {
        for (smarts, reason) in [
            ("", "it has no atom"),
            ("C11", "a ring bond from atom 0 to atom 0 is one too many"),
            ("C1=C1", "a ring bond from atom 0 to atom 1 is one too many"),
        ] {
            let fault = Pattern::parse(smarts).err().map(|fault| fault.to_string());

            assert_eq!(fault, Some(format!("`{smarts}` is not a SMARTS pattern: {reason}")));
        }
    }
}
