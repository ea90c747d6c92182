//! Molecules in the form that the matcher needs: flat arrays, and a mask for each atom.

use chematic::core::ez_markers::{EzFact, EzFactEnd};
use chematic::core::{AtomIdx, BondOrder, Chirality, Element, Molecule as Graph, STEREO_H_SENTINEL};

use super::masks::{AROMATIC_BOND, Atom, DOUBLE, SINGLE, TRIPLE, features};
use crate::graph::double_bonds;
use crate::graph::index::index;
use crate::molecules::molecule::Molecule;

/// Maximum number of atoms of a molecule in the matcher.
pub(crate) const MAX_ATOMS: usize = 256;

/// Placeholder in a centre's neighbours for a hydrogen that is not an atom of the graph.
pub(crate) const HYDROGEN: u16 = u16::MAX;

/// A stated stereocentre: the sense of rotation of its neighbours in a given order.
#[derive(Debug, Clone)]
pub(crate) struct TargetCentre {
    pub atom: u8,
    pub clockwise: bool,
    pub order: Vec<u16>,
}

/// A double bond of stated configuration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DoubleBond {
    pub ends: [u8; 2],
    /// One neighbour of each end.
    pub sides: [u8; 2],
    /// Set if these are on one side of the bond.
    pub cis: bool,
}

/// Molecules in the form that the matcher needs: a feature word for each atom, and the bonds.
#[derive(Debug, Default)]
pub(crate) struct MatchTarget {
    pub atoms: Vec<Atom>,
    /// Molecule of each atom.
    pub molecule_of: Vec<u8>,
    pub molecules: usize,
    /// Stated stereocentres.
    pub centres: Vec<TargetCentre>,
    /// Double bonds of stated configuration.
    pub double_bonds: Vec<DoubleBond>,
    /// Set if other stereo is stated: other geometries, or marks that may be meaningless.
    pub has_other_stereo: bool,
    pub features: Vec<u64>,
    /// Start of each atom's neighbours in `neighbours`, plus the end.
    pub starts: Vec<u16>,
    /// Neighbour and bond mask, atom after atom.
    pub neighbours: Vec<(u8, u8)>,
}

impl MatchTarget {
    /// Converts molecules; `None` if masks cannot express them: too many atoms, `*`, explicit hydrogen atoms, unusual
    /// bonds.
    pub fn new(molecules: &[&Molecule]) -> Option<Self> {
        let mut target = Self { starts: vec![0], ..Self::default() };
        for molecule in molecules {
            let graph = molecule.graph();
            if target.atoms.len() + graph.atom_count() > MAX_ATOMS {
                return None;
            }
            if graph.atoms().any(|(_, atom)| atom.wildcard || atom.element == Element::H) {
                return None;
            }
            if molecule.is_perceived() || chematic::perception::rdkit_parity_view_is_identity(graph) {
                target.add(graph, molecule.is_perceived())?;
            } else {
                let view = chematic::perception::apply_aromaticity_rdkit_parity_shared(graph);
                target.add(view.as_ref().as_ref().ok()?, false)?;
            }
        }
        Some(target)
    }

    /// Returns the neighbours of an atom and the masks of the bonds to them.
    pub fn around(&self, atom: u8) -> &[(u8, u8)] {
        let atom = usize::from(atom);
        &self.neighbours[usize::from(self.starts[atom])..usize::from(self.starts[atom + 1])]
    }

    /// Adds a molecule; `marks_are_meant` is set if RDKit wrote every stereo mark in it.
    fn add(&mut self, graph: &Graph, marks_are_meant: bool) -> Option<()> {
        let first = self.atoms.len();
        let place = |atom: AtomIdx| u8::try_from(first + atom.0 as usize).ok();
        match double_bonds::stated(graph) {
            Some(double_bonds) if marks_are_meant || double_bonds.is_empty() => {
                for EzFact { ends: [a, b], .. } in double_bonds {
                    let side = |end: EzFactEnd| place(graph.bond(end.reference).other(end.atom)?);
                    self.double_bonds.push(DoubleBond {
                        ends: [place(a.atom)?, place(b.atom)?],
                        sides: [side(a)?, side(b)?],
                        cis: a.up == b.up,
                    });
                }
            }
            _ => self.has_other_stereo = true,
        }
        for at in 0..graph.atom_count() {
            let atom = graph.atom(index(at));
            let around = graph.neighbor_slice(index(at));
            match atom.chirality {
                Chirality::None => {}
                sign @ (Chirality::Clockwise | Chirality::CounterClockwise) if marks_are_meant => {
                    let order = graph.stereo_neighbor_order(index(at))?;
                    let name = |&atom: &u32| match atom {
                        STEREO_H_SENTINEL => Some(HYDROGEN),
                        atom => u16::try_from(first + atom as usize).ok(),
                    };
                    self.centres.push(TargetCentre {
                        atom: u8::try_from(first + at).ok()?,
                        clockwise: sign == Chirality::Clockwise,
                        order: order.iter().map(name).collect::<Option<_>>()?,
                    });
                }
                _ => self.has_other_stereo = true,
            }
            let atom = Atom {
                element: atom.element.atomic_number(),
                charge: atom.charge,
                hydrogens: graph.implicit_hydrogen_count(index(at)),
                aromatic: atom.aromatic,
                isotope: atom.isotope.unwrap_or(0),
            };
            self.features.push(features(atom, around.len()));
            self.atoms.push(atom);
            self.molecule_of.push(u8::try_from(self.molecules).ok()?);
            for &(neighbour, bond) in around {
                let order = match graph.bond(bond).order {
                    BondOrder::Double => DOUBLE,
                    BondOrder::Triple => TRIPLE,
                    BondOrder::Aromatic => AROMATIC_BOND,
                    BondOrder::Single | BondOrder::Up | BondOrder::Down => SINGLE,
                    _ => return None,
                };
                self.neighbours.push((u8::try_from(first + neighbour.0 as usize).ok()?, order));
            }
            self.starts.push(u16::try_from(self.neighbours.len()).ok()?);
        }
        self.molecules += 1;
        Some(())
    }
}
