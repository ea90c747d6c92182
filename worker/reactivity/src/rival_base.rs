//! Strong bases of the mixture that take the electrophile meant for another site: tertiary amines, free amidines, ammonia with an imide.
//!
//! Sources: Clayden, Greeves and Warren, chapter 8, for amidines, whose salts chemists use; Wuts and Greene, chapter 7, for phthalimides, which ammonia and methylamine open; Smith, "March's Advanced Organic Chemistry", chapter 10 (Menshutkin), where methyl, benzyl and allyl halides lead by two orders of magnitude.

use crate::change::{Facts, Step};
use crate::cleavage::is_open_imide;
use crate::event::Event;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses methyl, benzyl and allyl halides of weak bases beside a tertiary amine, electrophiles of anilines and phenols beside a free amidine, acids with an amine of their own, and ammonia beside a phthalimide. Alkoxides and
/// enolates are faster than amines.
///
/// # Errors
/// Fails with [`Refusal::CompetingGroup`].
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    let is_quaternised = |event: &Event| match *event {
        Event::Alkylation { nucleophile, carbon, leaving } => {
            is_weak_base(it, nucleophile)
                && is_fast(it, carbon, leaving)
                && step.atoms().any(|atom| {
                    (is_open_amine(it, atom) || is_imino_azine(it, atom)) && step.is_untouched(atom)
                })
        }
        _ => false,
    };
    let leaves_amidine = |event: &Event| {
        takes_weak_nucleophile(it, event)
            && step.atoms().any(|atom| is_free_amidine(it, atom) && step.is_untouched(atom))
    };
    let couples_with_itself = |event: &Event| match *event {
        Event::Acylation { nucleophile, carbon } => {
            it.group(carbon) == Group::Acid
                && it.element(nucleophile) == N
                && !step.are_in_same_molecule(nucleophile, carbon)
                && step.atoms().any(|atom| {
                    is_rival_of_amide(it, atom)
                        && step.is_untouched(atom)
                        && step.are_in_same_molecule(atom, carbon)
                })
        }
        _ => false,
    };
    let is_lost =
        |event: &Event| is_quaternised(event) || leaves_amidine(event) || couples_with_itself(event);
    if events.iter().any(is_lost) || opens_imide(step) { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Returns true for a primary amine, and a secondary one unless two branched carbons of an open chain crowd it, as that of enalapril.
fn is_rival_of_amide(it: &Facts, amine: u32) -> bool {
    it.is_amine(amine)
        && (it.group(amine) == Group::PrimaryAmine
            || it.is_in_ring(amine)
            || it.next_to(amine).any(|next| it.carbons(next) < 2))
}

/// Returns true for the free imino group of an N-alkylated aminoazine, an amidine (Joule and Mills 2010, chapter 14).
fn is_imino_azine(it: &Facts, nitrogen: u32) -> bool {
    it.element(nitrogen) == N
        && it.hydrogens(nitrogen) == 1
        && it.doubly(nitrogen, |carbon| it.is_aromatic(carbon) && it.ring(carbon) == 6).is_some()
}

/// Returns true for an aryl, acyl or alkyl group that an aniline or a phenol takes.
fn takes_weak_nucleophile(it: &Facts, event: &Event) -> bool {
    match *event {
        Event::Arylation { nucleophile, .. }
        | Event::Acylation { nucleophile, .. }
        | Event::Alkylation { nucleophile, .. } => matches!(
            it.group(nucleophile),
            Group::Aniline | Group::SecondaryAniline | Group::PoorAniline | Group::Phenol
        ),
        _ => false,
    }
}

/// Returns true for the amino group of a benzamidine or other amidine of a carbon chain, which no group tames.
fn is_free_amidine(it: &Facts, amine: u32) -> bool {
    let is_carbamimidoyl = |carbon: u32| {
        it.element(carbon) == C
            && !it.is_aromatic(carbon)
            && it.count(carbon, N) == 2
            && it.count(carbon, C) == 1
    };
    it.group(amine) == Group::Amidine
        && it.hydrogens(amine) == 2
        && !it.is_in_ring(amine)
        && it.next_to(amine).any(is_carbamimidoyl)
}

/// Returns true if ammonia or methylamine reacts elsewhere and leaves a phthalimide.
fn opens_imide(step: &Step<'_>) -> bool {
    let it = &step.before;
    let is_small = |atom: u32| {
        !step.is_untouched(atom)
            && (it.group(atom) == Group::Ammonia
                || it.group(atom) == Group::PrimaryAmine
                    && it.next_to(atom).all(|next| it.hydrogens(next) == 3))
    };
    step.atoms().any(is_small) && step.atoms().any(|atom| is_open_imide(it, atom) && step.is_untouched(atom))
}

/// Returns true for a nucleophile whose anion a carbonate makes, or hydride of an amide.
fn is_weak_base(it: &Facts, nucleophile: u32) -> bool {
    matches!(
        it.group(nucleophile),
        Group::Phenol
            | Group::AcidOxygen
            | Group::Azole
            | Group::Indole
            | Group::AmideNitrogen
            | Group::SulfonamideNitrogen
            | Group::ImideNitrogen
    )
}

/// Returns true for methyl iodide, dimethyl sulfate, and the bromides and iodides of benzyl and allyl.
fn is_fast(it: &Facts, carbon: u32, leaving: u32) -> bool {
    let leaves = matches!(it.element(leaving), BR | I) || it.group(leaving) == Group::SulfonateOxygen;
    leaves && (it.hydrogens(carbon) == 3 || it.hydrogens(carbon) == 2 && it.is_benzylic_or_allylic(carbon))
}

/// Returns true for a tertiary amine with a methyl group and no branch beside the nitrogen.
fn is_open_amine(it: &Facts, amine: u32) -> bool {
    it.group(amine) == Group::TertiaryAmine
        && it.next_to(amine).any(|methyl| it.hydrogens(methyl) == 3)
        && it.next_to(amine).all(|next| it.is_sp3(next) && it.hydrogens(next) > 1)
}
