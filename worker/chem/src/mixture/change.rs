//! Possible changes of a reaction mixture as numeric features that a model can learn from.
//!
//! The main decision: every feature describes a few atoms, those whose bonds change and their surroundings (circular
//! environments as in ECFP, Rogers and Hahn 2010, before and after the change; pairs of atoms at a distance, Carhart
//! et al. 1985). So what is learnt from one reaction applies to the next, whatever template proposes it. Stereo is
//! ignored.

use super::mixture_graph::{MixtureGraph, RADII};
use crate::graph::refinement::mix;
use crate::molecules::molecule::Molecule;
use crate::templates::matching::target::MatchTarget;

/// Maximum number of changing atoms, and of changing bonds, described; further ones are ignored.
const MAX_CHANGES: usize = 16;
/// Maximum distance in bonds at which heteroatoms around a changing atom are described.
const MAX_HETEROATOM_DISTANCE: u8 = 5;

/// Reaction mixture, prepared for computing its possible changes.
#[derive(Debug)]
pub struct ReactionMixture {
    pub(crate) target: MatchTarget,
    before: MixtureGraph,
}

/// One possible change of a reaction mixture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Features, each of a few changing atoms and their surroundings, repeated as often as they occur.
    pub features: Vec<u32>,
    /// Hash of the product; equal for tautomers and stereoisomers.
    pub product_hash: u64,
    /// Hash of the changing atoms and their neighbours, about as specific as a template.
    pub class_hash: u64,
    /// Number of atoms whose bonds change.
    pub changing_atoms: usize,
}

/// Kind of bond change.
#[derive(Debug, Clone, Copy)]
enum BondChangeKind {
    Broken = 1,
    Made = 2,
    OrderChanged = 3,
    Added = 4,
}

/// A bond that changes. Its ends are atoms of the mixture, or [`NO_ATOM`] for an atom that no precursor supplies.
#[derive(Debug, Clone, Copy)]
struct BondChange {
    kind: BondChangeKind,
    ends: [usize; 2],
    /// Bond orders before and after; 0 means no bond.
    orders: (u8, u8),
    /// Environment of an added atom that no precursor supplies.
    added: u64,
}

/// Index that stands for no atom of the mixture.
const NO_ATOM: usize = usize::MAX;

impl ReactionMixture {
    /// Prepares a mixture of these molecules. `None` if they are too large together, or contain something that
    /// templates do not match (`*`, explicit hydrogen atoms).
    #[must_use]
    pub fn new(molecules: &[Molecule]) -> Option<Self> {
        let target = MatchTarget::new(&molecules.iter().collect::<Vec<_>>())?;
        let before = MixtureGraph::of_target(&target);
        Some(Self { target, before })
    }

    /// Returns the change that gives this product. For each atom of the product, `sources` has the atom of the
    /// mixture that it was; the atoms of the molecules are numbered consecutively.
    #[must_use]
    pub fn change(&self, product: &Molecule, sources: &[Option<u32>]) -> Option<Change> {
        let after = MixtureGraph::of_target(&MatchTarget::new(&[product])?);
        if sources.len() != after.len() {
            return None;
        }
        let atoms = self.before.len();
        let sources: Vec<Option<usize>> = sources
            .iter()
            .map(|source| source.map(|source| source as usize).filter(|&source| source < atoms))
            .collect();
        Some(self.change_to(&after, &sources))
    }

    /// Returns the change that gives `after`.
    pub(crate) fn change_to(&self, after: &MixtureGraph, sources: &[Option<usize>]) -> Change {
        let mut image = vec![NO_ATOM; self.before.len()];
        for (at, source) in sources.iter().enumerate() {
            if let Some(source) = *source {
                image[source] = at;
            }
        }
        let builder =
            ChangeBuilder { mixture: self, after, sources, image, features: Vec::with_capacity(128) };
        builder.build()
    }
}

/// Computation of a change.
struct ChangeBuilder<'a> {
    mixture: &'a ReactionMixture,
    after: &'a MixtureGraph,
    sources: &'a [Option<usize>],
    /// Index after the change for each atom of the mixture, or [`NO_ATOM`].
    image: Vec<usize>,
    features: Vec<u32>,
}

