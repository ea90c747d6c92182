//! Penams, cephems and other fused azetidinones, whose ring the medium of a step opens.
//!
//! Sources: Page, Acc. Chem. Res. 1984, 17, 144, for hydroxide, alkoxides and acid, which open the strained amide; Wuts and Greene, "Protective Groups in Organic
//! Synthesis", chapter 5, for the esters that chemists take instead: tert-butyl, benzhydryl, benzyl, nitrobenzyl, trichloroethyl and allyl.

use crate::change::{Facts, Step};
use crate::ester_exchange::is_fischer;
use crate::event::Event;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;
use crate::ring_closure::is_saponified;

/// Refuses hydroxide, alkoxides and acid in an alcohol beside such a ring. The acetates of cephalosporins are allylic, and hydroxide takes them in the cold.
///
/// # Errors
/// Fails with [`Refusal::Incompatible`], or with [`Refusal::Unstable`] for a 4-hydroxyazetidinone.
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    let is_kept = |atom: u32| is_fused_lactam(it, atom) && step.is_untouched(atom);
    let is_salt = |atom: u32| becomes_carboxylate(step, atom);
    if events.iter().any(|event| frees_hydroxy_azetidinone(step, event)) {
        return Err(Refusal::Unstable);
    }
    let is_isomerised = |event: &Event| isomerises_cephem(it, event);
    if events.iter().any(is_isomerised) && step.atoms().any(is_kept) {
        return Err(Refusal::Incompatible);
    }
    let is_basic = events.iter().any(|event| opens_lactam(it, event)) || step.atoms().any(is_salt);
    if is_basic && step.atoms().any(is_kept) {
        return Err(Refusal::Incompatible);
    }
    Ok(())
}

/// Returns true for the carbonyl carbon of an azetidinone whose nitrogen is in a second ring.
fn is_fused_lactam(it: &Facts, carbon: u32) -> bool {
    let is_shared = |nitrogen: u32| it.around(nitrogen).iter().filter(|bond| bond.ring > 0).count() == 3;
    it.ring(carbon) == 4
        && it.is_carbonyl(carbon)
        && it.next_to(carbon).any(|next| it.element(next) == N && is_shared(next))
}

/// Returns true for an event in hydroxide, alkoxide or acidic alcohol.
fn opens_lactam(it: &Facts, event: &Event) -> bool {
    match *event {
        Event::Cleavage { atom, root } => {
            is_saponified(it, atom, root) && is_hydrocarbon(it, atom, root)
                || is_acyl_of_alcohol(it, atom, root)
        }
        Event::Acylation { nucleophile, carbon } if it.group(carbon) == Group::Ester => {
            it.is_alcohol(nucleophile)
                || it.next_to(nucleophile).all(|next| it.is_sp3(next)) && it.is_hydroxyl(nucleophile)
        }
        _ => is_fischer(it, event),
    }
}

/// Returns true for the carbon of an alkoxy group without halogen, silicon or an acceptor beside it.
fn is_hydrocarbon(it: &Facts, oxygen: u32, root: u32) -> bool {
    let is_plain = |next: u32| it.is_sp3(next) && it.next_to(next).all(|far| it.element(far) == C);
    it.next_to(root).all(|next| next == oxygen || is_plain(next))
}

/// Returns true for the acyl group of an alcohol that is not allylic.
fn is_acyl_of_alcohol(it: &Facts, oxygen: u32, root: u32) -> bool {
    it.group(oxygen) == Group::EsterOxygen
        && it.group(root) == Group::Ester
        && it
            .next_to(oxygen)
            .any(|carbinol| carbinol != root && it.is_sp3(carbinol) && !it.is_benzylic_or_allylic(carbinol))
}

/// Returns true for the oxygen of a primary alkyl ester that a template writes as a carboxylate.
fn becomes_carboxylate(step: &Step<'_>, oxygen: u32) -> bool {
    let it = &step.before;
    it.group(oxygen) == Group::EsterOxygen
        && step.image(oxygen).is_some_and(|image| step.after.at(image).charge == -1)
        && step
            .lost(oxygen)
            .any(|(root, _)| is_saponified(it, oxygen, root) && is_hydrocarbon(it, oxygen, root))
}

/// Returns true for an acetate on carbon 4 of an azetidinone that leaves a hydroxyl group there, whose hemiaminal opens to the aldehyde.
fn frees_hydroxy_azetidinone(step: &Step<'_>, event: &Event) -> bool {
    let it = &step.before;
    let Event::Cleavage { atom, .. } = *event else { return false };
    let is_lactam_nitrogen = |nitrogen: u32| {
        it.element(nitrogen) == N
            && it.next_to(nitrogen).any(|acyl| it.ring(acyl) == 4 && it.is_carbonyl(acyl))
    };
    it.element(atom) == O
        && it.next_to(atom).any(|carbon| {
            it.is_sp3(carbon) && it.ring(carbon) == 4 && it.next_to(carbon).any(is_lactam_nitrogen)
        })
}

/// Returns true for the allylic acetate of a cephem whose acid is an ester: base moves the double bond of those, and the alcohol closes the lactone.
fn isomerises_cephem(it: &Facts, event: &Event) -> bool {
    let Event::Cleavage { atom, root } = *event else { return false };
    let bears_ester = |alkene: u32| {
        it.doubly(alkene, |far| it.next_to(far).any(|acyl| it.group(acyl) == Group::Ester)).is_some()
    };
    it.group(atom) == Group::EsterOxygen
        && it.group(root) == Group::Ester
        && it.next_to(atom).any(|carbinol| {
            it.is_sp3(carbinol) && it.next_to(carbinol).any(|next| it.is_in_ring(next) && bears_ester(next))
        })
}
