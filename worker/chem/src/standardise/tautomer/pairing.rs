//! The test for a bond that is double in every tautomer.
//!
//! The double bonds of a system pair its atoms. Another tautomer is another pairing that leaves out the same number
//! of sites. The two differ along alternating paths and rings (Berge, 1957). So a double bond is absent in some
//! tautomer if it lies on a ring of alternating single and double bonds, or on such a path from a site with its
//! hydrogen to one without.

use chematic::core::{BondOrder, Molecule as Graph, kekulization};

use super::roles::{Role, Roles};
use crate::graph::index::index;

/// Maximum search steps; after that the bond is assumed not to be permanent.
const MAX_STEPS: u32 = 20_000;

/// The double bonds of a molecule's systems, in one tautomer.
pub(super) struct Pairing<'a> {
    graph: &'a Graph,
    roles: &'a Roles,
    /// Partner of each atom; the atom itself if it has none.
    partner: Vec<usize>,
}

/// The state of a search.
struct PairingState {
    seen: Vec<bool>,
    steps: u32,
}

impl<'a> Pairing<'a> {
    /// Builds the pairing; `None` if the aromatic bonds cannot be kekulised.
    pub fn new(graph: &'a Graph, roles: &'a Roles) -> Option<Self> {
        let kekule = kekulization::kekulize(graph).ok()?;
        let mut partner: Vec<usize> = (0..graph.atom_count()).collect();
        for (at, bond) in graph.bonds() {
            let order = kekule.get(&at).copied().unwrap_or(bond.order);
            if order == BondOrder::Double && roles.is_shared(graph, at) {
                let [a, b] = [bond.atom1, bond.atom2].map(|atom| atom.0 as usize);
                (partner[a], partner[b]) = (b, a);
            }
        }
        Some(Self { graph, roles, partner })
    }

    /// Returns true if another tautomer, or another Kekulé form of this one, has no double bond between two atoms
    /// that have one here.
    pub fn may_do_without(&self, a: usize, b: usize) -> bool {
        if self.partner[a] != b {
            return true;
        }
        let mut walk = PairingState { seen: vec![false; self.partner.len()], steps: 0 };
        (walk.seen[a], walk.seen[b]) = (true, true);
        let found = self.reaches(a, &mut walk, &mut |_, at| at == b)
            || [(a, b), (b, a)].into_iter().any(|(taking, giving)| {
                self.reaches(taking, &mut walk, &mut |walk, at| {
                    self.roles.is_exposed(at) && self.may_lose_hydrogen(giving, walk)
                })
            });
        found || walk.steps > MAX_STEPS
    }

    /// Returns true if an atom that loses its partner can find another, whose partner finds another, and so on up to
    /// an atom that satisfies `ends`.
    fn reaches(
        &self,
        from: usize,
        walk: &mut PairingState,
        ends: &mut dyn FnMut(&mut PairingState, usize) -> bool,
    ) -> bool {
        walk.steps += 1;
        if walk.steps > MAX_STEPS {
            return false;
        }
        for next in self.others(from) {
            if ends(walk, next) {
                return true;
            }
            let beyond = self.partner[next];
            if walk.seen[next] || beyond == next || walk.seen[beyond] {
                continue;
            }
            (walk.seen[next], walk.seen[beyond]) = (true, true);
            if self.reaches(beyond, walk, ends) {
                return true;
            }
            (walk.seen[next], walk.seen[beyond]) = (false, false);
        }
        false
    }

    /// Returns true if an atom that loses its partner can stay unpaired, or pass the gap on.
    fn may_lose_hydrogen(&self, at: usize, walk: &mut PairingState) -> bool {
        walk.steps += 1;
        if self.roles.of[at] == Role::Site {
            return true;
        }
        if walk.steps > MAX_STEPS {
            return false;
        }
        for next in self.others(at) {
            let beyond = self.partner[next];
            if walk.seen[next] || beyond == next || walk.seen[beyond] {
                continue;
            }
            (walk.seen[next], walk.seen[beyond]) = (true, true);
            let found = self.may_lose_hydrogen(beyond, walk);
            (walk.seen[next], walk.seen[beyond]) = (false, false);
            if found {
                return true;
            }
        }
        false
    }

    /// Returns the atoms of the same system to which an atom has a single bond.
    fn others(&self, at: usize) -> Vec<usize> {
        let links = self.graph.neighbor_slice(index(at)).iter();
        links
            .filter(|&&(next, bond)| {
                self.roles.is_shared(self.graph, bond) && self.partner[at] != next.0 as usize
            })
            .map(|&(next, _)| next.0 as usize)
            .collect()
    }
}
