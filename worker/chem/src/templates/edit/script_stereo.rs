//! The edit that a template makes to configurations.
//!
//! RDKit ignores configurations of the side that it matches, and compares the marks of both sides
//! (`ReactionUtils.cpp`, `updateProductsStereochem`). An atom marked on the written side alone gets the written
//! configuration. An atom marked on the matched side alone loses its configuration. An atom marked on both sides
//! keeps or inverts it. Marks are read here only if the template writes every neighbour in a chain and not by closing
//! a ring: then the order that they refer to is the order of the text.

use chem_fast::is_odd;
use chematic::smarts::{AtomPrimitive, AtomQuery, BondPrimitive, BondQuery, QueryMolecule};

use crate::templates::matching::masks::DOUBLE;
use crate::templates::matching::target::HYDROGEN;

/// The edits of a script to configurations.
#[derive(Debug, Default)]
pub(crate) struct ScriptStereo {
    /// Centres that the script writes.
    pub centres: Vec<WrittenCentre>,
    /// Double bonds that the script writes. The flag is set if the first and last of the four written atoms are on
    /// one side of the double bond between the middle two.
    pub double_bonds: Vec<(bool, [u8; 4])>,
    /// Written atoms that keep their configuration, but inverted.
    pub inverted: Vec<u8>,
    /// Written atoms that lose their configuration.
    pub removed: Vec<u8>,
    /// Set if the matched side states any configuration, so configurations may be lost.
    pub is_matched: bool,
}

/// A tetrahedral centre with all neighbours written.
#[derive(Debug)]
pub(crate) struct WrittenCentre {
    pub atom: u8,
    /// Set if, seen from the first of `order`, the others run clockwise.
    pub clockwise: bool,
    /// Four neighbours: written atoms, or at most one [`HYDROGEN`].
    pub order: [u16; 4],
}

impl ScriptStereo {
    /// Derives the stereo edits of both sides; `becomes` gives the written atom of each matched atom. `None` if they
    /// cannot be followed exactly.
    pub fn new(
        matched: &QueryMolecule,
        written: &QueryMolecule,
        becomes: &[Option<u8>],
        bonds: &[(u8, u8, u8)],
    ) -> Option<Self> {
        let before = centres(matched)?;
        let mut stereo = Self { centres: centres(written)?, ..Self::default() };
        stereo.is_matched =
            !before.is_empty() || matched.bonds.iter().any(|bond| mark(&bond.query) != Some(None));
        for was in before {
            let Some(atom) = becomes[usize::from(was.atom)] else { continue };
            match stereo.centres.iter().position(|now| now.atom == atom) {
                Some(at) => {
                    let now = stereo.centres.remove(at);
                    let swapped = has_odd_parity(&was.maps(matched), &now.maps(written)).unwrap_or(false);
                    if swapped ^ (now.mark() != was.mark()) {
                        stereo.inverted.push(atom);
                    }
                }
                None => stereo.removed.push(atom),
            }
        }
        stereo.double_bonds = double_bonds(written, bonds)?;
        Some(stereo)
    }

    /// Returns true if the script has no stereo edits.
    pub fn is_empty(&self) -> bool {
        self.centres.is_empty()
            && self.double_bonds.is_empty()
            && self.inverted.is_empty()
            && !self.is_matched
    }
}

impl WrittenCentre {
    /// Returns the mark in RDKit's convention, with the hydrogen last.
    fn mark(&self) -> bool {
        self.clockwise ^ (self.order[0] == HYDROGEN)
    }

    /// Returns the map numbers of the neighbours that are atoms; `None` for a neighbour without a map.
    fn maps(&self, side: &QueryMolecule) -> Vec<Option<u16>> {
        let atoms = self.order.iter().filter(|&&atom| atom != HYDROGEN);
        atoms.map(|&atom| side.atoms[usize::from(atom)].atom_map).collect()
    }
}

/// Returns true if the neighbours of one atom are ordered with different parity on the two sides. One neighbour
/// without a map, or without a counterpart, is matched with the missing one (RDKit's
/// `countSwapsBetweenReactantAndProduct`). `None` if there is more than one such neighbour.
fn has_odd_parity(before: &[Option<u16>], after: &[Option<u16>]) -> Option<bool> {
    let completed = |own: &[Option<u16>], other: &[Option<u16>]| {
        let mut own = own.to_vec();
        own.resize(own.len().max(other.len()), None);
        if own.iter().filter(|map| map.is_none()).count() > 1 {
            return None;
        }
        for map in other.iter().filter(|map| map.is_some()) {
            if !own.contains(map) {
                let slot = own.iter().position(Option::is_none)?;
                own[slot] = *map;
            }
        }
        Some(own)
    };
    let before = completed(before, after)?;
    let after = completed(after, &before)?;
    let places: Option<Vec<usize>> =
        after.iter().map(|map| before.iter().position(|other| other == map)).collect();
    Some(is_odd(&places?))
}

/// Returns the marked centres of a side.
fn centres(side: &QueryMolecule) -> Option<Vec<WrittenCentre>> {
    let mut centres = Vec::new();
    for (at, atom) in side.atoms.iter().enumerate() {
        let mut spelling = ChiralityStatement::default();
        spelling.add(&atom.query)?;
        if let Some(clockwise) = spelling.clockwise {
            let order = order_of_neighbours(side, at, spelling.is_plain)?;
            centres.push(WrittenCentre { atom: u8::try_from(at).ok()?, clockwise, order });
        }
    }
    Some(centres)
}

