//! Ring systems whose rings are plain to see.
//!
//! A string's chain bonds make a tree, and each ring bond closes one cycle of it. Cycles that share bonds make a
//! system. A system of one cycle is a ring; one of two cycles has a third, and where that is the largest by itself,
//! the other two are the only smallest set there is. Nine systems of ten are of these kinds; only for the others
//! need [the search](super::rings) find out what RDKit sees.

use super::graph::{Graph, bit, members};

/// Larger rings are searched for: what RDKit sees in them depends on the order it finds them in.
const MOST_PLAIN_SIZE: u32 = 8;

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

/// The cycles of a graph, and the buffers of finding them.
#[derive(Debug, Default)]
pub(super) struct Systems {
    /// For every atom, the bonds from the first atom to it.
    paths: Vec<u128>,
    cycles: Vec<u128>,
    /// All atoms and bonds that are in rings.
    pub atoms: u128,
    pub bonds: u128,
}

impl Systems {
    /// Finds what is in rings, and the rings where they are plain; whether they all are.
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
                if ring.size() > MOST_PLAIN_SIZE {
                    return false;
                }
                rings.push(ring);
            }
        }
        true
    }
}

/// The atoms that bonds join.
fn ends(graph: &Graph, bonds: u128) -> u128 {
    members(bonds).fold(0, |atoms, bond| {
        let bond = &graph.bonds[bond];
        atoms | bit(bond.begin) | bit(bond.end)
    })
}
