//! Six-membered rings that become aromatic by themselves: keto tautomers of phenols, and enones that lose an alcohol to one.
//!
//! Sources: Clayden, Greeves and Warren, chapter 20, for phenol, which is the enol of a cyclohexadienone; Smith, "March's Advanced Organic
//! Chemistry", chapter 17, for the loss of β-hydroxyl groups; Karpf and Trussardi, J. Org. Chem. 2001, 66, 2044, for shikimates, which
//! aromatise when a carbonyl group is set beside their double bond.

use chem::Order;

use crate::change::{Facts, Step};
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses steps with such a ring in a precursor or in the product, and Birch reductions of rings that are not for them.
///
/// # Errors
/// Fails with [`Refusal::Unstable`], or with [`Refusal::CompetingGroup`] for a Birch reduction.
pub fn check(step: &Step<'_>) -> Result<(), Refusal> {
    let has_ring = |it: &Facts| (0..it.atoms() as u32).any(|atom| aromatises(it, atom));
    if has_ring(&step.before) || has_ring(step.after) {
        return Err(Refusal::Unstable);
    }
    if step.atoms().any(|atom| is_poor_birch(step, atom)) { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Returns true for a carbon of a benzene ring that gains hydrogen where the ring keeps double bonds, as dissolving metals leave them, if a heteroarene is fused
/// to the ring or a group on it takes the electrons first (Rabideau and Marcinow, Org. React. 1992, 42, 1).
fn is_poor_birch(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_reduced = it.is_aromatic_carbon(carbon)
        && step.hydrogens_gained(carbon) == 1
        && step.gained(carbon).next().is_none()
        && step.image(carbon).is_some_and(|image| step.after.is_sp3(image));
    let benzene = || {
        let bond = it.around(carbon).iter().find(|bond| bond.ring == 6 && bond.order == Order::Aromatic)?;
        it.smallest_cycle(carbon, bond.to)
            .filter(|ring| ring.len() == 6 && ring.iter().all(|&atom| it.is_aromatic_carbon(atom)))
    };
    let is_alkene =
        |atom: u32| step.image(atom).is_some_and(|image| step.after.group(image) == Group::Alkene);
    let takes_electrons = |next: u32| {
        it.is_nitro(next)
            || it.is_aromatic(next) && it.element(next) != C
            || matches!(it.group(next), Group::Ester | Group::Ketone | Group::Aldehyde | Group::Nitrile)
    };
    is_reduced
        && benzene().is_some_and(|ring| {
            ring.iter().any(|&atom| is_alkene(atom))
                && ring.iter().any(|&atom| it.next_to(atom).any(takes_electrons))
        })
}

/// Returns true if the atom is the carbon of a ring's C=O or C=N bond, and the ring turns into a phenol or aniline by a shift of hydrogen or the
/// loss of an alcohol; or the carbon of a cyclohexadiene with nitrogen on it that loses an alcohol.
fn aromatises(it: &Facts, atom: u32) -> bool {
    if it.element(atom) != C || it.is_aromatic(atom) || it.ring(atom) != 6 {
        return false;
    }
    let is_hetero = |next: u32| matches!(it.element(next), O | N);
    let is_head = it
        .doubly(atom, |next| is_hetero(next) && it.bond(atom, next).is_some_and(|bond| bond.ring == 0))
        .is_some();
    let is_enamine = || {
        it.doubly(atom, |next| it.element(next) == C).is_some()
            && it
                .next_to(atom)
                .any(|next| it.element(next) == N && it.is_saturated(next) && it.ring(next) == 0)
    };
    (is_head || is_enamine()) && ring_of(it, atom).is_some_and(|ring| becomes_aromatic(it, &ring, is_head))
}

/// Carbocycle of six that contains the atom, if it is in no aromatic ring.
fn ring_of(it: &Facts, atom: u32) -> Option<Vec<u32>> {
    let next = it.around(atom).iter().find(|bond| bond.ring == 6)?.to;
    let ring = it.smallest_cycle(atom, next)?;
    (ring.len() == 6 && ring.iter().all(|&member| it.element(member) == C && !it.is_aromatic(member)))
        .then_some(ring)
}

fn becomes_aromatic(it: &Facts, ring: &[u32], has_head: bool) -> bool {
    let mut inside = 0;
    let mut outside = 0;
    for (place, &member) in ring.iter().enumerate() {
        let next = ring[(place + 1) % 6];
        inside += usize::from(it.bond(member, next).is_some_and(|bond| bond.order == Order::Double));
        let is_exocyclic = |other: u32| !ring.contains(&other) && matches!(it.element(other), O | N);
        outside += usize::from(it.doubly(member, is_exocyclic).is_some());
    }
    let saturated = || ring.iter().copied().filter(|&member| it.is_saturated(member));
    let is_fused = |member: u32| it.around(member).iter().filter(|bond| bond.ring > 0).count() > 2;
    if saturated().any(|member| it.hydrogens(member) == 0 || is_fused(member)) || saturated().next().is_none()
    {
        return false;
    }
    let bonds = inside + outside;
    if has_head && inside > 0 && bonds == 3 {
        return saturated().count() < 4;
    }
    // One more double bond comes from the loss of a group β to the carbonyl group, or from a diene's allylic carbon.
    let leaves = |member: u32| {
        it.next_to(member).any(|next| !ring.contains(&next) && it.element(next) == O && it.is_saturated(next))
    };
    let is_acid =
        |member: u32| it.next_to(member).any(|next| ring.contains(&next) && it.carbonyl(next).is_some());
    let beside = |member: u32| it.next_to(member).filter(|next| ring.contains(next));
    let is_beta = |member: u32| beside(member).any(|alpha| it.is_saturated(alpha) && is_acid(alpha));
    bonds == 2
        && inside > 0
        && saturated().any(|member| {
            leaves(member)
                && !is_acid(member)
                && if has_head {
                    is_beta(member)
                } else {
                    inside == 2 && beside(member).any(|next| it.is_saturated(next))
                }
        })
}
