//! Partial molecule of a SMILES prefix: its bonds, and which of them are in a ring.
//!
//! Atoms are numbered in the order in which they are written. So an atom's parent, the other end of its chain bond,
//! has a lower number.

use crate::symbol::{Atom, Bond, DoubleBondNeed};

/// Maximum number of atoms, which are kept in a bit set of this size.
pub(crate) const MAX_PARTIAL_ATOMS: usize = 128;
/// Maximum number of neighbours of any atom.
const MAX_PARTIAL_NEIGHBOURS: usize = 6;

/// Atoms and bonds, and the double bonds assigned to the aromatic atoms (see `kekule`).
#[derive(Debug, Default)]
pub(crate) struct PartialMolecule {
    pub(super) places: Vec<PartialAtom>,
    /// True if a bond that is not in a ring may still become part of one.
    pub(super) rings_may_come: bool,
    /// Number of aromatic atoms and aromatic chain bonds that are not in a ring yet.
    pub(super) outside_rings: u32,
}

impl Clone for PartialMolecule {
    fn clone(&self) -> Self {
        Self { places: self.places.clone(), ..*self }
    }

    /// Copies without allocating if this value has held that many atoms before.
    fn clone_from(&mut self, source: &Self) {
        self.places.clone_from(&source.places);
        self.rings_may_come = source.rings_may_come;
        self.outside_rings = source.outside_rings;
    }
}

/// An atom and its bonds.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartialAtom {
    pub(super) atom: Atom,
    /// Valence used, open ring bonds included.
    bonds: u8,
    /// Neighbours, open ring bonds included.
    pub(super) neighbours: u8,
    /// Bonded atoms; the first `len` entries are valid.
    to: [u8; MAX_PARTIAL_NEIGHBOURS],
    len: u8,
    /// Bit mask of the aromatic bonds among these.
    aromatic: u8,
    parent: Option<u8>,
    chain_in_ring: bool,
    pub(super) in_ring: bool,
    /// True if the atom has an explicit double or triple bond.
    pub(super) is_saturated: bool,
    /// Open ring bonds that may become aromatic.
    pub(super) open_rings: u8,
    /// True while the string can still continue from the atom.
    pub(super) is_open: bool,
    /// Neighbour to which the atom's alternating double bond goes.
    pub(super) partner: Option<u8>,
}

impl PartialAtom {
    /// Returns true if the atom can take another bond of this order.
    pub(super) fn has_room(&self, order: u8) -> bool {
        self.neighbours < self.atom.most_neighbours && self.bonds + order <= self.atom.most_bonds
    }

    pub(super) fn aromatic_bonds(&self) -> u8 {
        self.aromatic.count_ones() as u8
    }

    fn is_aromatic(&self) -> bool {
        self.atom.aromatic != DoubleBondNeed::No
    }

    fn take(&mut self, order: u8) {
        self.neighbours += 1;
        self.bonds += order;
        self.is_saturated |= order > 1;
    }

    fn bind(&mut self, other: u8, bond: Bond) {
        // In bounds: `has_room` was true, and no atom has more bonds than `to` has entries.
        self.to[usize::from(self.len)] = other;
        self.aromatic |= u8::from(bond == Bond::Aromatic) << self.len;
        self.len += 1;
    }

    fn is_bound_to(&self, other: u8) -> bool {
        self.to[..usize::from(self.len)].contains(&other)
    }
}

impl PartialMolecule {
    pub(crate) fn clear(&mut self) {
        self.places.clear();
        self.rings_may_come = false;
        self.outside_rings = 0;
    }

    pub(crate) fn is_full(&self) -> bool {
        self.places.len() == MAX_PARTIAL_ATOMS
    }

    /// Returns true if `place` can take another bond of this order.
    pub(crate) fn has_room(&self, place: u8, order: u8) -> bool {
        self.at(place).has_room(order)
    }

    /// Adds an atom, bonded to `parent` if given, and returns its number; `None` if the bond is not possible.
    pub(crate) fn add(&mut self, atom: Atom, parent: Option<(u8, Option<Bond>)>) -> Option<u8> {
        let number = self.places.len() as u8;
        let mut place = PartialAtom {
            atom,
            bonds: 0,
            neighbours: 0,
            to: [0; MAX_PARTIAL_NEIGHBOURS],
            len: 0,
            aromatic: 0,
            parent: parent.map(|(parent, _)| parent),
            chain_in_ring: false,
            in_ring: false,
            is_saturated: false,
            open_rings: 0,
            is_open: true,
            partner: None,
        };
        self.outside_rings += u32::from(place.is_aromatic());
        if let Some((parent, written)) = parent {
            let above = self.at_mut(parent);
            let bond = bond_between(above, &place, written)?;
            if !(above.has_room(bond.order()) && place.has_room(bond.order())) {
                return None;
            }
            above.take(bond.order());
            above.bind(number, bond);
            place.take(bond.order());
            place.bind(parent, bond);
            self.outside_rings += u32::from(bond == Bond::Aromatic);
        }
        self.places.push(place);
        Some(number)
    }

