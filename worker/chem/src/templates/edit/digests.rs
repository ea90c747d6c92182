//! Digests that identify the parts of a draft that were made before.
//!
//! Templates that cut the same bond give the same pieces: most results of the fifty most probable templates have been
//! made before. A component of a draft is identified by a digest of its atoms, bonds and stereo, in terms of the
//! atoms of the target. This takes a tenth of the time that its graph and key take.

use chem_fast::is_odd;

use super::draft::DraftGraph;
use crate::graph::refinement::mix;
use crate::templates::matching::target::HYDROGEN;

/// First number of the atoms that a template adds, in the order in which it writes them.
const FIRST_NEW: u64 = 1 << 20;

/// Digests of a draft's components. Equal components have equal digests, and unequal ones differ (except for a chance
/// of 2^-64 a pair). Atoms that a template adds count in written order.
pub(crate) struct Digests<'a> {
    draft: &'a DraftGraph,
    /// Number of the target atom for each atom of the draft.
    names: Vec<u64>,
    of: Vec<u64>,
}

impl<'a> Digests<'a> {
    /// Computes the digests of atoms and bonds.
    pub fn new(draft: &'a DraftGraph, components: usize) -> Self {
        let mut new = FIRST_NEW;
        let mut name = |source: &Option<u8>| match source {
            Some(source) => mix(u64::from(*source), 1),
            None => {
                new += 1;
                mix(new, 1)
            }
        };
        let names: Vec<u64> = draft.sources.iter().map(&mut name).collect();
        let mut of = vec![0_u64; components];
        for (at, atom) in draft.atoms.iter().enumerate() {
            let word = u64::from(atom.element)
                | u64::from(atom.charge.cast_unsigned()) << 8
                | u64::from(atom.hydrogens) << 16
                | u64::from(atom.aromatic) << 24
                | u64::from(atom.isotope) << 32;
            let mut around = 0_u64;
            for &(next, order) in draft.around(at) {
                around = around.wrapping_add(mix(names[usize::from(next)], u64::from(order)));
            }
            let of = &mut of[usize::from(draft.components[at])];
            *of = of.wrapping_add(mix(mix(names[at], word), around));
        }
        Self { draft, names, of }
    }

    /// Adds a stereocentre with its neighbours in this order.
    pub fn add_centre(&mut self, at: usize, clockwise: bool, order: &[u16]) {
        let name = |&atom: &u16| if atom == HYDROGEN { 0 } else { self.names[usize::from(atom)] };
        let names: Vec<u64> = order.iter().map(name).collect();
        let odd = clockwise ^ is_odd(&names);
        let around = names.iter().fold(2 + u64::from(odd), |sum, &name| sum.wrapping_add(mix(name, 2)));
        self.add(at, mix(self.names[at], around));
    }

    /// Adds a double bond: a side atom, the two ends, the other side atom.
    pub fn add_double_bond(&mut self, cis: bool, atoms: [usize; 4]) {
        let [side, end, other_end, other_side] = atoms.map(|atom| self.names[atom]);
        let half = |end, side| mix(mix(end, side), 3);
        let both = half(end, side).wrapping_add(half(other_end, other_side));
        self.add(atoms[1], mix(both, 4 + u64::from(cis)));
    }

    /// Returns the digest of a component.
    pub fn of(&self, component: usize) -> u64 {
        self.of[component]
    }

    fn add(&mut self, at: usize, word: u64) {
        let of = &mut self.of[usize::from(self.draft.components[at])];
        *of = of.wrapping_add(word);
    }
}
