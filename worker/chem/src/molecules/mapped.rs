//! Molecules with atom map numbers, as in `[CH3:1]`.
//!
//! The numbers are the caller's labels for atoms and not part of the molecule. So they are removed, and stored as
//! positions in its canonical SMILES.

use std::collections::BTreeMap;

use chem_fast::Limits;

use super::molecule::Molecule;
use crate::error::SmilesError;
use crate::graph::correspondence;
use crate::smiles::extension::ExtendedSmiles;
use crate::smiles::skeleton::SmilesSkeleton;
use crate::smiles::tokens::{Token, tokens};

/// A molecule and the map numbers of its atoms.
#[derive(Debug, Clone)]
pub struct MappedMolecule {
    molecule: Molecule,
    /// Atoms by map number; `None` for a number that several atoms have.
    atoms: BTreeMap<u32, Option<u32>>,
    /// Bonds, lower atom first, ascending.
    bonds: Vec<(u32, u32)>,
}

/// Reason why a map number does not identify an atom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the field is what the variant's doc speaks of")]
pub enum UnknownAtom {
    /// No atom has the number.
    #[error("no atom has the map number {number}")]
    Missing { number: u32 },
    /// Several atoms have the number.
    #[error("several atoms have the map number {number}")]
    Ambiguous { number: u32 },
}

impl MappedMolecule {
    /// Parses `smiles`, with or without atom map numbers.
    ///
    /// # Errors
    /// Fails as [`Molecule::parse`] does.
    pub fn parse(smiles: &str, limits: Limits) -> Result<Self, SmilesError> {
        if let Some(extended) = ExtendedSmiles::read(smiles)? {
            Molecule::parse(extended.smiles, limits)?;
            return Self::parse(&extended.resolved(), limits);
        }
        // A mapped hydrogen stays an atom only because of its number, so that is removed first.
        let numbered = Molecule::parse(&without_map_numbers(smiles, |atom| atom == "H").0, limits)?;
        let (plain, numbers) = without_map_numbers(numbered.as_canonical(), |_| true);
        // The canonical string may be longer than the input.
        let limits = Limits { max_bytes: usize::MAX, ..limits };
        let molecule = Molecule::trusted(Molecule::parse(&plain, limits)?.as_canonical())?;
        let mut atoms = BTreeMap::new();
        if numbers.iter().any(|&number| number != 0)
            && let Ok(written) = chematic::smiles::parse(&plain)
            && let Some(order) = correspondence::find(&written, molecule.graph())
        {
            for (at, written) in (0_u32..).zip(order) {
                if numbers[written] != 0 {
                    atoms.entry(numbers[written]).and_modify(|atom| *atom = None).or_insert(Some(at));
                }
            }
        }
        let bonds = bonds(&molecule);
        Ok(Self { molecule, atoms, bonds })
    }

    /// Returns a form of the first component that satisfies `is_it`, with the map numbers of its atoms.
    pub(crate) fn of_component(&self, form: &Molecule, is_it: impl Fn(&Molecule) -> bool) -> Self {
        let molecule = Molecule::trusted(form.as_canonical()).unwrap_or_else(|_| form.clone());
        let mut start = 0;
        let mut atoms = BTreeMap::new();
        for component in self.molecule.components() {
            let end = start + component.atoms();
            if is_it(&component) {
                // For each atom of the component, that of the form.
                let order = molecule.correspondence(&component).unwrap_or_default();
                for (&number, &atom) in &self.atoms {
                    let Some(at) = atom else { continue };
                    let place = (at as usize).checked_sub(start).and_then(|place| order.get(place));
                    place.map(|&place| atoms.insert(number, Some(place)));
                }
                break;
            }
            start = end;
        }
        let bonds = bonds(&molecule);
        Self { molecule, atoms, bonds }
    }

    /// Returns the molecule without map numbers, its atoms in the order of its canonical SMILES.
    #[must_use]
    pub fn molecule(&self) -> &Molecule {
        &self.molecule
    }

    /// Returns the atom with this map number.
    ///
    /// # Errors
    /// Fails if no atom or several atoms have the number.
    pub fn atom(&self, number: u32) -> Result<u32, UnknownAtom> {
        match self.atoms.get(&number) {
            Some(Some(atom)) => Ok(*atom),
            Some(None) => Err(UnknownAtom::Ambiguous { number }),
            None => Err(UnknownAtom::Missing { number }),
        }
    }

    /// Returns the bonds of the molecule, each with its lower atom first, ascending.
    #[must_use]
    pub fn bonds(&self) -> &[(u32, u32)] {
        &self.bonds
    }

