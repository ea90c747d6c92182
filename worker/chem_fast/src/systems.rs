//! Ring systems whose rings follow from the spanning tree alone.
//!
//! The chain bonds of a string form a tree, and each ring bond closes one cycle of it. Cycles that share bonds form a
//! system. A system of one cycle is a ring. A system of two cycles has a third one; if that is the only largest, the
//! other two are the only smallest set. Nine of ten systems are of these kinds. Only the others need [the
//! search](super::rings) to find out what RDKit perceives.

use super::graph::{Graph, bit, members};

/// Maximum ring size without a search: RDKit's result for larger rings depends on the order in which it finds them.
const MAX_PLAIN_SIZE: u32 = 8;

/// A ring: its atoms and its bonds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ring {
    pub atoms: u128,
    pub bonds: u128,
}

impl Ring {
    pub fn size(&self) -> u32 {
        self.atoms.count_ones()
    }
}

/// The cycles of a graph, and the buffers of the search.
#[derive(Debug, Default)]
pub(super) struct RingSystems {
    /// Bonds on the path from the first atom to every atom.
    paths: Vec<u128>,
    cycles: Vec<u128>,
    /// All atoms and bonds in rings.
    pub atoms: u128,
    pub bonds: u128,
}

impl RingSystems {
    /// Finds all atoms and bonds in rings, and the rings that need no search. Returns true if those are all rings.
    pub fn find(&mut self, graph: &Graph, rings: &mut Vec<Ring>) -> bool {
        let tree = graph.atoms.len() - 1;
        self.paths.clear();
        self.paths.push(0);
        for (at, bond) in graph.bonds[..tree].iter().enumerate() {
            self.paths.push(self.paths[usize::from(bond.begin)] | bit(at));
        }
        self.cycles.clear();
        self.bonds = 0;
        for (at, bond) in graph.bonds.iter().enumerate().skip(tree) {
            let way = self.paths[usize::from(bond.begin)] ^ self.paths[usize::from(bond.end)];
            self.cycles.push(way | bit(at));
            self.bonds |= way | bit(at);
        }
        self.atoms = ends(graph, self.bonds);
        let mut left: u32 = (1 << self.cycles.len()) - 1;
        while left != 0 {
            let first = left.trailing_zeros() as usize;
            left &= left - 1;
            let (mut bonds, mut count, mut second) = (self.cycles[first], 1, 0);
            let mut grown = true;
            while grown {
                grown = false;
                for cycle in members(left.into()) {
                    if self.cycles[cycle] & bonds != 0 {
                        left &= !(1 << cycle);
                        second = self.cycles[cycle];
                        bonds |= second;
                        count += 1;
                        grown = true;
                    }
                }
            }
            if count > 2 {
                return false;
            }
            let one = self.cycles[first];
            let mut cycles = [one, second, one ^ second];
            if count == 2 {
                cycles.sort_unstable_by_key(|cycle| cycle.count_ones());
                if cycles[1].count_ones() == cycles[2].count_ones() {
                    return false;
                }
            }
            for &bonds in &cycles[..count] {
                let ring = Ring { atoms: ends(graph, bonds), bonds };
                if ring.size() > MAX_PLAIN_SIZE {
                    return false;
                }
                rings.push(ring);
            }
        }
        true
    }
}

/// Returns the atoms that the bonds join.
fn ends(graph: &Graph, bonds: u128) -> u128 {
    members(bonds).fold(0, |atoms, bond| {
        let bond = &graph.bonds[bond];
        atoms | bit(bond.begin) | bit(bond.end)
    })
}
