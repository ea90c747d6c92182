//! Open Michael acceptors carried through a step: acrylamides, acrylates, vinyl ketones and sulfones, maleimides.
//!
//! Sources: Mayr and Ofial, Acc. Chem. Res. 2016, 49, 952, for the electrophilicity of acceptors; Jackson and others, J. Med. Chem. 2017, 60,
//! 839, for the additions of amines and thiols to acrylamides in syntheses, which bring the acryloyl group last; Beletskaya and Cheprakov,
//! Chem. Rev. 2000, 100, 3009, for the Heck reaction, which takes an acrylamide as an alkene.

use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses steps that leave an open acceptor beside an amine, a thiolate or a metal that takes it.
///
/// # Errors
/// Fails with [`Refusal::CompetingGroup`], or with [`Refusal::SelfReacting`] for a molecule that adds to itself.
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    if step.joined().any(|(nitrogen, carbon)| adds_beside_acceptor(it, nitrogen, carbon)) {
        return Err(Refusal::Position);
    }
    let takes_alkynoate = |event: &Event| {
        matches!(*event, Event::Acylation { nucleophile, carbon } if it.is_amine(nucleophile)
            && it.group(carbon) == Group::Ester
            && it.next_to(carbon).any(|alkyne| it.triply(alkyne).is_some() && step.is_untouched(alkyne)))
    };
    if events.iter().any(takes_alkynoate) {
        return Err(Refusal::CompetingGroup);
    }
    let is_from_boron = |event: &Event| matches!(*event, Event::ConjugateAddition { nucleophile, .. } if it.group(nucleophile) == Group::Organoboron);
    if events.iter().any(is_from_boron) && step.keeps_free_azole() {
        return Err(Refusal::CompetingGroup);
    }
    let kept: Vec<u32> = step.atoms().filter(|&atom| is_open(it, atom) && step.is_untouched(atom)).collect();
    let Some(&first) = kept.first() else { return Ok(()) };
    let is_donor = |atom: u32| it.is_amine(atom);
    let is_free = |atom: u32| is_donor(atom) && step.is_untouched(atom);
    if step.atoms().any(|atom| is_free(atom) && step.are_in_same_molecule(atom, first)) {
        return Err(Refusal::SelfReacting);
    }
    if step.atoms().any(is_free) {
        return Err(Refusal::CompetingGroup);
    }
    let takes_acceptor = |event: &Event| match *event {
        Event::Arylation { nucleophile, .. } => {
            is_donor(nucleophile) || is_thiol(it, nucleophile) || is_acrylamide(it, nucleophile)
        }
        Event::Alkylation { nucleophile, leaving, .. } => {
            is_donor(nucleophile)
                || is_thiol(it, nucleophile)
                || is_alkoxide(it, nucleophile, leaving)
                    && kept.iter().any(|&end| is_of_vinyl_ketone(it, end))
        }
        Event::ReductiveAmination { nitrogen, .. } => is_donor(nitrogen),
        // Amines add to acrylates before they take the ester.
        Event::Acylation { nucleophile, carbon } => is_donor(nucleophile) && it.group(carbon) == Group::Ester,
        _ => false,
    };
    if events.iter().any(takes_acceptor) { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Returns true for an amine and the carbon of an alkyne that bears an acyl group: it adds to the other one.
fn adds_beside_acceptor(it: &Facts, nitrogen: u32, carbon: u32) -> bool {
    let is_amine = matches!(
        it.group(nitrogen),
        Group::PrimaryAmine | Group::SecondaryAmine | Group::Aniline | Group::SecondaryAniline
    );
    is_amine
        && it.triply(carbon).is_some_and(|end| it.element(end) == C)
        && it.next_to(carbon).any(|next| it.is_carbonyl(next))
}

fn is_thiol(it: &Facts, atom: u32) -> bool {
    matches!(it.group(atom), Group::Thiol | Group::Thiophenol) && it.hydrogens(atom) > 0
}

/// Returns true for an alcohol or phenol that a halide or sulfonate takes as its anion.
fn is_alkoxide(it: &Facts, oxygen: u32, leaving: u32) -> bool {
    matches!(it.group(oxygen), Group::Phenol | Group::PrimaryAlcohol | Group::SecondaryAlcohol)
        && !it.is_hydroxyl(leaving)
}

/// Returns true for the end of the double bond of a vinyl ketone, which takes phenoxides and alkoxides too.
fn is_of_vinyl_ketone(it: &Facts, end: u32) -> bool {
    it.doubly(end, |near| {
        it.element(near) == C && it.next_to(near).any(|next| it.group(next) == Group::Ketone)
    })
    .is_some()
}

/// Returns true for the terminal carbon of an acceptor's double bond, or a carbon of a maleimide's.
fn is_open(it: &Facts, atom: u32) -> bool {
    if it.group(atom) != Group::Alkene || it.hydrogens(atom) == 0 {
        return false;
    }
    let Some(partner) = it.doubly(atom, |next| it.element(next) == C) else { return false };
    let is_maleimide = || {
        it.hydrogens(atom) == 1
            && it
                .next_to(atom)
                .chain(it.next_to(partner))
                .filter(|&next| it.group(next) == Group::Imide)
                .count()
                == 2
    };
    it.hydrogens(atom) == 2 && is_drawn(it, partner) || is_maleimide()
}

/// Returns true for a carbon beside a carbonyl group other than an acid's, a nitrile, a sulfone or a phosphonate.
fn is_drawn(it: &Facts, partner: u32) -> bool {
    it.next_to(partner).any(|next| {
        !it.is_aromatic(next)
            && it.element(next) != N
            && it.is_acceptor(next)
            && !matches!(it.group(next), Group::Acid | Group::Sulfoxide | Group::ImineCarbon)
    })
}

/// Returns true for the nitrogen of an acrylamide.
fn is_acrylamide(it: &Facts, nitrogen: u32) -> bool {
    it.group(nitrogen) == Group::AmideNitrogen
        && it.next_to(nitrogen).any(|acyl| {
            it.is_carbonyl(acyl)
                && it.next_to(acyl).any(|alpha| {
                    it.doubly(alpha, |far| it.element(far) == C && it.hydrogens(far) == 2).is_some()
                })
        })
}