impl ChangeBuilder<'_> {
    fn build(mut self) -> Change {
        let before = &self.mixture.before;
        let bond_changes = self.bond_changes();
        let mut centre: Vec<usize> = (0..before.len())
            .filter(|&atom| self.image[atom] != NO_ATOM)
            .filter(|&atom| {
                let is_end = bond_changes.iter().any(|bond_change| bond_change.ends.contains(&atom));
                is_end || before.environment(atom, 0) != self.after.environment(self.image[atom], 0)
            })
            .collect();
        let changing = centre.len();
        centre.truncate(MAX_CHANGES);
        let mut sums = [0_u64; 2];
        for &atom in &centre {
            self.add_atom(atom, &mut sums);
            self.add_surroundings(atom);
        }
        for bond_change in bond_changes.iter().take(MAX_CHANGES) {
            self.add_bond_change(bond_change, &mut sums);
        }
        self.add_change(sums[0], changing);
        Change {
            features: self.features,
            product_hash: self.after.constitution(),
            class_hash: sums[1],
            changing_atoms: changing,
        }
    }

    fn add_feature(&mut self, family: u64, what: u64) {
        self.features.push((mix(what, family) >> 32) as u32);
    }

    /// Returns the bonds that change, each once.
    fn bond_changes(&self) -> Vec<BondChange> {
        let before = &self.mixture.before;
        let mut bond_changes = Vec::new();
        for (atom, &here) in self.image.iter().enumerate().filter(|(_, here)| **here != NO_ATOM) {
            for &(next, order) in before.around(atom) {
                let next = usize::from(next);
                let there = self.image[next];
                if there != NO_ATOM && next < atom {
                    continue;
                }
                let now = if there == NO_ATOM { 0 } else { self.after.order(here, there) };
                if now != order {
                    let kind = if now == 0 { BondChangeKind::Broken } else { BondChangeKind::OrderChanged };
                    bond_changes.push(BondChange {
                        kind,
                        ends: [atom, next],
                        orders: (order, now),
                        added: 0,
                    });
                }
            }
            for &(next, order) in self.after.around(here) {
                match self.sources[usize::from(next)] {
                    None => {
                        let added = self.after.environment(usize::from(next), 1);
                        let ends = [atom, NO_ATOM];
                        bond_changes.push(BondChange {
                            kind: BondChangeKind::Added,
                            ends,
                            orders: (0, order),
                            added,
                        });
                    }
                    Some(other) if other > atom && before.order(atom, other) == 0 => {
                        let ends = [atom, other];
                        bond_changes.push(BondChange {
                            kind: BondChangeKind::Made,
                            ends,
                            orders: (0, order),
                            added: 0,
                        });
                    }
                    Some(_) => {}
                }
            }
        }
        bond_changes
    }

    /// Adds the features of a changing atom, before and after.
    fn add_atom(&mut self, atom: usize, sums: &mut [u64; 2]) {
        let before = &self.mixture.before;
        let here = self.image[atom];
        for radius in 0..RADII {
            let was = before.environment(atom, radius);
            self.add_feature(1 + radius as u64, was);
            if radius < RADII - 1 {
                let pair = mix(was, self.after.environment(here, radius));
                self.add_feature(8 + radius as u64, pair);
                if let Some(sum) = sums.get_mut(radius) {
                    *sum = sum.wrapping_add(mix(pair, 77));
                }
            }
        }
    }

    /// Adds the features of the surroundings of a changing atom: heteroatoms and multiple bonds, by their distance.
    fn add_surroundings(&mut self, atom: usize) {
        let before = &self.mixture.before;
        let (own, near) = (before.environment(atom, 0), before.environment(atom, 1));
        let mut distant_marked_atoms = Vec::with_capacity(32);
        before.walk(atom, MAX_HETEROATOM_DISTANCE, &mut |other, distance| {
            if distance > 1 && before.is_marked(other) {
                distant_marked_atoms.push((
                    distance,
                    before.environment(other, 0),
                    before.environment(other, 1),
                ));
            }
        });
        for (distance, element_environment, near_environment) in distant_marked_atoms {
            let distance = u64::from(distance);
            self.add_feature(16 + distance, mix(own, element_environment));
            self.add_feature(24 + distance, mix(near, near_environment));
        }
    }

    fn add_bond_change(&mut self, bond_change: &BondChange, sums: &mut [u64; 2]) {
        let before = &self.mixture.before;
        let [a, b] = bond_change.ends;
        let kind = (bond_change.kind as u64) << 16
            | u64::from(bond_change.orders.0) << 8
            | u64::from(bond_change.orders.1);
        let environment_of = |atom: usize, radius| {
            if atom == NO_ATOM { bond_change.added } else { before.environment(atom, radius) }
        };
        for radius in 0..3 {
            let both = mix(environment_of(a, radius), 5).wrapping_add(mix(environment_of(b, radius), 5));
            let word = mix(both, kind);
            self.add_feature(32 + radius as u64, word);
            if let Some(sum) = sums.get_mut(radius) {
                *sum = sum.wrapping_add(mix(word, 78));
            }
        }
        self.add_feature(36, mix(mix(environment_of(a, 2), environment_of(b, 0)), kind));
        if b != NO_ATOM {
            self.add_feature(36, mix(mix(environment_of(b, 2), environment_of(a, 0)), kind));
        }
        let ring = match bond_change.kind {
            BondChangeKind::Made => self.after.ring_closed(self.image[a], self.image[b]),
            BondChangeKind::Broken | BondChangeKind::OrderChanged => before.ring_closed(a, b),
            BondChangeKind::Added => 0,
        };
        let elements = mix(before.element(a), 6)
            .wrapping_add(mix(if b == NO_ATOM { bond_change.added } else { before.element(b) }, 6));
        self.add_feature(38, mix(elements, kind << 8 | u64::from(ring)));
        self.add_feature(
            39,
            mix(
                mix(environment_of(a, 0), 5).wrapping_add(mix(environment_of(b, 0), 5)),
                kind << 8 | u64::from(ring),
            ),
        );
    }

    /// Adds the features of the change as a whole, and of the rest of the mixture.
    fn add_change(&mut self, sum: u64, changing: usize) {
        let before = &self.mixture.before;
        let target = &self.mixture.target;
        let mut used = vec![0_usize; target.molecules];
        for source in self.sources.iter().flatten() {
            used[usize::from(target.molecule_of[*source])] += 1;
        }
        let molecules = target.molecules as u64;
        let in_use = used.iter().filter(|&&atoms| atoms > 0).count() as u64;
        let shape = molecules << 8 | in_use;
        self.add_feature(40, shape);
        self.add_feature(41, sum);
        self.add_feature(42, mix(sum, shape));
        self.add_feature(43, mix(changing as u64, shape));
        let kept: usize = used.iter().sum();
        let lost = before.len() - kept;
        self.add_feature(44, lost.min(24) as u64);
        self.add_feature(45, mix(sum, lost.min(24) as u64));
        self.add_feature(46, (8 * kept / before.len().max(1)) as u64);
        let new = self.sources.iter().filter(|source| source.is_none()).count();
        self.add_feature(47, new.min(12) as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(precursors: &[&str], product: &str, sources: &[Option<u32>]) -> Change {
        let molecules: Vec<Molecule> = precursors.iter().map(|smiles| smiles.parse().unwrap()).collect();
        ReactionMixture::new(&molecules).unwrap().change(&product.parse().unwrap(), sources).unwrap()
    }

    #[test]
    fn what_stands_far_from_the_change_does_not_alter_its_class() {
        let ethyl = change(
            &["CCO", "CC(=O)Cl"],
            "CCOC(C)=O",
            &[Some(0), Some(1), Some(2), Some(4), Some(3), Some(5)],
        );
        let propyl = change(
            &["CCCO", "CC(=O)Cl"],
            "CCCOC(C)=O",
            &[Some(0), Some(1), Some(2), Some(3), Some(5), Some(4), Some(6)],
        );

        assert_eq!((ethyl.class_hash, ethyl.changing_atoms), (propyl.class_hash, 2));
        assert_ne!(ethyl.product_hash, propyl.product_hash);
        assert_ne!(ethyl.features, propyl.features);
    }

    #[test]
    fn tautomers_are_one_product_and_isomers_are_not() {
        let product = |smiles: &str| change(&[smiles], smiles, &vec![None; 16][..atoms(smiles)]).product_hash;

        assert_eq!(product("Oc1ccccn1"), product("O=c1cccc[nH]1"));
        assert_eq!(product("C[C@H](F)Cl"), product("C[C@@H](F)Cl"));
        assert_ne!(product("CC(=O)C=C"), product("CC(O)C=C"));
        assert_ne!(product("CC(O)C=C"), product("CC(=O)CC"));
    }

    fn atoms(smiles: &str) -> usize {
        smiles.parse::<Molecule>().unwrap().atoms()
    }
}
