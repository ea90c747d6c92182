//! The stated stereo of a molecule, and the test that a disconnection keeps it.
//!
//! RDKit ignores `@` and `/` when it matches a template, and silently drops a centre if the template rewrites its
//! neighbours; rdchiral refuses such matches. Here a disconnection that loses stated stereo is refused unless the
//! template states that stereo itself and, run forwards, gives exactly the product back, or the centre becomes flat and
//! the caller knows of a way to make it.

use chematic::core::{BondIdx, BondOrder, Chirality, Element, Molecule as Graph};

use super::edit::build::MAX_FLATTENED;
use crate::graph::index::index;
use crate::molecules::molecule::Molecule;

/// The stereo that a molecule states.
#[derive(Debug, Default)]
pub(crate) struct Stereo {
    /// Atoms with a stated configuration.
    pub centres: Vec<u32>,
    /// Double bonds with a stated configuration, as pairs of atoms.
    pub bonds: Vec<(u32, u32)>,
}

impl Stereo {
    /// Collects the stereo that `molecule` states, in its own atom numbers.
    pub fn of(molecule: &Molecule) -> Self {
        if !molecule.as_canonical().contains(['@', '/', '\\']) {
            return Self::default();
        }
        let graph = molecule.graph();
        // In a canonical string every mark is meaningful; in any other, RDKit decides.
        let kept =
            if molecule.is_canonical() { None } else { chematic::smiles::rdkit_legacy_stereo(graph).ok() };
        let centre = |atom: usize| match &kept {
            Some(kept) => kept.atom_tagged[atom],
            None => has_centre(graph, atom),
        };
        let double_bond = |bond: BondIdx| match &kept {
            Some(kept) => kept.bond_stereo[bond.0 as usize] > 1,
            None => has_configuration(graph, bond),
        };
        Self {
            centres: (0u32..).take(graph.atom_count()).filter(|&atom| centre(atom as usize)).collect(),
            bonds: graph
                .bonds()
                .filter(|&(at, _)| double_bond(at))
                .map(|(_, bond)| (bond.atom1.0, bond.atom2.0))
                .collect(),
        }
    }

    /// Returns the centres that are flat in the precursors, atoms of a double bond or an aromatic ring, together with one that is a centre
    /// only beside such an atom (the far end of a 1,4-disubstituted cyclohexane). `None` if other stereo is lost, or
    /// more than two centres. Each precursor is given with the product atom of each of its atoms.
    pub fn flattened<'a>(
        &self,
        product: &Graph,
        parts: impl Iterator<Item = (&'a Molecule, &'a [Option<u32>])> + Clone,
    ) -> Option<Vec<u32>> {
        let find = |wanted: u32| {
            parts.clone().find_map(|(molecule, sources)| {
                let atom = sources.iter().position(|&source| source == Some(wanted))?;
                Some((molecule.graph(), sources, atom))
            })
        };
        let is_kept_bond = |&(from, to): &(u32, u32)| {
            find(from).is_some_and(|(graph, sources, atom)| {
                let other = sources.iter().position(|&source| source == Some(to));
                let bond = other.and_then(|other| graph.bond_between(index(atom), index(other)));
                bond.is_some_and(|(bond, _)| has_configuration(graph, bond))
            })
        };
        let mut lost = Vec::new();
        let mut has_flat = false;
        for &centre in &self.centres {
            let (graph, _, atom) = find(centre)?;
            if has_centre(graph, atom) {
                continue;
            }
            lost.push(centre);
            let neighbours = graph.neighbor_slice(index(atom));
            if graph.atom(index(atom)).aromatic
                || neighbours.iter().any(|&(_, bond)| graph.bond(bond).order == BondOrder::Double)
                || is_sulfide(graph, atom)
            {
                has_flat = true;
            } else if neighbours.len() != product.neighbor_slice(index(centre as usize)).len() {
                return None;
            }
        }
        let is_allowed = lost.is_empty() || has_flat && lost.len() <= MAX_FLATTENED;
        (is_allowed && self.bonds.iter().all(is_kept_bond)).then_some(lost)
    }
}

/// Returns true if the atom is a sulfur between two neighbours: that of a sulfide, or of a thiol.
fn is_sulfide(graph: &Graph, atom: usize) -> bool {
    graph.atom(index(atom)).element == Element::S && graph.neighbor_slice(index(atom)).len() == 2
}

fn has_centre(graph: &Graph, atom: usize) -> bool {
    graph.atom(index(atom)).chirality != Chirality::None
}

/// Returns true if the bond is a double bond with a direction at each end.
fn has_configuration(graph: &Graph, at: BondIdx) -> bool {
    let bond = graph.bond(at);
    let directed = |atom| {
        graph.neighbor_slice(atom).iter().any(|&(_, other)| {
            other != at
                && (matches!(graph.bond(other).order, BondOrder::Up | BondOrder::Down)
                    || graph.bond_direction(other).is_some())
        })
    };
    bond.order == BondOrder::Double && directed(bond.atom1) && directed(bond.atom2)
}
