//! A molecule with what matching wants computed once.

use std::sync::Arc;

use chematic::core::{BondOrder, Chirality};

use crate::index::index;
use crate::key::smallest_rings;
use crate::molecule::Molecule;
use crate::screen::Target;
use crate::stereo::Stereo;

/// A molecule prepared for having many templates applied to it; clones are cheap.
#[derive(Debug, Clone)]
pub struct PreparedMolecule(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    molecule: Molecule,
    target: Option<Target>,
    stereo: Stereo,
    ground: Option<Ground>,
}

/// What a disconnection on the graph has to know of the product's atoms and bonds.
#[derive(Debug)]
pub(crate) struct Ground {
    /// Size of the smallest ring through each bond, 0 for none.
    pub rings: Vec<u8>,
    pub in_ring: Vec<bool>,
    pub hydrogens: Vec<u8>,
    /// Whether an atom is a stated stereocentre.
    pub centres: Vec<bool>,
    /// The stated centres, each with its neighbours in the order that its mark is about.
    pub orders: Vec<(usize, Vec<u32>)>,
}

impl Ground {
    /// `None` for a molecule that is not as perceived, has several parts (RDKit forgets those that a template does
    /// not match), or states stereo other than of tetrahedral centres.
    fn new(molecule: &Molecule) -> Option<Self> {
        if molecule.is_canonical() && molecule.as_canonical().contains('.') {
            return None;
        }
        let graph = molecule.graph();
        let directed = |order| matches!(order, BondOrder::Up | BondOrder::Down);
        let plain = graph.bonds().all(|(at, bond)| {
            let ordinary = matches!(
                bond.order,
                BondOrder::Single | BondOrder::Double | BondOrder::Triple | BondOrder::Aromatic
            );
            ordinary && !directed(bond.order) && graph.bond_direction(at).is_none()
        });
        if !molecule.is_perceived() || !plain {
            return None;
        }
        let rings = smallest_rings(graph);
        let count = graph.atom_count();
        let mut in_ring = vec![false; count];
        for (_, bond) in graph.bonds().filter(|(at, _)| rings[at.0 as usize] > 0) {
            in_ring[bond.atom1.0 as usize] = true;
            in_ring[bond.atom2.0 as usize] = true;
        }
        let mut orders = Vec::new();
        for at in 0..count {
            match graph.atom(index(at)).chirality {
                Chirality::None => {}
                Chirality::Clockwise | Chirality::CounterClockwise => {
                    orders.push((at, graph.stereo_neighbor_order(index(at))?.to_vec()));
                }
                _ => return None,
            }
        }
        let mut centres = vec![false; count];
        orders.iter().for_each(|&(at, _)| centres[at] = true);
        let hydrogens = (0..count).map(|at| graph.implicit_hydrogen_count(index(at))).collect();
        Some(Self { rings, in_ring, hydrogens, centres, orders })
    }
}

impl PreparedMolecule {
    /// Computes what matching needs.
    #[must_use]
    pub fn new(molecule: &Molecule) -> Self {
        Self(Arc::new(Inner {
            molecule: molecule.clone(),
            target: Target::new(molecule.graph()),
            stereo: Stereo::of(molecule),
            ground: Ground::new(molecule),
        }))
    }

    /// The molecule itself.
    #[must_use]
    pub fn molecule(&self) -> &Molecule {
        &self.0.molecule
    }

    /// The molecule for screening, where it can be screened.
    pub(crate) fn target(&self) -> Option<&Target> {
        self.0.target.as_ref()
    }

    /// The molecule for disconnections on the graph, where they can be made.
    pub(crate) fn ground(&self) -> Option<&Ground> {
        self.0.ground.as_ref()
    }

    /// The stereo the molecule states.
    pub(crate) fn stereo(&self) -> &Stereo {
        &self.0.stereo
    }
}
