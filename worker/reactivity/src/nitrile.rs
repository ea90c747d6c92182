//! Nitriles that take a nitrogen or oxygen nucleophile, and what makes them do so.
//!
//! Sources: Roger and Neilson, Chem. Rev. 1961, 61, 179, for imidates, which hydrogen chloride makes of plain nitriles and alkoxide only of those with acceptors; Shriner and
//! Neumann, Chem. Rev. 1944, 35, 351, for amidines.

use chem::Order;

use crate::change::{Facts, Step};
use crate::cleavage::keeps_lewis_acid_labile_group;
use crate::competition::closed_ring_size;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses additions to plain alkyl nitriles that nothing helps, or whose acid takes a protecting group off, and amidines beside a free amine.
///
/// # Errors
/// Fails with [`Refusal::Unreactive`], [`Refusal::Incompatible`], [`Refusal::Strained`] or [`Refusal::CompetingGroup`].
pub fn check(step: &Step<'_>) -> Result<(), Refusal> {
    let it = &step.before;
    if step.joined().any(|(nitrogen, carbon)| is_amidine_beside_amine(step, nitrogen, carbon)) {
        return Err(Refusal::CompetingGroup);
    }
    if step.joined().any(|(nitrogen, carbon)| is_ritter_within_ring(step, nitrogen, carbon)) {
        return Err(Refusal::Strained);
    }
    let Some(nitrile) = step.atoms().find(|&atom| it.group(atom) == Group::Nitrile && is_plain(it, atom))
    else {
        return Ok(());
    };
    if becomes_triazole(step, nitrile) {
        return Err(Refusal::Unreactive);
    }
    let needs_acid = |(other, _)| match it.group(other) {
        Group::Ammonia => true,
        Group::PrimaryAlcohol => becomes_imidate(step, nitrile),
        _ => false,
    };
    if step.gained(nitrile).any(needs_acid) && keeps_lewis_acid_labile_group(step) {
        return Err(Refusal::Incompatible);
    }
    Ok(())
}

/// Returns true for the nitrogen of a nitrile and a saturated carbon of its own chain that close a small ring: the nitrilium ion of a Ritter reaction is straight (Krimen and Cota, Org. React.
/// 1969, 17, 213).
fn is_ritter_within_ring(step: &Step<'_>, nitrogen: u32, carbon: u32) -> bool {
    let it = &step.before;
    it.group(nitrogen) == Group::NitrileNitrogen
        && step.are_in_same_molecule(nitrogen, carbon)
        && step.image(carbon).is_some_and(|image| step.after.is_sp3(image) && step.after.carbons(image) == 3)
        && closed_ring_size(step, nitrogen, carbon).is_some_and(|size| size < 7)
}

/// Returns true for a nitrogen and the carbon of an imidate, thioimidate or nitrile that becomes an amidine beside a second free amine, which takes it as well.
fn is_amidine_beside_amine(step: &Step<'_>, nitrogen: u32, carbon: u32) -> bool {
    let it = &step.before;
    let loses_alcohol = || step.lost(carbon).any(|(gone, _)| matches!(it.element(gone), O | S));
    let is_imidate = || {
        it.doubly(carbon, |next| it.element(next) == N).is_some()
            && it.carbons(carbon) == 1
            && loses_alcohol()
    };
    let becomes_amidine = || {
        step.image(carbon).is_some_and(|image| {
            step.after.count(image, N) == 2
                && !step.after.is_aromatic(image)
                && step.after.carbons(image) == 1
        })
    };
    it.is_simple_amine(nitrogen)
        && it.element(carbon) == C
        && (it.group(carbon) == Group::Nitrile || is_imidate())
        && becomes_amidine()
        && step
            .atoms()
            .any(|atom| it.is_amine(atom) && step.is_untouched(atom) && !step.are_equivalent(atom, nitrogen))
}

/// Returns true for a nitrile on a saturated carbon with hydrogen and no acceptor or halogen.
fn is_plain(it: &Facts, nitrile: u32) -> bool {
    it.next_to(nitrile).any(|alpha| {
        it.is_sp3(alpha)
            && it.hydrogens(alpha) > 0
            && it.next_to(alpha).filter(|&next| it.is_acceptor(next)).count() == 1
            && !it.next_to(alpha).any(|next| is_halogen(it.element(next)))
    })
}

/// Returns true for a nitrile and a hydrazide that close a triazole: the base and heat that this needs leave alkyl nitriles, or take off what is β to them; chemists make the imidate
/// or amidine first.
fn becomes_triazole(step: &Step<'_>, nitrile: u32) -> bool {
    let it = &step.before;
    step.image(nitrile).is_some_and(|image| step.after.is_aromatic(image))
        && step.gained(nitrile).any(|(nitrogen, _)| it.group(nitrogen) == Group::Hydrazine)
}

/// Returns true for the carbon of a nitrile that keeps a double bond to its nitrogen.
pub fn becomes_imidate(step: &Step<'_>, carbon: u32) -> bool {
    step.before.group(carbon) == Group::Nitrile
        && step.reordered(carbon).any(|(_, was, now)| was == Order::Triple && now == Order::Double)
}