    /// Opens a ring bond and returns true if it is possible.
    pub(crate) fn open_ring(&mut self, place: u8, written: Option<Bond>) -> bool {
        let order = written.map_or(1, Bond::order);
        let place = self.at_mut(place);
        if !place.has_room(order) {
            return false;
        }
        place.take(order);
        place.open_rings += u8::from(may_be_aromatic(written));
        true
    }

    /// Closes a ring bond that was opened at `from` and returns true if it is possible.
    pub(crate) fn close_ring(
        &mut self,
        from: u8,
        opened: Option<Bond>,
        to: u8,
        closed: Option<Bond>,
    ) -> bool {
        let differ = opened.zip(closed).is_some_and(|(opened, closed)| opened != closed);
        if from == to || differ || self.at(from).is_bound_to(to) {
            return false;
        }
        let Some(bond) = bond_between(self.at(from), self.at(to), opened.or(closed)) else { return false };
        let more = bond.order() - opened.map_or(1, Bond::order);
        let first = self.at_mut(from);
        if first.bonds + more > first.atom.most_bonds {
            return false;
        }
        first.bonds += more;
        first.is_saturated |= more > 0;
        first.open_rings -= u8::from(may_be_aromatic(opened));
        first.bind(to, bond);
        let second = self.at_mut(to);
        if !second.has_room(bond.order()) {
            return false;
        }
        second.take(bond.order());
        second.bind(from, bond);
        self.mark_ring(from, to);
        true
    }

    /// Returns the atoms to which `place` has aromatic bonds that are in a ring or may become part of one.
    pub(super) fn aromatic_neighbours(&self, place: u8) -> impl Iterator<Item = u8> + use<> {
        let PartialAtom { to, len, mut aromatic, .. } = *self.at(place);
        for (n, other) in to.iter().enumerate().take(usize::from(len)) {
            if !(self.rings_may_come || self.is_in_ring(place, *other)) {
                aromatic &= !(1 << n);
            }
        }
        to.into_iter().enumerate().filter(move |(n, _)| aromatic >> n & 1 == 1).map(|(_, other)| other)
    }

    /// Returns true if the bond between two neighbours is in a ring.
    fn is_in_ring(&self, one: u8, other: u8) -> bool {
        let (child, parent) = (one.max(other), one.min(other));
        let child = self.at(child);
        child.parent != Some(parent) || child.chain_in_ring
    }

    /// Marks the ring closed by a bond between two atoms: the bond and the chain between them.
    fn mark_ring(&mut self, mut one: u8, mut other: u8) {
        let (first, last) = (one, other);
        while one != other {
            // The later of the two has a parent, since only the very first atom has none.
            let child = one.max(other);
            let place = self.at_mut(child);
            let parent = place.parent.unwrap_or(0);
            let is_new = !place.chain_in_ring;
            place.chain_in_ring = true;
            let bit = place.to[..usize::from(place.len)].iter().position(|to| *to == parent);
            let is_aromatic = bit.is_some_and(|bit| place.aromatic >> bit & 1 == 1);
            self.outside_rings -= u32::from(is_new && is_aromatic);
            self.enter_ring(child);
            self.enter_ring(parent);
            (one, other) = (one.min(other), parent);
        }
        self.enter_ring(first);
        self.enter_ring(last);
    }

    fn enter_ring(&mut self, place: u8) {
        let place = self.at_mut(place);
        let is_new = place.is_aromatic() && !place.in_ring;
        place.in_ring = true;
        self.outside_rings -= u32::from(is_new);
    }

    pub(super) fn at(&self, place: u8) -> &PartialAtom {
        &self.places[usize::from(place)]
    }

    pub(super) fn at_mut(&mut self, place: u8) -> &mut PartialAtom {
        &mut self.places[usize::from(place)]
    }
}

/// Returns true if a bond written like this is aromatic between aromatic atoms. A directional bond is: it marks the
/// configuration of an exocyclic double bond, as in `Cn1cccc/c1=N/C`.
fn may_be_aromatic(written: Option<Bond>) -> bool {
    matches!(written, None | Some(Bond::Aromatic | Bond::Direction))
}

/// Returns the bond that is meant between two atoms, if it is possible.
fn bond_between(one: &PartialAtom, other: &PartialAtom, written: Option<Bond>) -> Option<Bond> {
    if one.is_aromatic() && other.is_aromatic() && may_be_aromatic(written) {
        return Some(Bond::Aromatic);
    }
    Some(written.unwrap_or(Bond::Single)).filter(|bond| *bond != Bond::Aromatic)
}
