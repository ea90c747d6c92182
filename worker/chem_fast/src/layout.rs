//! The layout of a canonical string: its parts and their order, before any text is written.

use super::graph::{Graph, bit};

/// One part of the string, in writing order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Atom(u8),
    /// A bond, and the atom to its left.
    Bond(u8, u8),
    Ring(u8),
    Open,
    Close,
}

/// Positions at which atoms and bonds are written.
#[derive(Debug, Default)]
pub(super) struct WriteOrder {
    atoms: Vec<u16>,
    bonds: Vec<u16>,
    /// Bonds that close a ring.
    closing: u128,
}

impl WriteOrder {
    pub fn note(&mut self, graph: &Graph, parts: &[Part], ring_of: &[u8]) {
        self.atoms.clear();
        self.atoms.resize(graph.atoms.len(), 0);
        self.bonds.clear();
        self.bonds.resize(graph.bonds.len(), 0);
        for (place, part) in parts.iter().enumerate() {
            match *part {
                Part::Atom(at) => self.atoms[usize::from(at)] = place as u16,
                Part::Bond(bond, _) => self.bonds[usize::from(bond)] = place as u16,
                _ => {}
            }
        }
        self.closing = 0;
        for (bond, _) in ring_of.iter().enumerate().filter(|&(_, &ring)| ring != 0) {
            self.closing |= bit(bond);
        }
    }

    pub fn of_atom(&self, at: usize) -> u16 {
        self.atoms[at]
    }

    pub fn atom(&self, at: u8) -> u16 {
        self.atoms[usize::from(at)]
    }

    pub fn bond(&self, bond: u8) -> u16 {
        self.bonds[usize::from(bond)]
    }
    /// Returns true if the bond closes a ring.
    pub fn closes_ring(&self, bond: u8) -> bool {
        self.closing & bit(bond) != 0
    }
}
