//! Fluorine for oxygen, by sulfur fluorides: DAST and its relatives.
//!
//! They take alcohols and acids at once, aldehydes and ketones somewhat slower, and N–H as well (Hudlický, Org. React. 1988, 35, 513; Lal
//! and others, J. Org. Chem. 1999, 64, 7048). Aryl ketones without a second activation stay.

use crate::change::{Facts, Step};
use crate::electrophile;
use crate::group::Group;
use crate::queries::*;
use crate::reagent::TIE_MARGIN;
use crate::refusal::Refusal;

/// Rank of a carbonyl group from which the reagents take it within the step: that of dialkyl ketones.
const FLUORINATED: i32 = 60;

/// Refuses fluorinations that leave a group which the reagent takes as well.
///
/// # Errors
/// Fails with [`Refusal::CompetingGroup`].
pub fn check(step: &Step<'_>) -> Result<(), Refusal> {
    let Some(own) = step.atoms().find(|&carbon| exchanges_oxygen(step, carbon)) else { return Ok(()) };
    let least = match electrophile::carbonyl(&step.before, own) {
        0 => FLUORINATED,
        rank => (rank - TIE_MARGIN).min(FLUORINATED),
    };
    let competes = |atom: u32| {
        step.is_untouched(atom)
            && !step.are_equivalent(atom, own)
            && (takes_fluorine(&step.before, atom) || electrophile::carbonyl(&step.before, atom) >= least)
    };
    if step.atoms().any(competes) { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Returns true for a carbon that gains fluorine and loses a hydroxyl group or the oxygen of a carbonyl group.
fn exchanges_oxygen(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    it.element(carbon) == C
        && !it.is_aromatic(carbon)
        && step.image(carbon).is_some_and(|image| step.after.count(image, F) > it.count(carbon, F))
        && step.lost(carbon).any(|(gone, _)| it.element(gone) == O && it.degree(gone) == 1)
}

/// Returns true for an atom with hydrogen that the reagents take.
fn takes_fluorine(it: &Facts, atom: u32) -> bool {
    it.hydrogens(atom) > 0
        && matches!(
            it.group(atom),
            Group::PrimaryAlcohol
                | Group::SecondaryAlcohol
                | Group::TertiaryAlcohol
                | Group::AcidOxygen
                | Group::PrimaryAmine
                | Group::SecondaryAmine
                | Group::Thiol
        )
}
