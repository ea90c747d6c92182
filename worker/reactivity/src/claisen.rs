//! Claisen rearrangements of allyl aryl ethers: the position that takes the allyl group.
//!
//! It goes to the ortho position with its far end first; only if both ortho positions are taken, a second shift brings it to the para position, with the end
//! that it had on oxygen (Castro, Chem. Rev. 2004, 104, 2939). Of two free ortho positions a ring's shorter bond, a donor across from it or an acceptor beside it decides;
//! halogens give mixtures (White and Slater, J. Org. Chem. 1961, 26, 3631).

use crate::change::{Facts, Step};
use crate::group::aromatic_positions;
use crate::queries::*;
use crate::refusal::Refusal;

/// Rearrangement of an allyl aryl ether.
#[derive(Debug, Clone, Copy)]
pub struct Claisen {
    /// Carbon of the ring that bears the oxygen.
    ipso: u32,
    /// Carbon of the ring that takes the allyl group.
    carbon: u32,
    /// Set if the allyl group bonds with the end that was on oxygen, and that end is not like the other.
    keeps_end: bool,
    /// Set if the two ends of the allyl group are alike.
    is_symmetric: bool,
}

impl Claisen {
    /// The rearrangement that puts `allyl` on `carbon` of the arene; `None` for another substitution.
    pub fn of(step: &Step<'_>, carbon: u32, allyl: u32) -> Option<Self> {
        let it = &step.before;
        if !it.is_aromatic_carbon(carbon) || !step.are_in_same_molecule(carbon, allyl) {
            return None;
        }
        let is_freed = |oxygen: u32| {
            it.element(oxygen) == O && it.degree(oxygen) == 2 && step.hydrogens_gained(oxygen) > 0
        };
        let near_end = |far: u32| {
            let middle = it.doubly(far, |next| it.element(next) == C)?;
            it.next_to(middle).find(|&next| next != far && it.is_sp3(next) && it.count(next, O) > 0)
        };
        let far_end = |near: u32| {
            it.next_to(near)
                .find_map(|middle| it.doubly(middle, |next| it.element(next) == C && !it.is_aromatic(next)))
        };
        let (near, far) = if it.is_sp3(allyl) { (allyl, far_end(allyl)?) } else { (near_end(allyl)?, allyl) };
        let oxygen = step.lost(near).map(|(gone, _)| gone).find(|&gone| is_freed(gone))?;
        let ipso = it.next_to(oxygen).find(|&next| it.is_aromatic_carbon(next))?;
        let is_symmetric = it.hydrogens(near) == 2 && it.hydrogens(far) == 2;
        Some(Self { ipso, carbon, keeps_end: allyl == near && !is_symmetric, is_symmetric })
    }

    /// Refuses a position that another one of the ring precedes.
    ///
    /// # Errors
    /// Fails with [`Refusal::Position`].
    pub fn check(self, step: &Step<'_>) -> Result<(), Refusal> {
        let it = &step.before;
        let is_free = |atom: u32| it.is_aromatic_carbon(atom) && it.hydrogens(atom) > 0;
        let ortho: Vec<u32> = it.next_to(self.ipso).filter(|&atom| it.is_aromatic(atom)).collect();
        let is_ortho = ortho.contains(&self.carbon);
        let is_allowed = if is_ortho {
            let rivals = ortho.iter().filter(|&&atom| atom != self.carbon && is_free(atom));
            !self.keeps_end && rivals.copied().all(|rival| self.precedes(it, rival))
        } else {
            let is_para = aromatic_positions(&it.structure, self.ipso).contains(&(self.carbon, 3));
            is_para && !ortho.iter().any(|&atom| is_free(atom)) && (self.keeps_end || self.is_symmetric)
        };
        if is_allowed { Ok(()) } else { Err(Refusal::Position) }
    }

    /// Returns true if the free ortho position takes the allyl group before the other one.
    fn precedes(self, it: &Facts, rival: u32) -> bool {
        let is_beside = |atom: u32, wanted: &dyn Fn(u32) -> bool| {
            it.next_to(atom).any(|next| next != self.ipso && it.is_aromatic(next) && wanted(next))
        };
        let is_fusion = |next: u32| it.is_shared_by_aromatic_rings(next);
        let is_nitrogen = |next: u32| it.element(next) == N;
        let bears = |next: u32, wanted: &dyn Fn(u32) -> bool| {
            it.next_to(next).any(|group| !it.is_aromatic(group) && wanted(group))
        };
        let has = |atom: u32, wanted: &dyn Fn(u32) -> bool| is_beside(atom, &|next| bears(next, wanted));
        for wanted in [&is_fusion as &dyn Fn(u32) -> bool, &is_nitrogen] {
            if is_beside(self.carbon, wanted) != is_beside(rival, wanted) {
                return is_beside(self.carbon, wanted);
            }
        }
        if has(self.carbon, &|_| true) == has(rival, &|_| true) {
            return true;
        }
        if has(self.carbon, &|_| true) {
            return has(self.carbon, &|group| it.impoverishes_ring(group));
        }
        !has(rival, &|group| it.impoverishes_ring(group) || is_halogen(it.element(group)))
    }
}
