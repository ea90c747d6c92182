//! Protecting groups that a step loses although nothing in its medium takes them.
//!
//! Source: Wuts and Greene, "Protective Groups in Organic Synthesis", chart 8: amines and carbonates leave a Boc group. On an indole or azole
//! the base of a coupling takes it.

use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses a substitution or coupling in base that takes the Boc group of another nitrogen along, and the coupling of an acid or the
/// arylation in which the nitrogen of one goes on. Silyl chlorides leave esters.
///
/// # Errors
/// Fails with [`Refusal::Unreactive`], with [`Refusal::CompetingGroup`] beside a stronger acid, or with [`Refusal::Incompatible`] for a Boc amide
/// in hot acid.
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    let is_basic = |event: &Event| {
        matches!(*event,
            Event::Arylation { nucleophile, .. } | Event::Alkylation { nucleophile, .. } | Event::Acylation { nucleophile, .. }
                if !is_freed(events, nucleophile))
            || matches!(event, Event::Coupling { .. } | Event::Heck { .. } | Event::Alkynylation { .. })
    };
    let is_taken_along = |event: &Event| match *event {
        Event::Cleavage { atom, root } => {
            is_boc(it, atom, root) && !it.is_aromatic(atom) && !step.forms_bond(atom)
        }
        _ => false,
    };
    let is_ester = |event: &Event| matches!(*event, Event::Cleavage { atom, .. } if it.group(atom) == Group::EsterOxygen);
    let is_silylation = |event: &Event| matches!(event, Event::Silylation { .. });
    // A base that an amine's alkylation needs leaves the carbonate of a phenol, or the amine takes it before the halide.
    let is_phenol_freed = |event: &Event| {
        matches!(*event, Event::Cleavage { atom, root }
            if it.aryls(atom) > 0 && matches!(it.group(root), Group::Carbonate | Group::Ester) && !step.forms_bond(atom))
    };
    let is_amine_alkylated =
        |event: &Event| matches!(*event, Event::Alkylation { nucleophile, .. } if it.is_amine(nucleophile));
    let is_hidden = events.iter().any(is_taken_along) && events.iter().any(is_basic)
        || events.iter().any(is_phenol_freed) && events.iter().any(is_amine_alkylated)
        || events.iter().any(is_silylation) && events.iter().any(is_ester);
    // The acetyl group of an aniline needs hot acid or alkali, in which enones add water and amines (Wuts and Greene, chapter 7).
    let is_aldol = |event: &Event| matches!(event, Event::Aldol { .. });
    let is_anilide = |event: &Event| {
        matches!(*event, Event::Cleavage { atom, root } if it.group(root) == Group::Amide
            && it.next_to(atom).any(|next| it.is_aromatic(next)))
    };
    let is_hidden = is_hidden || events.iter().any(is_aldol) && events.iter().any(is_anilide);
    // A base that frees a phenol of its acetyl group makes the anion of an imide first.
    let is_imide = |atom: u32| {
        it.group(atom) == Group::ImideNitrogen && it.hydrogens(atom) > 0 && step.is_untouched(atom)
    };
    let is_transferred = |event: &Event| {
        matches!(*event, Event::Alkylation { nucleophile, .. } if it.group(nucleophile) == Group::EsterOxygen
            && it.next_to(nucleophile).any(|next| it.is_aromatic(next)))
    };
    if events.iter().any(is_transferred) && step.atoms().any(is_imide) {
        return Err(Refusal::CompetingGroup);
    }
    let takes_acid = |carbon: u32| it.group(carbon) == Group::Acid;
    let is_coupling =
        events.iter().any(|event| matches!(*event, Event::Acylation { carbon, .. } if takes_acid(carbon)));
    let is_arylated = |amine: u32, new: u32| it.is_aromatic_carbon(new) && !it.is_aromatic(amine);
    let is_exchanged = |amine: u32| {
        let mut new = step.gained(amine).map(|(new, _)| new);
        step.lost(amine).any(|(gone, _)| is_boc(it, amine, gone))
            && new.any(|new| is_coupling || takes_acid(new) || is_arylated(amine, new))
    };
    // The amine that water makes of an isocyanate takes the next one to the urea (March, chapter 16).
    let becomes_amine = |nitrogen: u32| {
        it.group(nitrogen) == Group::IsocyanateNitrogen
            && step
                .image(nitrogen)
                .is_some_and(|image| step.after.hydrogens(image) == 2 && step.after.degree(image) == 1)
    };
    let is_lost = |atom: u32| is_exchanged(atom) || becomes_amine(atom);
    if step.joined().any(|(nitrogen, ketone)| is_enecarbamate_of_boc(step, nitrogen, ketone)) {
        return Err(Refusal::Incompatible);
    }
    if is_hidden || step.atoms().any(is_lost) { Err(Refusal::Unreactive) } else { Ok(()) }
}

/// Returns true for an atom that the step also frees.
fn is_freed(events: &[Event], nucleophile: u32) -> bool {
    events.iter().any(|event| matches!(*event, Event::Cleavage { atom, .. } if atom == nucleophile))
}

/// Returns true for the nitrogen of tert-butyl carbamate and a ketone that becomes the enecarbamate, in acid and heat that take the Boc group off (Wuts and Greene, chapter 7).
fn is_enecarbamate_of_boc(step: &Step<'_>, nitrogen: u32, ketone: u32) -> bool {
    let it = &step.before;
    it.group(ketone) == Group::Ketone
        && step.lost_oxo(ketone)
        && step.hydrogens_gained(ketone) == 0
        && !step.are_in_same_molecule(nitrogen, ketone)
        && it.next_to(nitrogen).any(|root| is_boc(it, nitrogen, root))
}

/// Returns true for the Boc group on a nitrogen.
pub fn is_boc(it: &Facts, atom: u32, root: u32) -> bool {
    it.element(atom) == N
        && it.group(root) == Group::Carbamate
        && it.next_to(root).any(|oxygen| {
            it.element(oxygen) == O
                && it.next_to(oxygen).any(|alkyl| it.is_sp3(alkyl) && it.carbons(alkyl) == 3)
        })
}
