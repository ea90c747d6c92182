//! The letters that a molecule's canonical SMILES must have if a pattern occurs in the molecule.
//!
//! A string need not be parsed to see that it has no bromine, or too few double bonds. Its letters give an upper
//! bound of the number of atoms of an element (an N may be that of sodium). This is sound as a screen and takes a
//! hundredth of the time of parsing the molecule.

use std::collections::BTreeMap;

use chematic::smarts::QueryMolecule;

use super::matching::masks::{AROMATIC, DOUBLE, GROUPS, TRIPLE, element_bit};
use super::matching::query::{atom_mask, bond_mask};

/// Atomic number, letter, and aromatic letter of each element. Of symbols with two letters the second is used, which
/// is rarer.
const LETTERS: [(u8, u8, u8); 12] = [
    (5, b'B', b'b'),
    (6, b'C', b'c'),
    (7, b'N', b'n'),
    (8, b'O', b'o'),
    (9, b'F', b'F'),
    (14, b'i', b'i'),
    (15, b'P', b'p'),
    (16, b'S', b's'),
    (17, b'l', b'l'),
    (34, b'e', b'e'),
    (35, b'r', b'r'),
    (53, b'I', b'I'),
];

/// Minimum counts: how often one of two characters must occur.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LetterCounts(Vec<([u8; 2], u16)>);

impl LetterCounts {
    /// Collects the letters that `query` requires.
    pub fn of(query: &QueryMolecule) -> Self {
        let mut needed: BTreeMap<[u8; 2], u16> = BTreeMap::new();
        let mut need = |characters| *needed.entry(characters).or_default() += 1;
        for atom in &query.atoms {
            let mask = atom_mask(&atom.query).0;
            let is_only = |&&(element, ..): &&(u8, u8, u8)| mask & GROUPS[0] == element_bit(element);
            let Some(&(_, plain, aromatic)) = LETTERS.iter().find(is_only) else { continue };
            need([plain, aromatic]);
            // If both letters are equal, aromaticity adds no condition.
            match (mask >> AROMATIC & 0b11, plain == aromatic) {
                (0b01, false) => need([plain; 2]),
                (0b10, false) => need([aromatic; 2]),
                _ => {}
            }
        }
        for bond in &query.bonds {
            match bond_mask(&bond.query) {
                (DOUBLE, true) => need([b'='; 2]),
                (TRIPLE, true) => need([b'#'; 2]),
                _ => {}
            }
        }
        Self(needed.into_iter().collect())
    }

    /// Returns true if a canonical SMILES has all of them.
    pub fn are_in(&self, canonical: &str) -> bool {
        let mut counts = [0_u16; 256];
        for byte in canonical.bytes() {
            counts[usize::from(byte)] += 1;
        }
        self.0.iter().all(|&([one, other], least)| {
            let of_other = if one == other { 0 } else { counts[usize::from(other)] };
            counts[usize::from(one)] + of_other >= least
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Molecule, Pattern};

    #[test]
    fn a_string_that_lacks_a_letter_of_the_pattern_is_left_out() {
        for (smarts, canonical, may) in [
            ("Br", "CCBr", true),
            ("Br", "CCB", false),
            ("c1ccccc1", "CCCCCC", false),
            ("[#6]1~[#6]~[#6]1", "CC1CC1", true),
            ("C(=O)C=O", "CC=O", false),
            ("C#N", "CC=N", false),
            ("[N,O]", "CC", true),
            ("[!#6]", "CC", true),
            ("[Si](C)C", "C[SiH2]C", true),
            ("n1cccc1", "c1cc[nH]c1", true),
        ] {
            let pattern = Pattern::parse(smarts).unwrap();

            assert_eq!(pattern.may_occur_in(canonical), may, "{smarts} in {canonical}");
        }
    }

    #[test]
    fn what_a_pattern_occurs_in_is_never_left_out() {
        let molecules = [
            "CC(=O)Nc1ccc(O)cc1",
            "O=C(O)c1ccccc1Br",
            "C[Si](C)(C)C#Cc1ccsc1",
            "OB(O)c1ccc[nH]1",
            "[Na+].CC(=O)[O-]",
            "FC(F)(F)c1nc(Cl)ncc1I",
            "O=S(=O)(Cl)c1cc[se]c1",
            "C[N+](C)(C)C",
            "c1ccc2[nH]ccc2c1",
            "N#CC(Cl)=C(C)P(=O)(O)O",
        ];
        let patterns = [
            "C=O",
            "[#6]",
            "[OH]",
            "[$(C=O)]",
            "a",
            "[!C]",
            "c:c",
            "[C,c]Br",
            "C#C",
            "S(=O)(=O)",
            "[#7;H1]",
            "B(O)O",
            "[Si]",
            "[se]",
            "*=*",
            "[#16,#34]",
            "P",
            "[Na+].O",
            "Cl",
            "[!#6;!#1]",
            "[C;!$(C=O)]",
            "C-,=O",
        ];
        let mut found = 0;
        for molecule in molecules.map(|text| text.parse::<Molecule>().unwrap()) {
            for pattern in patterns.map(|text| Pattern::parse(text).unwrap()) {
                if pattern.matches(&molecule) {
                    found += 1;
                    assert!(pattern.may_occur_in(molecule.as_canonical()), "{pattern:?} {molecule:?}");
                }
            }
        }
        assert!(found > 60, "{found}");
    }
}