    /// Returns true if two atoms are bonded.
    #[must_use]
    pub fn are_bonded(&self, a: u32, b: u32) -> bool {
        self.bonds.binary_search(&(a.min(b), a.max(b))).is_ok()
    }
}

/// Returns the bonds of a molecule whose atoms are in the order of its canonical SMILES, lower atom first, ascending.
fn bonds(molecule: &Molecule) -> Vec<(u32, u32)> {
    let place = |atom: usize| u32::try_from(atom).unwrap_or(u32::MAX);
    let mut bonds: Vec<(u32, u32)> = SmilesSkeleton::read(molecule.as_canonical())
        .bonds
        .iter()
        .map(|bond| (place(bond.atoms.0.min(bond.atoms.1)), place(bond.atoms.0.max(bond.atoms.1))))
        .collect();
    bonds.sort_unstable();
    bonds
}

/// Removes the map numbers of the atoms for which `meant` is true, given the text before the number. Returns the
/// string and the number removed from each atom, 0 for none.
fn without_map_numbers(smiles: &str, meant: impl Fn(&str) -> bool) -> (String, Vec<u32>) {
    let mut plain = String::with_capacity(smiles.len());
    let mut numbers = Vec::new();
    let mut rest = smiles;
    for symbol in tokens(smiles) {
        match symbol {
            Token::Bracket(text) => {
                let (before, after) = rest.split_once(text).unwrap_or((rest, ""));
                let named = text.rsplit_once(':').filter(|(atom, _)| meant(atom));
                plain.push_str(before);
                plain.push_str(named.map_or(text, |(atom, _)| atom));
                rest = after;
                numbers.push(named.and_then(|(_, number)| number.parse().ok()).unwrap_or(0));
            }
            Token::Atom(_) => numbers.push(0),
            _ => {}
        }
    }
    plain.push_str(rest);
    (plain, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapped(smiles: &str) -> MappedMolecule {
        MappedMolecule::parse(smiles, Limits::TARGET).unwrap()
    }

    #[test]
    fn numbers_are_no_part_of_the_molecule_and_name_its_atoms() {
        let amide = mapped("[CH3:7][C:1](=O)[NH:2]c1ccccc1");

        assert_eq!(amide.molecule().canonical_smiles(), "CC(=O)Nc1ccccc1");
        assert_eq!([amide.atom(7), amide.atom(1), amide.atom(2)], [Ok(0), Ok(1), Ok(3)]);
        assert!(amide.are_bonded(3, 1) && !amide.are_bonded(0, 3));
        assert_eq!(amide.atom(3), Err(UnknownAtom::Missing { number: 3 }));
    }

    #[test]
    fn a_number_that_two_atoms_have_names_neither() {
        let acid = mapped("[CH3:1][C:1](=O)O");

        assert_eq!(acid.atom(1), Err(UnknownAtom::Ambiguous { number: 1 }));
    }

    #[test]
    fn stereo_and_charges_outlive_the_numbers() {
        for (smiles, plain) in [
            ("[CH3:1][C@@H:2]([NH3+:3])[C:4](=O)[O-:5]", "C[C@@H]([NH3+])C(=O)[O-]"),
            ("[cH:1]1[cH:2][nH:3][cH:4][cH:5]1", "c1cc[nH]c1"),
            ("C/[CH:2]=[CH:3]/Cl", "C/C=C/Cl"),
            ("[2H][CH2:3]O", "[2H]CO"),
        ] {
            let mapped = mapped(smiles);

            let plain: Molecule = plain.parse().unwrap();
            assert_eq!(mapped.molecule().canonical_smiles(), plain.canonical_smiles(), "{smiles}");
            assert!(mapped.atom(3).is_ok(), "{smiles}");
        }
    }

    #[test]
    fn a_molecule_without_numbers_is_itself() {
        let ethanol = mapped("OCC");

        assert_eq!((ethanol.molecule().as_canonical(), ethanol.bonds()), ("CCO", &[(0, 1), (1, 2)][..]));
    }

    #[test]
    fn numbers_that_hydrogens_have_name_nothing() {
        let methanol = mapped("[CH3:1][O:2][H:3]");

        assert_eq!(methanol.molecule().as_canonical(), "CO");
        assert_eq!(methanol.atom(3), Err(UnknownAtom::Missing { number: 3 }));
        assert_eq!((methanol.atom(1), methanol.atom(2)), (Ok(0), Ok(1)));
    }
}
