//! Groups that are put on last, because the medium of other steps takes them off or changes them: N-hydroxymethyl groups and free
//! phosphates.
//!
//! Sources: Bundgaard and Johansen, J. Pharm. Sci. 1980, 69, 44, for the loss of formaldehyde from N-hydroxymethyl amides and azoles, which base
//! catalyses; Krise and others, J. Med. Chem. 1999, 42, 3094, for phosphonooxymethyl prodrugs, whose phosphate is protected until the end;
//! Corbridge, "Phosphorus" (2013), chapter 5, for what acylates and alkylates phosphates.

use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses steps that carry such a group through a medium that it does not survive.
///
/// # Errors
/// Fails with [`Refusal::Incompatible`].
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let is_basic = events.iter().any(|event| is_basic(step, event));
    let activates = events.iter().any(|event| activates_phosphate(step, event));
    let couples = events.iter().any(is_coupling);
    if !is_basic && !activates {
        return Ok(());
    }
    let is_lost = |atom: u32| {
        step.before.element(atom) == O
            && step.before.hydrogens(atom) > 0
            && step.is_untouched(atom)
            && (is_basic && is_hydroxymethyl(step, atom)
                || activates && is_phosphate(step, atom)
                || couples && is_phosphate(step, atom) && is_ester(step, atom)
                || is_basic && is_phosphate(step, atom) && is_on_aminomethyl(step, atom))
    };
    let opens = |event: &Event| match *event {
        // Acid, not base, makes an acetal of an alcohol and a hemiacetal.
        Event::Alkylation { leaving, .. } if step.before.is_hydroxyl(leaving) => false,
        Event::Alkylation { nucleophile, .. } | Event::Arylation { nucleophile, .. } => {
            is_open_lactol(&step.before, nucleophile)
        }
        _ => false,
    };
    if events.iter().any(opens) || step.atoms().any(is_lost) { Err(Refusal::Incompatible) } else { Ok(()) }
}

fn is_coupling(event: &Event) -> bool {
    matches!(event, Event::Coupling { .. } | Event::Heck { .. } | Event::Alkynylation { .. })
}

/// Returns true for the hydroxyl group of a hemiacetal that is no protected sugar: base opens it to the aldehyde, which condenses or eliminates
/// (Clayden, Greeves and Warren, chapter 11).
fn is_open_lactol(it: &Facts, oxygen: u32) -> bool {
    let ethers = || {
        it.distances(oxygen, 4).into_iter().filter(|&(atom, distance)| {
            distance > 2 && it.element(atom) == O && it.hydrogens(atom) == 0 && it.is_saturated(atom)
        })
    };
    it.group(oxygen) == Group::Hemiacetal && ethers().count() < 2
}

/// Returns true for an event in base, or with an amine that takes formaldehyde.
fn is_basic(step: &Step<'_>, event: &Event) -> bool {
    is_coupling(event)
        || match *event {
            Event::Alkylation { .. }
            | Event::Arylation { .. }
            | Event::Hydrolysis { .. }
            | Event::ReductiveAmination { .. } => true,
            Event::Cleavage { atom, .. } => step.before.group(atom) == Group::EsterOxygen,
            Event::Acylation { nucleophile, .. } => step.before.element(nucleophile) == N,
            _ => false,
        }
}

/// Returns true for an event whose reagent takes the O–H of a phosphate.
fn activates_phosphate(step: &Step<'_>, event: &Event) -> bool {
    match *event {
        // A carbanion is a stronger base than a phosphonate.
        Event::Acylation { nucleophile, carbon } => {
            step.before.group(carbon) == Group::Acid || step.before.is_sp3(nucleophile)
        }
        Event::Alkylation { .. } | Event::Sulfonylation { .. } | Event::Aldol { .. } => true,
        _ => false,
    }
}

/// Returns true for the O–H of a hydroxymethyl group on nitrogen.
fn is_hydroxymethyl(step: &Step<'_>, oxygen: u32) -> bool {
    let it = &step.before;
    matches!(it.group(oxygen), Group::Hemiacetal | Group::PrimaryAlcohol)
        && it.next_to(oxygen).any(|carbon| it.hydrogens(carbon) == 2 && it.count(carbon, N) == 1)
}

/// Returns true for the O–H of a phosphoric or phosphonic acid. The phosphate does not change while the step works on it.
fn is_phosphate(step: &Step<'_>, oxygen: u32) -> bool {
    let it = &step.before;
    let is_bystander = |phosphorus: u32| it.element(phosphorus) == P && step.is_untouched(phosphorus);
    it.group(oxygen) == Group::SulfonicOxygen && it.next_to(oxygen).any(is_bystander)
}

/// Returns true for the O–H of the free phosphate of a phosphonooxymethyl group on nitrogen, which hot base and metals take off.
fn is_on_aminomethyl(step: &Step<'_>, oxygen: u32) -> bool {
    let it = &step.before;
    it.next_to(oxygen).flat_map(|phosphorus| it.next_to(phosphorus)).any(|ester| {
        it.element(ester) == O
            && it.next_to(ester).any(|carbon| it.is_sp3(carbon) && it.count(carbon, N) == 1)
    })
}

/// Returns true for the O–H of a phosphoric ester; phosphonic acids bear couplings.
fn is_ester(step: &Step<'_>, oxygen: u32) -> bool {
    let it = &step.before;
    it.next_to(oxygen).all(|phosphorus| it.count(phosphorus, C) == 0)
}
