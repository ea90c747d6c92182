//! Labels: the positions of the target's bonds in the molecules from which it is made.
//!
//! The atoms of a molecule that stem from the target depend on the way to it. So a search that needs them makes one
//! node for each pair of molecule and [`BondLabel`]. Constraints on a bond then concern single steps and single nodes.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use chem::{Molecule, Precursor, SmilesSkeleton};

/// The followed bonds of the target that a molecule still has.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BondLabel(Arc<[LabelledBond]>);

/// A bond of the target in a molecule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelledBond {
    /// Index among the followed bonds.
    pub bond: u32,
    /// Atoms of the bond, numbered in the order of the molecule's canonical SMILES.
    atoms: (u32, u32),
}

impl BondLabel {
    /// Creates the label of the target itself, which has all followed bonds.
    pub fn of_target(bonds: impl Iterator<Item = (u32, u32)>) -> Self {
        Self((0..).zip(bonds).map(|(bond, atoms)| LabelledBond { bond, atoms }).collect())
    }

    /// Returns true if the molecule has none of the followed bonds.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the bonds, ascending.
    pub fn bonds(&self) -> impl Iterator<Item = u32> {
        self.0.iter().map(|followed| followed.bond)
    }

    /// Returns a number that is equal for equal labels only (except for a chance of 2^-64 a pair); 0 for an empty
    /// label.
    pub fn digest(&self) -> u128 {
        if self.is_empty() {
            return 0;
        }
        let half = |seed: u8| {
            let mut hasher = DefaultHasher::new();
            (seed, self).hash(&mut hasher);
            u128::from(hasher.finish())
        };
        half(0) << 64 | half(1)
    }

    /// Returns the label of a precursor of a product with this label; `None` if the precursor's atoms cannot be
    /// identified.
    pub fn in_precursor(&self, precursor: &Precursor) -> Option<Self> {
        let has = |atom: u32| precursor.sources.contains(&Some(atom));
        if !self.0.iter().any(|followed| has(followed.atoms.0) && has(followed.atoms.1)) {
            return Some(Self::default());
        }
        // The same atom order as in an expansion of the precursor.
        let canonical = Molecule::trusted(precursor.molecule.as_canonical()).ok()?;
        let order = precursor.molecule.correspondence(&canonical)?;
        let sources: Vec<Option<u32>> = order.iter().map(|&atom| precursor.sources[atom as usize]).collect();
        let place = |source: u32| {
            (0_u32..).zip(&sources).find_map(|(at, &from)| (from == Some(source)).then_some(at))
        };
        let written = SmilesSkeleton::read(canonical.as_canonical());
        let bonded = |a: u32, b: u32| {
            let pair = (a as usize, b as usize);
            written.bonds.iter().any(|bond| bond.atoms == pair || bond.atoms == (pair.1, pair.0))
        };
        let followed = self.0.iter().filter_map(|followed| {
            let (a, b) = (place(followed.atoms.0)?, place(followed.atoms.1)?);
            bonded(a, b).then_some(LabelledBond { bond: followed.bond, atoms: (a.min(b), a.max(b)) })
        });
        Some(Self(followed.collect()))
    }
}

#[cfg(test)]
mod tests {
    use chem::{PreparedMolecule, Template};

    use super::*;

    #[test]
    fn a_bond_is_found_in_the_precursor_that_has_it_and_in_none_where_it_is_broken() {
        let template = Template::parse("[C:1](=[O:2])-[NH:3]>>[C:1](=[O:2])-[OH].[NH2:3]").unwrap();
        // CC(=O)NCC: the bonds from the carbonyl to the nitrogen, and those of the methyl and of the ethyl.
        let product = PreparedMolecule::new(&Molecule::trusted("CCNC(C)=O").unwrap());
        let label = BondLabel::of_target([(2, 3), (3, 4), (0, 1)].into_iter());

        let outcome = &template.apply(&product)[0];
        let found: Vec<(String, Vec<u32>)> = outcome
            .precursors
            .iter()
            .map(|part| {
                let bonds = label.in_precursor(part).unwrap().bonds().collect();
                (part.molecule.canonical_smiles(), bonds)
            })
            .collect();

        let mut found = found;
        found.sort();
        assert_eq!(found, [("CC(=O)O".to_owned(), vec![1]), ("CCN".to_owned(), vec![2])]);
    }
}
