//! Positions of Fischer indole syntheses: the C–H of the arylhydrazine and the carbon beside the ketone.
//!
//! Sources: Robinson, "The Fischer Indole Synthesis" (1982), chapter 3: 3-substituted phenylhydrazines give 4- and 6-substituted indoles in
//! like amounts, and an unsymmetrical ketone closes at the more substituted carbon; Jeanty, Blu, Suzenet and Guillaumet, Org. Lett. 2009, 11,
//! 5142, for pyridylhydrazines, which close only with a donor on the ring.

use crate::change::{Facts, Step};
use crate::group::{Group, aromatic_positions};
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses Fischer indole syntheses that do not go, or give two isomers.
///
/// # Errors
/// Fails with [`Refusal::Arene`] for a ring that is too poor, and with [`Refusal::Position`] for a mixture or the lesser isomer.
pub fn check(step: &Step<'_>) -> Result<(), Refusal> {
    let it = &step.before;
    for (arene, alpha) in step.joined() {
        let Some(ipso) = closes_indole(step, arene, alpha) else { continue };
        let is_azine = aromatic_positions(&it.structure, arene)
            .iter()
            .any(|&(atom, _)| it.group(atom) == Group::Azine && it.ring(atom) == 6);
        if is_azine {
            return if has_donor(it, ipso) { Ok(()) } else { Err(Refusal::Arene) };
        }
        if has_another_ortho(step, ipso, arene) || closes_elsewhere(step, alpha) {
            return Err(Refusal::Position);
        }
    }
    Ok(())
}

/// Carbon that bears the hydrazine, if the new bond is that between its neighbour and the carbon beside a ketone. A map may also join the neighbour
/// to the ketone itself.
pub fn closes_indole(step: &Step<'_>, arene: u32, alpha: u32) -> Option<u32> {
    let it = &step.before;
    let loses_nitrogen = |nitrogen: u32| {
        it.group(nitrogen) == Group::Hydrazine && step.lost(nitrogen).any(|(gone, _)| it.element(gone) == N)
    };
    let is_carbonyl = |atom: u32| matches!(it.group(atom), Group::Ketone | Group::Aldehyde);
    let is_of_ketone = || is_carbonyl(alpha) || it.is_sp3(alpha) && it.next_to(alpha).any(is_carbonyl);
    if !it.is_aromatic_carbon(arene) || it.hydrogens(arene) == 0 || !is_of_ketone() {
        return None;
    }
    it.next_to(arene).find(|&ipso| it.is_aromatic(ipso) && it.next_to(ipso).any(loses_nitrogen))
}

/// Returns true if an ether or amine is on the ring beside the hydrazine.
fn has_donor(it: &Facts, ipso: u32) -> bool {
    let is_donor = |group: u32| {
        matches!(
            it.group(group),
            Group::ArylEther
                | Group::PoorAniline
                | Group::Aniline
                | Group::TertiaryAniline
                | Group::SecondaryAniline
        )
    };
    aromatic_positions(&it.structure, ipso).iter().any(|&(atom, _)| it.next_to(atom).any(is_donor))
}

/// Returns true if the other position beside the hydrazine is free and gives another product.
fn has_another_ortho(step: &Step<'_>, ipso: u32, arene: u32) -> bool {
    let it = &step.before;
    let is_other = |atom: u32| {
        atom != arene
            && it.is_aromatic_carbon(atom)
            && it.hydrogens(atom) > 0
            && !step.are_equivalent(atom, arene)
    };
    // In naphthalene and its kin the carbon beside the fusion is the one that closes.
    let is_fused = |atom: u32| it.next_to(atom).any(|next| it.is_shared_by_aromatic_rings(next));
    it.next_to(ipso).any(is_other) && !is_fused(arene)
}

/// Returns true if the ketone has a carbon beside it that closes as well or sooner: one with fewer hydrogens, or another with as many, unless an
/// arene or acceptor enolises the first.
fn closes_elsewhere(step: &Step<'_>, alpha: u32) -> bool {
    let it = &step.before;
    let is_favoured = it.is_benzylic_or_allylic(alpha)
        || it.next_to(alpha).filter(|&next| it.is_acceptor(next)).count() > 1;
    let ketone = it.next_to(alpha).find(|&next| it.group(next) == Group::Ketone);
    let Some(ketone) = ketone.filter(|_| it.is_sp3(alpha)) else { return false };
    it.next_to(ketone).any(|other| {
        let hydrogens = it.hydrogens(other);
        other != alpha
            && it.is_sp3(other)
            && hydrogens > 1
            && !step.are_equivalent(other, alpha)
            && (hydrogens < it.hydrogens(alpha) || hydrogens == it.hydrogens(alpha) && !is_favoured)
    })
}
