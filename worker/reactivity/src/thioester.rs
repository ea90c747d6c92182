//! Thioesters, which hydroxide, alkoxides, hydrides and organometallic compounds take before an ester (Janssen, in "The Chemistry of
//! Carboxylic Acids and Esters", ed. Patai, 1969; Clayden, Greeves and Warren, chapter 42). They are made last.

use crate::change::Step;
use crate::event::Event;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses steps whose reagent takes a thioester that stays.
///
/// # Errors
/// Fails with [`Refusal::CompetingGroup`].
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
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

/// Returns true for an aryl halide that adds to a carbonyl group: its lithium or magnesium compound is made in place.
fn makes_organometal(step: &Step<'_>) -> bool {
    let it = &step.before;
    step.joined().any(|(aryl, carbonyl)| {
        it.is_aromatic_carbon(aryl)
            && it.is_carbonyl(carbonyl)
            && step.lost(aryl).any(|(gone, _)| is_heavy_halogen(it.element(gone)))
    })
}
