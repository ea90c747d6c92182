//! Detection of matches that build the same molecules, before canonicalisation.
//!
//! A template with three equivalent groups (a Boc group, a trifluoromethyl group) matches six times at one place, and
//! every match builds the same graph of the same atoms. Writing that graph atom by atom and comparing costs a
//! fiftieth of canonicalising it.

use std::collections::HashSet;

use chem_fast::is_odd;
use chematic::core::{BondIdx, BondOrder, Chirality, Molecule as Graph};
use chematic::rxn::transform::{ReactantAtom, TracedProduct};

use crate::graph::index::index;

/// The graphs seen so far, each written in terms of its source atoms.
#[derive(Default)]
pub(super) struct Duplicates {
    seen: HashSet<Vec<u32>>,
}

impl Duplicates {
    /// Returns true if these molecules form a graph that was seen before. `name` gives each source atom a number
    /// below 2^20.
    pub fn contains(&mut self, products: &[TracedProduct], name: impl Fn(&ReactantAtom) -> u32) -> bool {
        let mut text = Vec::with_capacity(256);
        let mut new = FIRST_NEW;
        for product in products {
            describe(product, &name, &mut new, &mut text);
        }
        !self.seen.insert(text)
    }
}

/// First number of the atoms that the template adds, in the order in which it writes them.
const FIRST_NEW: u32 = 1 << 20;

fn describe(
    product: &TracedProduct,
    name: impl Fn(&ReactantAtom) -> u32,
    new: &mut u32,
    text: &mut Vec<u32>,
) {
    let graph = &product.molecule;
    let names: Vec<u32> = product
        .atom_sources
        .iter()
        .map(|source| match source {
            Some(source) => name(source),
            None => {
                *new += 1;
                *new
            }
        })
        .collect();
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_unstable_by_key(|&atom| names[atom]);
    let mut around = Vec::with_capacity(8);
    for at in order {
        let atom = graph.atom(index(at));
        text.push(names[at]);
        text.push(
            u32::from(atom.element.atomic_number())
                | u32::from(atom.charge.cast_unsigned()) << 8
                | u32::from(atom.hydrogen_count.map_or(255, |count| count)) << 16
                | u32::from(atom.aromatic) << 24
                | u32::from(atom.wildcard) << 25,
        );
        text.push(u32::from(atom.isotope.unwrap_or(0)));
        text.push(handedness(graph, at, &names));
        around.clear();
        around.extend(
            graph
                .neighbor_slice(index(at))
                .iter()
                .map(|&(neighbour, bond)| (names[neighbour.0 as usize], bond_from(graph, bond, at))),
        );
        around.sort_unstable();
        for &(neighbour, order) in &around {
            text.push(neighbour);
            text.push(order);
        }
        text.push(u32::MAX);
    }
}

/// Encodes the bond as seen from one of its atoms, so that `/` from one end is `\` from the other.
fn bond_from(graph: &Graph, at: BondIdx, atom: usize) -> u32 {
    let bond = graph.bond(at);
    let reversed = bond.atom1.0 as usize != atom;
    let code = |order: BondOrder| match (order, reversed) {
        (BondOrder::Up, false) | (BondOrder::Down, true) => 101,
        (BondOrder::Down, false) | (BondOrder::Up, true) => 102,
        (BondOrder::Aromatic, _) => 103,
        (other, _) => u32::from(other.order_int()) | u32::from(reversed && other == BondOrder::Dative) << 7,
    };
    code(bond.order) | graph.bond_direction(at).map_or(0, |direction| code(direction) << 8)
}

/// Returns the sign of a centre with its neighbours in the order of their names; 0 if there is no centre.
fn handedness(graph: &Graph, at: usize, names: &[u32]) -> u32 {
    let sign = match graph.atom(index(at)).chirality {
        Chirality::None => return 0,
        Chirality::Clockwise => 0,
        Chirality::CounterClockwise => 1,
        // Other geometries have no simple sign, so they are never considered equal.
        _ => return u32::MAX - names[at],
    };
    let Some(around) = graph.stereo_neighbor_order(index(at)) else { return 10 + sign };
    let named: Vec<u32> =
        around.iter().map(|&atom| names.get(atom as usize).copied().unwrap_or(u32::MAX)).collect();
    20 + (sign + u32::from(is_odd(&named))) % 2
}
