//! Parts of molecules as callers write them: SMILES with attachment points.

use std::sync::Arc;

use chem_fast::Limits;

use super::{open::OpenMolecule, part_pattern, written::WrittenMolecule};
use crate::{error::SmilesError, molecules::molecule::Molecule, smiles::syntax, templates::pattern::Pattern};

const UNUSUAL: PartError = PartError::Unsupported { reason: "its kinds of bonds or stereo" };

/// A part of molecules, such as a scaffold or a fragment: a SMILES in which `*` or `[*:1]` marks the atoms to which
/// substituents are bonded, each by a single bond.
///
/// ```
/// use chem::{Limits, Part};
///
/// let indazole = Part::parse("[*:1]c1ccc2[nH]nc([*:2])c2c1", Limits::TARGET)?;
/// assert_eq!(indazole.points(), 2);
/// assert!(indazole.is_in(&"Cc1ccc2[nH]nc(N)c2c1".parse()?));
/// assert!(!indazole.is_in(&"Cc1ccc2[nH]ncc2c1".parse()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Part {
    canonical: String,
    open: OpenMolecule,
    pattern: Arc<Pattern>,
    has_stereo: bool,
}

/// Reason why a string is not a part. Positions are byte offsets into it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are named in each variant's message")]
pub enum PartError {
    /// The string is not a molecule.
    #[error(transparent)]
    Smiles(#[from] SmilesError),
    /// The string marks no atom for a substituent.
    #[error("no attachment point: mark the atoms that get substituents with `[*:1]`")]
    NoPoint,
    /// A point that is not the end of one single bond.
    #[error("the attachment point at byte {at} must have one single bond, and no charge or hydrogens")]
    NotAPoint { at: usize },
    /// There are points alone.
    #[error("no atom other than attachment points")]
    NoAtom,
    /// The string has several components.
    #[error("more than one component, the second begins after byte {at}")]
    SecondComponent { at: usize },
    /// The part has something that its rewriting does not keep.
    #[error("not supported in a part: {reason}")]
    Unsupported { reason: &'static str },
}

impl PartError {
    /// Returns the byte offset of the fault, if it has one.
    #[must_use]
    pub fn position(&self) -> Option<usize> {
        match self {
            Self::Smiles(error) => error.position(),
            Self::NotAPoint { at } | Self::SecondComponent { at } => Some(*at),
            Self::NoPoint | Self::NoAtom | Self::Unsupported { .. } => None,
        }
    }
}

impl Part {
    /// Parses a SMILES with attachment points. Numbered points come first, by their numbers, then the others as
    /// they stand in the canonical SMILES.
    ///
    /// # Errors
    /// Fails if the string is not one molecule within the limits, or if its points are missing or unusable.
    pub fn parse(smiles: &str, limits: Limits) -> Result<Self, PartError> {
        let molecule = Molecule::parse(smiles, limits)?;
        let smiles = smiles.split_whitespace().next().unwrap_or_default();
        check_points(smiles, limits)?;
        let written = WrittenMolecule::read(molecule.as_canonical()).ok_or(UNUSUAL)?;
        let pattern = part_pattern::pattern(&molecule)
            .ok_or(PartError::Unsupported { reason: "it is too large for a pattern" })?;
        let canonical = molecule.canonical_smiles();
        let has_stereo = canonical.contains(['@', '/', '\\']);
        let part = Self { open: OpenMolecule::new(written), pattern: pattern.into(), has_stereo, canonical };
        part.check_rewriting(limits)?;
        Ok(part)
    }

    /// Returns the canonical SMILES, points included.
    #[must_use]
    pub fn as_canonical(&self) -> &str {
        &self.canonical
    }

    /// Returns the number of attachment points, at least 1.
    #[must_use]
    pub fn points(&self) -> usize {
        self.open.points()
    }

    /// Returns the molecule to be completed.
    #[must_use]
    pub fn open(&self) -> &OpenMolecule {
        &self.open
    }

    /// Returns true if the part states a configuration.
    #[must_use]
    pub fn has_stereo(&self) -> bool {
        self.has_stereo
    }

    /// Returns true if the molecule contains the part with a substituent at each point and none elsewhere. Other
    /// atoms have the same hydrogens and the same aromaticity. Configurations are not compared.
    #[must_use]
    pub fn is_in(&self, molecule: &Molecule) -> bool {
        self.pattern.matches(molecule)
    }

    /// Checks that the part is the same molecule in whichever way it is written.
    fn check_rewriting(&self, limits: Limits) -> Result<(), PartError> {
        // Other spellings are longer than the canonical one.
        let limits = Limits { max_bytes: usize::MAX, ..limits };
        let mut forms = self.open.endings(3).into_iter().map(|ending| {
            Molecule::parse(&format!("{ending}[H]"), limits).map(|molecule| molecule.canonical_smiles())
        });
        let first = forms.next().ok_or(PartError::NoPoint)?;
        let is_same = first.is_ok() && forms.all(|form| form == first);
        is_same.then_some(()).ok_or(PartError::Unsupported { reason: "its points cannot be hydrogens" })
    }
}

/// Checks the points and components of a string that is a molecule.
fn check_points(smiles: &str, limits: Limits) -> Result<(), PartError> {
    if let Some(at) = smiles.find('.') {
        return Err(PartError::SecondComponent { at });
    }
    let offsets = syntax::check(smiles, limits)?.atoms;
    let is_point = |at: usize| {
        let before_element = |letter: char| letter == '[' || letter.is_ascii_digit();
        smiles[at..].trim_start_matches(before_element).starts_with('*')
    };
    let points: Vec<usize> = (0..offsets.len()).filter(|atom| is_point(offsets[*atom])).collect();
    if points.is_empty() {
        return Err(PartError::NoPoint);
    }
    if points.len() == offsets.len() {
        return Err(PartError::NoAtom);
    }
    let written = WrittenMolecule::read(smiles).ok_or(UNUSUAL)?;
    let unusable = points.iter().find(|point| !written.is_usable_point(**point));
    unusable.map_or(Ok(()), |point| Err(PartError::NotAPoint { at: offsets[*point] }))
}

#[cfg(test)]
mod tests {
    use chem_fast::Limits;

    use super::{Part, PartError};

    fn part(smiles: &str) -> Result<Part, PartError> {
        Part::parse(smiles, Limits::TARGET)
    }

    #[test]
    fn a_string_that_is_no_part_has_its_fault_and_its_place() {
        for (smiles, text, at) in [
            ("", "the string is empty", None),
            ("c1ccccc1", "no attachment point: mark the atoms that get substituents with `[*:1]`", None),
            ("*", "no atom other than attachment points", None),
            ("**", "no atom other than attachment points", None),
            ("CC(*)(C)(C)C", "C with 5 bonds at byte 1", Some(1)),
            ("*CC.C", "more than one component, the second begins after byte 3", Some(3)),
            (
                "CC=*",
                "the attachment point at byte 3 must have one single bond, and no charge or hydrogens",
                Some(3),
            ),
            (
                "C*C",
                "the attachment point at byte 1 must have one single bond, and no charge or hydrogens",
                Some(1),
            ),
            (
                "C[*:1]C*",
                "the attachment point at byte 1 must have one single bond, and no charge or hydrogens",
                Some(1),
            ),
            (
                "C[*+]",
                "the attachment point at byte 1 must have one single bond, and no charge or hydrogens",
                Some(1),
            ),
            (
                "*1CC1",
                "the attachment point at byte 0 must have one single bond, and no charge or hydrogens",
                Some(0),
            ),
            (
                "C**",
                "the attachment point at byte 1 must have one single bond, and no charge or hydrogens",
                Some(1),
            ),
            ("C(*", "branch opened at byte 1 is never closed", Some(1)),
            (
                "C(*)(*)C(*)(*)C(*)(*)C(*)(*)C*",
                "more than 8 wildcard atoms, the first one too many at byte 29",
                Some(29),
            ),
        ] {
            let fault = part(smiles).unwrap_err();

            assert_eq!((fault.to_string().as_str(), fault.position()), (text, at), "{smiles}");
        }
        let long = format!("*{}", "C".repeat(201));
        assert!(matches!(part(&long).unwrap_err(), PartError::Smiles(_)));
    }

    #[test]
    fn a_part_is_in_molecules_with_substituents_at_its_points_alone() {
        for (smiles, molecule, is_in) in [
            ("*c1ccccc1", "Cc1ccccc1", true),
            ("*c1ccccc1", "Cc1ccccc1C", false),
            ("*c1ccccc1", "c1ccccc1", false),
            ("*c1ccccc1", "c1ccc(-c2ccccc2)cc1", true),
            ("*C1=CC=CC=C1", "Cc1ccccc1", true),
            ("*n1cccc1", "Cn1cccc1", true),
            ("*n1cccc1", "Cc1ccc[nH]1", false),
            ("*NC(C)=O", "CNC(C)=O", true),
            ("*NC(C)=O", "CN(C)C(C)=O", false),
            ("*N(*)C(C)=O", "CN(CC)C(C)=O", true),
            ("*C(=O)O", "CC(=O)OC", false),
            ("*C(=O)[O-]", "CC(=O)[O-]", true),
            ("*C(=O)[O-]", "CC(=O)O", false),
            ("*[N+](C)(C)C", "CC[N+](C)(C)C", true),
            ("*CC*", "FCCF", true),
            ("*CC*", "FC(F)CF", false),
            ("*c1ccc2[nH]nc(*)c2c1", "Fc1ccc2[nH]nc(CC)c2c1", true),
            ("*c1ccc2[nH]nc(*)c2c1", "Fc1ccc2c(c1)c(CC)nn2C", false),
            ("*C1CCC2(CC1)OCCO2", "NC1CCC2(CC1)OCCO2", true),
        ] {
            let molecule = molecule.parse().unwrap();

            assert_eq!(part(smiles).unwrap().is_in(&molecule), is_in, "{smiles}");
        }
    }
}
