//! Memory size of molecules, for code that keeps many.
//!
//! The main decision: every allocation counts with its size in the allocator, so that sums come near the memory use
//! of the process. Values that are computed later count from the start, so that a sum stays correct.

use chematic::core::{Atom, AtomIdx, BondEntry, BondIdx};

use super::molecule::Molecule;

/// Returns the memory taken by an allocation of `bytes` bytes. mimalloc has blocks of 16, 32, 48 and 64 bytes, and
/// beyond that four sizes between successive powers of two.
#[must_use]
pub const fn block(bytes: usize) -> usize {
    if bytes <= 64 {
        return bytes.next_multiple_of(16);
    }
    let step = (bytes - 1).ilog2() - 2;
    bytes.next_multiple_of(1 << step)
}

impl Molecule {
    /// Estimates the bytes that the molecule takes; clones share them.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let graph = self.graph();
        let (atoms, bonds) = (graph.atom_count(), graph.bond_count());
        let around = |(at, _)| {
            // A stated stereocentre stores its neighbours a second time, in a map.
            let named = graph.stereo_neighbor_order(at).map_or(0, |order| 64 + block(size_of_val(order)));
            block(graph.degree(at) * size_of::<(AtomIdx, BondIdx)>()) + named
        };
        block(Self::BASE_BYTES)
            + block(atoms * size_of::<Atom>())
            + block(bonds * size_of::<BondEntry>())
            + block(atoms * size_of::<Vec<(AtomIdx, BondIdx)>>())
            + graph.atoms().map(around).sum::<usize>()
            // Canonical SMILES.
            + block(2 * atoms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_those_of_the_allocator() {
        let sizes = [0, 1, 16, 17, 64, 65, 80, 81, 129, 161, 1000, 1025].map(block);

        assert_eq!(sizes, [0, 16, 16, 32, 64, 80, 80, 96, 160, 192, 1024, 1280]);
    }
}
