//! The rings of a molecule, as RDKit's ring information has them.
//!
//! RDKit 2026.09 keeps the relevant cycles (`RingDecomposerLib`). For small rings they are its former set, the
//! symmetrised smallest set of smallest rings, which chematic finds faster.

use chematic::core::{AtomIdx, Molecule as Graph};
use chematic::perception::{
    find_symmetrized_sssr, rdkit_organometallic_dative_bonds, rdkit_sssr_ring_order, relevant_cycles,
};

/// Size from which the two sets may differ.
const LARGE: usize = 11;

/// Maximum number of relevant cycles; beyond it, the former set counts.
const MAX_CYCLES: usize = 10_000;

/// The rings of a molecule.
#[derive(Debug)]
pub(crate) struct RingSet {
    rings: Vec<Vec<AtomIdx>>,
    /// Number of rings through each atom, and the size of the smallest.
    atoms: Vec<(u8, u8)>,
}

impl RingSet {
    /// Finds the rings of a perceived graph.
    pub fn of(graph: &Graph) -> Self {
        let mut rings =
            rdkit_sssr_ring_order(graph).unwrap_or_else(|| find_symmetrized_sssr(graph).rings().to_vec());
        if rings.iter().any(|ring| ring.len() >= LARGE)
            && !rdkit_organometallic_dative_bonds(graph).iter().any(|&dative| dative)
            && let Ok(relevant) = relevant_cycles(graph, MAX_CYCLES)
        {
            rings = relevant;
        }
        let mut atoms = vec![(0_u8, 0_u8); graph.atom_count()];
        for ring in &rings {
            let size = u8::try_from(ring.len()).unwrap_or(u8::MAX);
            for atom in ring {
                let (count, smallest) = &mut atoms[atom.0 as usize];
                *smallest = if *count == 0 { size } else { size.min(*smallest) };
                *count = count.saturating_add(1);
            }
        }
        Self { rings, atoms }
    }

    /// Returns the rings, each as its atoms in order.
    pub fn rings(&self) -> &[Vec<AtomIdx>] {
        &self.rings
    }

    /// Returns the number of rings through an atom.
    pub fn through(&self, atom: usize) -> u8 {
        self.atoms[atom].0
    }

    /// Returns the size of the smallest ring through an atom; 0 outside rings.
    pub fn smallest(&self, atom: usize) -> u8 {
        self.atoms[atom].1
    }
}