/// Returns the marked double bonds of a side, given its bond orders.
fn double_bonds(side: &QueryMolecule, bonds: &[(u8, u8, u8)]) -> Option<Vec<(bool, [u8; 4])>> {
    let mut marks = Vec::new();
    for (at, bond) in side.bonds.iter().enumerate() {
        match mark(&bond.query)? {
            Some(_) if is_in_ring(side, at) => return None,
            Some(up) => marks.push((at, up)),
            None => {}
        }
    }
    let mut found = Vec::new();
    for &(a, b, _) in bonds.iter().filter(|bond| bond.2 == DOUBLE) {
        let [first, last] = [a, b].map(|end| side_of(side, &marks, end));
        match (first?, last?) {
            (Some((first, above)), Some((last, other_above))) => {
                found.push((above == other_above, [first, a, b, last]));
            }
            (None, None) => {}
            // Only one end is marked.
            _ => return None,
        }
    }
    // Every mark must belong to one double bond; otherwise it could end up at a double bond of the molecule.
    (marks.len() == 2 * found.len()).then_some(found)
}

/// The spelling of an atom, as far as its configuration is concerned.
struct ChiralityStatement {
    clockwise: Option<bool>,
    /// Set if written as in SMILES, `[C@H]`, where the hydrogen has its written position. With more conditions RDKit
    /// reads the hydrogen as one of them, and it comes last.
    is_plain: bool,
}

impl Default for ChiralityStatement {
    fn default() -> Self {
        Self { clockwise: None, is_plain: true }
    }
}

impl ChiralityStatement {
    fn add(&mut self, query: &AtomQuery) -> Option<()> {
        match query {
            AtomQuery::And(a, b) => {
                self.add(a)?;
                self.add(b)
            }
            AtomQuery::Primitive(AtomPrimitive::Chirality(kind)) => match (kind, self.clockwise) {
                (1, None) => {
                    self.clockwise = Some(false);
                    Some(())
                }
                (2, None) => {
                    self.clockwise = Some(true);
                    Some(())
                }
                _ => None,
            },
            AtomQuery::Primitive(AtomPrimitive::Degree(_)) => {
                self.is_plain = false;
                Some(())
            }
            _ => Some(()),
        }
    }
}

/// Returns the neighbours of a centre in written order; `None` if there are not four, or if one is a ring closure.
fn order_of_neighbours(side: &QueryMolecule, at: usize, hydrogen_in_place: bool) -> Option<[u16; 4]> {
    let around = &side.adj[at];
    if around.iter().any(|&(bond, _)| is_in_ring(side, bond)) {
        return None;
    }
    let mut order: Vec<u16> =
        around.iter().map(|&(_, next)| u16::try_from(next).ok()).collect::<Option<_>>()?;
    order.sort_unstable();
    if order.len() == 3 {
        let before = usize::from(order[0] < u16::try_from(at).ok()?);
        order.insert(if hydrogen_in_place { before } else { 3 }, HYDROGEN);
    }
    order.try_into().ok()
}

/// Returns true if a bond is in a ring of the text.
fn is_in_ring(side: &QueryMolecule, bond: usize) -> bool {
    let (from, to) = (side.bonds[bond].atom1, side.bonds[bond].atom2);
    let mut seen = vec![false; side.atoms.len()];
    seen[from] = true;
    let mut stack = vec![from];
    while let Some(at) = stack.pop() {
        for &(by, next) in &side.adj[at] {
            if by != bond && !std::mem::replace(&mut seen[next], true) {
                stack.push(next);
            }
        }
    }
    seen[to]
}

/// Returns the mark of a bond, true if it points up from the atom written first; the outer `None` if the bond states
/// more.
fn mark(query: &BondQuery) -> Option<Option<bool>> {
    match query {
        BondQuery::Primitive(BondPrimitive::Up) => Some(Some(true)),
        BondQuery::Primitive(BondPrimitive::Down) => Some(Some(false)),
        BondQuery::Primitive(_) | BondQuery::Any => Some(None),
        BondQuery::And(a, b) | BondQuery::Or(a, b) => {
            (mark(a)?.is_none() && mark(b)?.is_none()).then_some(None)
        }
        BondQuery::Not(inner) => mark(inner)?.is_none().then_some(None),
    }
}

/// Returns the marked neighbour at one end of a double bond, and true if it lies above the end. `Some(None)` if there
/// is none, `None` if there are several.
fn side_of(side: &QueryMolecule, marks: &[(usize, bool)], end: u8) -> Option<Option<(u8, bool)>> {
    let mut found = marks.iter().filter_map(|&(at, up)| {
        let bond = &side.bonds[at];
        match usize::from(end) {
            end if bond.atom1 == end => Some((bond.atom2, up)),
            end if bond.atom2 == end => Some((bond.atom1, !up)),
            _ => None,
        }
    });
    let first = found.next();
    if found.next().is_some() {
        return None;
    }
    match first {
        Some((atom, above)) => Some(Some((u8::try_from(atom).ok()?, above))),
        None => Some(None),
    }
}
