//! Kekulé check of a partial molecule: whether its aromatic atoms can be given double bonds, as the string grows.
//!
//! Every aromatic atom that needs a double bond must have exactly one along an aromatic bond: a matching. One is
//! maintained all the time. Whenever an atom's need becomes certain, it is extended by an alternating path (Berge,
//! 1957). An atom from which the string can still continue waits, since what follows may use its valence or remove
//! its need. So a string is refused at the first symbol after which no continuation is valid.

use super::partial_molecule::{PartialAtom, PartialMolecule};
use crate::symbol::DoubleBondNeed;

/// Limit of steps in a search for a path. Beyond it the string is accepted and the parser decides.
const MAX_SEARCH_STEPS: u32 = 2_000;

/// Search for a path from an atom that lacks a double bond.
struct PathSearch {
    /// Atoms on the path, as a bit set.
    path: u128,
    steps: u32,
}

impl PartialAtom {
    /// Returns true if the atom, as it stands, needs a double bond.
    fn needs(&self) -> bool {
        !self.is_saturated
            && match self.atom.aromatic {
                DoubleBondNeed::Always => true,
                DoubleBondNeed::WithNeighbours(needed) => self.neighbours == needed,
                DoubleBondNeed::Never | DoubleBondNeed::No => false,
            }
    }

    /// Returns true if the atom can take a double bond.
    fn may_have_double_bond(&self) -> bool {
        let may_grow =
            |needed| self.is_open && self.neighbours < needed && self.atom.most_neighbours >= needed;
        match self.atom.aromatic {
            DoubleBondNeed::WithNeighbours(needed) if may_grow(needed) => !self.is_saturated,
            _ => self.needs(),
        }
    }

    /// Returns true if the atom must get a double bond now, from its existing neighbours.
    fn must_have_double_bond(&self) -> bool {
        let waits = self.open_rings > 0 || self.is_open && self.has_room(1);
        !waits && self.needs()
    }

    /// Returns true if the atom has, or can still get, the two aromatic bonds of an aromatic ring.
    fn can_be_in_aromatic_ring(&self) -> bool {
        let room = if self.is_open { self.atom.most_neighbours - self.neighbours } else { 0 };
        self.atom.aromatic == DoubleBondNeed::No || self.aromatic_bonds() + self.open_rings + room >= 2
    }
}

impl PartialMolecule {
    /// Marks `place` as closed to further bonds; returns true if that is valid.
    pub(crate) fn finish(&mut self, place: u8) -> bool {
        let may_come = self.rings_may_come;
        let it = self.at_mut(place);
        it.is_open = false;
        if !may_come && !it.in_ring && it.atom.aromatic != DoubleBondNeed::No {
            return false;
        }
        self.settle(place)
    }

    /// Sets whether bonds outside rings may still become ring bonds; returns true if that is valid.
    pub(crate) fn set_rings_may_form(&mut self, may_come: bool) -> bool {
        let ends = self.rings_may_come && !may_come;
        self.rings_may_come = may_come;
        !ends || self.outside_rings == 0 || self.settle_outside_rings()
    }

    /// Finds a double bond for `place` if it must have one. If it can no longer have one, finds another for its
    /// partner. Returns false if there is none.
    pub(crate) fn settle(&mut self, place: u8) -> bool {
        if let Some(partner) = self.at(place).partner
            && !self.at(place).may_have_double_bond()
        {
            self.part(place, partner);
            if !self.assign_double_bond(partner) {
                return false;
            }
        }
        self.at(place).can_be_in_aromatic_ring() && self.assign_double_bond(place)
    }

    /// Removes double bonds along bonds that turned out not to be in a ring, and finds others.
    fn settle_outside_rings(&mut self) -> bool {
        for place in 0..self.places.len() as u8 {
            let it = self.at(place);
            if it.atom.aromatic == DoubleBondNeed::No {
                continue;
            }
            if !it.in_ring && !it.is_open {
                return false;
            }
            if let Some(partner) = it.partner
                && !self.aromatic_neighbours(place).any(|other| other == partner)
            {
                self.part(place, partner);
                if !(self.assign_double_bond(place) && self.assign_double_bond(partner)) {
                    return false;
                }
            }
        }
        true
    }

    fn part(&mut self, one: u8, other: u8) {
        self.at_mut(one).partner = None;
        self.at_mut(other).partner = None;
    }

    /// Finds a double bond for `place` if it must have one; returns true if done.
    fn assign_double_bond(&mut self, place: u8) -> bool {
        let it = self.at(place);
        if it.partner.is_some() || !it.must_have_double_bond() {
            return true;
        }
        let mut search = PathSearch { path: 1 << place, steps: 0 };
        self.search(place, &mut search) || search.steps >= MAX_SEARCH_STEPS
    }

    /// Gives `place` a double bond to a neighbour, whose previous partner gets another.
    fn search(&mut self, place: u8, search: &mut PathSearch) -> bool {
        for neighbour in self.aromatic_neighbours(place) {
            let it = self.at(neighbour);
            if search.path >> neighbour & 1 == 1
                || !it.may_have_double_bond()
                || search.steps >= MAX_SEARCH_STEPS
            {
                continue;
            }
            search.steps += 1;
            if let Some(partner) = it.partner {
                let pair = 1 << neighbour | 1 << partner;
                search.path |= pair;
                let is_free = !self.at(partner).must_have_double_bond() || self.search(partner, search);
                search.path &= !pair;
                if !is_free {
                    continue;
                }
                if self.at(partner).partner == Some(neighbour) {
                    self.at_mut(partner).partner = None;
                }
            }
            self.at_mut(place).partner = Some(neighbour);
            self.at_mut(neighbour).partner = Some(place);
            return true;
        }
        false
    }
}
