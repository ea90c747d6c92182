//! Questions about a step that its names depend on.

use chem::Order;

use crate::change::{Facts, Step};
use crate::group::Group;
use crate::queries::*;

/// Returns true if a carbon is the far end of a double bond that a group in conjugation activates.
pub fn is_michael_acceptor(it: &Facts, carbon: u32) -> bool {
    it.doubly(carbon, |near| {
        it.element(near) == C && it.next_to(near).any(|next| next != carbon && it.is_acceptor(next))
    })
    .is_some()
}

/// Returns true if an aryl halide is joined to an alkene.
pub fn arylates_alkene(step: &Step<'_>) -> bool {
    let it = &step.before;
    step.joined().any(|(aryl, vinyl)| {
        it.is_aromatic_carbon(aryl)
            && it.group(vinyl) == Group::Alkene
            && step.lost(aryl).any(|(gone, _)| is_halogen(it.element(gone)))
    })
}

/// New bond of an atom.
#[derive(Debug, Clone, Copy)]
pub struct NewBond {
    /// Element at the other end.
    pub element: u8,
    /// Bond order.
    pub order: Order,
    /// Other atom as before the step; `None` if it comes from a reagent that is not listed.
    pub origin: Option<u32>,
    /// Other atom as after the step.
    pub image: u32,
}

impl Step<'_> {
    /// Bonds that an atom gains, to atoms of the reaction mixture and of unlisted reagents.
    pub(super) fn new_bonds(&self, atom: u32) -> impl Iterator<Item = NewBond> + '_ {
        let made = self.gained(atom).filter_map(|(other, order)| {
            let image = self.image(other)?;
            Some(NewBond { element: self.before.element(other), order, origin: Some(other), image })
        });
        let added = self.change.added.iter().filter(move |&&(at, _, _)| at == atom);
        made.chain(added.map(|&(_, image, order)| NewBond {
            element: self.after.element(image),
            order,
            origin: None,
            image,
        }))
    }

    /// Returns true if an atom gains a bond to this element.
    pub fn gains(&self, atom: u32, element: u8) -> bool {
        self.new_bonds(atom).any(|bond| bond.element == element)
    }

    /// Returns true if an atom loses a bond of this order to this element.
    pub fn loses(&self, atom: u32, element: u8, order: Order) -> bool {
        self.lost(atom).any(|(gone, was)| was == order && self.before.element(gone) == element)
    }

    /// Returns true if a carbon loses the oxygen of its carbonyl group.
    pub fn lost_oxo(&self, carbon: u32) -> bool {
        self.before.is_carbonyl(carbon) && self.loses(carbon, O, Order::Double)
    }

    /// Returns true if a carbon is no carbonyl group and becomes one.
    pub(super) fn becomes_carbonyl(&self, carbon: u32) -> bool {
        self.image(carbon).is_some_and(|image| self.after.is_carbonyl(image))
            && !self.before.is_carbonyl(carbon)
    }

    /// Returns true if a nitrogen becomes that of a nitroso group: one oxygen by a double bond, and one other neighbour.
    pub(super) fn becomes_nitroso(&self, nitrogen: u32) -> bool {
        self.before.element(nitrogen) == N
            && self.forms_bond(nitrogen)
            && self.image(nitrogen).is_some_and(|image| {
                let after = self.after;
                after.oxo(image) == 1 && after.degree(image) == 2 && after.at(image).charge == 0
            })
    }

    /// The halogen that leaves a carbon.
    pub(super) fn leaving_halogen(&self, carbon: u32) -> Option<u32> {
        self.lost(carbon).map(|(gone, _)| gone).find(|&gone| is_halogen(self.before.element(gone)))
    }

    /// Returns true if a new bond of an atom is in a ring.
    pub(super) fn gains_ring_bond(&self, atom: u32) -> bool {
        self.image(atom).is_some_and(|image| {
            self.new_bonds(atom)
                .any(|bond| self.after.bond(image, bond.image).is_some_and(|bond| bond.ring > 0))
        })
    }

    /// Carbon–carbon bonds whose order changes, with the orders before and after.
    pub(super) fn carbon_bonds(&self) -> impl Iterator<Item = (u32, u32, Order, Order)> + '_ {
        let is_carbon = |atom: u32| self.before.element(atom) == C;
        self.change.reordered.iter().copied().filter(move |&(a, b, _, _)| is_carbon(a) && is_carbon(b))
    }
}
