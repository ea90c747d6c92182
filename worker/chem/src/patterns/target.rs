//! A molecule in the form in which patterns are matched to it.

use chem_fast::valences;
use chematic::core::{BondOrder, Element, Molecule as Graph};

use crate::graph::index::index;
use crate::graph::rings::ring_bonds;
use crate::molecules::ring_set::RingSet;

/// Maximum number of atoms of a target.
const MAX_ATOMS: usize = 128;

/// Kinds of bond, of which a molecule's bond has one: four orders, each outside and in rings.
pub(crate) const SINGLE: u8 = 0b0001_0001;
pub(crate) const DOUBLE: u8 = 0b0010_0010;
pub(crate) const TRIPLE: u8 = 0b0100_0100;
pub(crate) const AROMATIC: u8 = 0b1000_1000;
pub(crate) const RING: u8 = 0b1111_0000;

/// An ordinary molecule: no hydrogens as atoms, no `*`, no bonds other than single, double, triple and aromatic ones.
#[derive(Debug)]
pub(crate) struct PatternTarget {
    pub atoms: Vec<TargetAtom>,
    /// Start of each atom's neighbours in `neighbours`, plus the end.
    starts: Vec<u16>,
    /// Neighbour and kind of bond, atom after atom.
    neighbours: Vec<(u8, u8)>,
}

/// An atom of a target.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TargetAtom {
    pub element: u8,
    pub charge: i8,
    pub hydrogens: u8,
    pub degree: u8,
    /// Bonds and hydrogens, an aromatic ring with alternating double bonds.
    pub valence: u8,
    pub aromatic: bool,
    pub isotope: u16,
    /// Number of rings through the atom.
    pub rings: u8,
    /// Size of the smallest ring through the atom; 0 outside rings.
    pub smallest_ring: u8,
    pub ring_bonds: u8,
}

impl PatternTarget {
    /// Converts a perceived graph; `None` if it is unusual.
    pub fn new(graph: &Graph, rings: &RingSet) -> Option<Self> {
        let count = graph.atom_count();
        if count == 0 || count > MAX_ATOMS {
            return None;
        }
        let cyclic = ring_bonds(graph);
        let mut target = Self {
            atoms: Vec::with_capacity(count),
            starts: vec![0],
            neighbours: Vec::with_capacity(2 * count + 8),
        };
        for at in 0..count {
            let atom = graph.atom(index(at));
            if atom.wildcard || atom.element == Element::H {
                return None;
            }
            let around = graph.neighbor_slice(index(at));
            // Twice the sum of the bond orders.
            let mut halves = 0;
            let mut ring_bonds = 0;
            for &(neighbour, bond) in around {
                let (kind, order) = match graph.bond(bond).order {
                    BondOrder::Single | BondOrder::Up | BondOrder::Down => (SINGLE, 2),
                    BondOrder::Double => (DOUBLE, 4),
                    BondOrder::Triple => (TRIPLE, 6),
                    BondOrder::Aromatic => (AROMATIC, 3),
                    _ => return None,
                };
                halves += order;
                let in_ring = cyclic[bond.0 as usize];
                ring_bonds += u8::from(in_ring);
                let kind = if in_ring { kind & RING } else { kind & !RING };
                target.neighbours.push((u8::try_from(neighbour.0).ok()?, kind));
            }
            target.starts.push(u16::try_from(target.neighbours.len()).ok()?);
            let hydrogens = graph.implicit_hydrogen_count(index(at));
            let (element, charge) = (atom.element.atomic_number(), atom.charge);
            target.atoms.push(TargetAtom {
                element,
                charge,
                hydrogens,
                degree: u8::try_from(around.len()).ok()?,
                valence: valence(element, charge, atom.aromatic, halves + 2 * u32::from(hydrogens)),
                aromatic: atom.aromatic,
                isotope: atom.isotope.unwrap_or(0),
                rings: rings.through(at),
                smallest_ring: rings.smallest(at),
                ring_bonds,
            });
        }
        Some(target)
    }

    /// Returns the neighbours of an atom and the kinds of the bonds to them.
    pub fn around(&self, atom: u8) -> &[(u8, u8)] {
        let atom = usize::from(atom);
        &self.neighbours[usize::from(self.starts[atom])..usize::from(self.starts[atom + 1])]
    }
}

/// Returns the valence of an atom, from twice the sum of its bond orders. As in RDKit's `calculateExplicitValence`,
/// aromatic bonds count one and a half, and an aromatic atom that then exceeds its first valence has that one.
fn valence(element: u8, charge: i8, aromatic: bool, halves: u32) -> u8 {
    let sum = u8::try_from(halves.div_ceil(2)).unwrap_or(u8::MAX);
    // A charged atom has the valences of the element with as many electrons.
    let first =
        valences(element.saturating_add_signed(charge.saturating_neg())).map_or(u8::MAX, |all| all[0]);
    if aromatic && halves > 2 * u32::from(first) && halves <= 2 * u32::from(first) + 3 { first } else { sum }
}
