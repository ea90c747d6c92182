//! Thioesters, which hydroxide, alkoxides, hydrides and organometallic compounds take before an ester (Janssen, in "The Chemistry of
//! Carboxylic Acids and Esters", ed. Patai, 1969; Clayden, Greeves and Warren, chapter 42). They are made last.

use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses steps whose reagent takes a thioester that stays, and thioesters of free amines.
///
/// # Errors
/// Fails with [`Refusal::CompetingGroup`], or with [`Refusal::SelfReacting`] for a thioester with an amine.
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    let is_basic = |event: &Event| matches!(*event, Event::Alkylation { leaving, .. } if is_heavy_halogen(it.element(leaving)));
    if has_open_amine(step.after) && events.iter().any(is_basic) {
        return Err(Refusal::SelfReacting);
    }
    if !step.atoms().any(|atom| it.group(atom) == Group::Thioester && step.is_untouched(atom)) {
        return Ok(());
    }
    let takes_it = |event: &Event| match *event {
        Event::Alkylation { nucleophile, leaving, .. } => {
            it.is_alcohol(nucleophile) && is_heavy_halogen(it.element(leaving))
        }
        // Organozinc compounds take aldehydes before thioesters.
        Event::MetalAddition { metal, .. } => {
            !step.lost(metal).any(|(gone, _)| matches!(it.element(gone), ZN | B | SI | SN))
        }
        Event::AcylReduction { carbon } => it.group(carbon) == Group::Ester,
        Event::Acylation { nucleophile, carbon } => {
            it.group(nucleophile) == Group::Water && it.group(carbon) == Group::Ester
        }
        _ => false,
    };
    if events.iter().any(takes_it) || makes_organometal(step) {
        return Err(Refusal::CompetingGroup);
    }
    Ok(())
}

/// Returns true for a thioester beside a free alkylamine, which takes its acyl group.
fn has_open_amine(it: &Facts) -> bool {
    let atoms = || 0..it.atoms() as u32;
    atoms().any(|atom| it.group(atom) == Group::Thioester) && atoms().any(|atom| it.is_amine(atom))
}

/// Returns true for an aryl halide that adds to a carbonyl group: its lithium or magnesium compound is made in place.
fn makes_organometal(step: &Step<'_>) -> bool {
    let it = &step.before;
    step.joined().any(|(aryl, carbonyl)| {
        it.is_aromatic_carbon(aryl)
            && it.is_carbonyl(carbonyl)
            && step.lost(aryl).any(|(gone, _)| is_heavy_halogen(it.element(gone)))
    })
}
