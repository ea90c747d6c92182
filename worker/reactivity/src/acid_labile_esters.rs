//! Esters of sulfuric and phosphoric acid that acid takes off: aryl hydrogen sulfates and tert-butyl phosphates. A symmetrical bisphenol takes sulfuric acid twice.
//!
//! Sources: Kice and Anderson, J. Am. Chem. Soc. 1966, 88, 5242, for aryl sulfates in acid; Krise and others, J. Med. Chem. 1999, 42, 3094, and
//! Wuts and Greene, "Protective Groups" (2014), chapter 2, for di-tert-butyl phosphates, which dilute trifluoroacetic acid and heat cleave.

use crate::change::Step;
use crate::event::Event;
use crate::group::Group;
use crate::operation::{self, StepOperation};
use crate::protecting_group::protecting_group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses steps that carry such an ester through acid, and the sulfation of one of two like phenols.
///
/// # Errors
/// Fails with [`Refusal::Incompatible`] or [`Refusal::CompetingGroup`].
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let keeps = |wanted: fn(&Step<'_>, u32) -> bool| {
        step.atoms().any(|atom| step.is_untouched(atom) && wanted(step, atom))
    };
    if events.iter().any(|event| is_in_strong_acid(step, event) || is_cleaved_by_acid_alone(step, event))
        && (keeps(is_aryl_sulfate) || keeps(is_tert_butyl_phosphate))
        || events.iter().any(|event| is_in_hot_acid(step, event)) && keeps(is_tert_butyl_phosphate)
    {
        return Err(Refusal::Incompatible);
    }
    let sulfates_one_of_two = |event: &Event| match *event {
        Event::Sulfonylation { nucleophile, sulfur } => {
            step.before.next_to(sulfur).any(|oxygen| step.before.is_hydroxyl(oxygen))
                && step.atoms().any(|atom| {
                    atom != nucleophile && step.are_equivalent(atom, nucleophile) && step.is_untouched(atom)
                })
        }
        _ => false,
    };
    if events.iter().any(sulfates_one_of_two) { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Returns true for the sulfur of the free sulfate of a phenol.
fn is_aryl_sulfate(step: &Step<'_>, sulfur: u32) -> bool {
    let it = &step.before;
    it.element(sulfur) == S
        && it.oxo(sulfur) == 2
        && it.next_to(sulfur).any(|oxygen| it.is_hydroxyl(oxygen))
        && it.next_to(sulfur).any(|oxygen| it.element(oxygen) == O && it.aryls(oxygen) == 1)
}

/// Returns true for the phosphorus of a tert-butyl phosphate or phosphonate that keeps its tert-butyl group.
fn is_tert_butyl_phosphate(step: &Step<'_>, phosphorus: u32) -> bool {
    let it = &step.before;
    let is_tertiary = |alkyl: u32| it.is_sp3(alkyl) && it.carbons(alkyl) == 3;
    it.element(phosphorus) == P
        && it.oxo(phosphorus) == 1
        && it.next_to(phosphorus).any(|oxygen| {
            it.element(oxygen) == O && step.is_untouched(oxygen) && it.next_to(oxygen).any(is_tertiary)
        })
}

/// Returns true for an event in a strong acid or Lewis acid.
fn is_in_strong_acid(step: &Step<'_>, event: &Event) -> bool {
    let by_operation = operation::of_event(step, event).is_some_and(|(operation, _)| {
        matches!(
            operation,
            StepOperation::EtherCleavage
                | StepOperation::Nitration
                | StepOperation::Chlorosulfonation
                | StepOperation::Vilsmeier
        )
    });
    let by_lewis_acid = match *event {
        Event::AromaticSubstitution { electrophile: Some(other), element: C, .. } => {
            matches!(step.before.group(other), Group::AcylHalide | Group::Anhydride)
                || step.lost(other).any(|(gone, _)| is_heavy_halogen(step.before.element(gone)))
        }
        _ => false,
    };
    by_operation || by_lewis_acid
}

/// Returns true for the removal of a group that acid alone takes off.
fn is_cleaved_by_acid_alone(step: &Step<'_>, event: &Event) -> bool {
    let Event::Cleavage { atom, root } = *event else { return false };
    protecting_group(&step.before, atom, root).is_some_and(|group| {
        let removal = group.removal();
        removal.acid > 50 && removal.base == Some(0) && removal.hydrogen == 0 && removal.fluoride == 0
    })
}

/// Returns true for an aniline and an activated halide, which acid and heat join.
fn is_in_hot_acid(step: &Step<'_>, event: &Event) -> bool {
    match *event {
        Event::Arylation { nucleophile, carbon, .. } => {
            step.before.is_arylamine(nucleophile) && crate::electrophile::aryl(&step.before, carbon) > 0
        }
        _ => false,
    }
}
