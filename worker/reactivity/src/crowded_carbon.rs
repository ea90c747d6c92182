//! Substitutions beside a carbon that bears no hydrogen, and acylations of tertiary alcohols beside one.
//!
//! Source: Smith, "March's Advanced Organic Chemistry", chapter 10: neopentylic carbons take no SN2, and tertiary ones none at all; chapter 18 for the shift of an aryl group to their cations.

use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses such steps.
///
/// # Errors
/// Fails with [`Refusal::Hindered`].
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    let is_crowded = |event: &Event| match *event {
        Event::Alkylation { nucleophile, carbon, leaving } => {
            is_beside_diarylcarbinol(it, carbon)
                && it.ring(leaving) != 3
                && !step.are_in_same_molecule(nucleophile, carbon)
                || it.count(carbon, CL) > 1 && is_shielded_tertiary(it, nucleophile)
                || it.is_simple_amine(nucleophile)
                    && !it.is_hydroxyl(leaving)
                    && !step.are_in_same_molecule(nucleophile, carbon)
                    && is_secondary_neopentylic(it, carbon)
        }
        Event::Deoxyhalogenation { carbon, .. } => is_beside_diarylcarbinol(it, carbon),
        Event::Acylation { nucleophile, carbon } => {
            matches!(it.group(carbon), Group::Chloroformate | Group::AcylHalide)
                && !step.are_in_same_molecule(nucleophile, carbon)
                && is_shielded_tertiary(it, nucleophile)
        }
        _ => false,
    };
    let is_lost = |(oxygen, nitrogen): (u32, u32)| is_tertiary_on_hydroxylamine(step, oxygen, nitrogen);
    if events.iter().any(is_crowded) || step.joined().any(is_lost) {
        return Err(Refusal::Hindered);
    }
    Ok(())
}

/// Returns true for a secondary carbon beside one with two aryl groups and an oxygen.
fn is_beside_diarylcarbinol(it: &Facts, carbon: u32) -> bool {
    it.is_sp3(carbon)
        && it.hydrogens(carbon) == 1
        && it.next_to(carbon).any(|next| {
            it.is_sp3(next) && it.hydrogens(next) == 0 && it.aryls(next) == 2 && it.count(next, O) == 1
        })
}

/// Returns true for a secondary carbon without a ring of three or an acceptor beside a quaternary carbon: an amine takes hydrogen, or a cation shifts.
fn is_secondary_neopentylic(it: &Facts, carbon: u32) -> bool {
    it.is_sp3(carbon)
        && it.carbons(carbon) == 2
        && it.is_neopentylic(carbon)
        && it.ring(carbon) != 3
        && !it.is_benzylic_or_allylic(carbon)
        && !it.is_alpha(carbon)
}

/// Returns true for the hydroxyl group of a tertiary alcohol beside a quaternary carbon, without a free acid on its own carbon, whose mixed anhydride hands the acyl group over.
fn is_shielded_tertiary(it: &Facts, oxygen: u32) -> bool {
    it.is_hydroxyl(oxygen)
        && it.next_to(oxygen).any(|carbinol| {
            it.is_sp3(carbinol)
                && it.carbons(carbinol) == 3
                && it.is_neopentylic(carbinol)
                && !it.next_to(carbinol).any(|next| it.group(next) == Group::Acid)
        })
}

/// Returns true for the oxygen of a tertiary alcohol that is to take the place of an N-hydroxyl group, as a map may draw a Mitsunobu reaction.
fn is_tertiary_on_hydroxylamine(step: &Step<'_>, oxygen: u32, nitrogen: u32) -> bool {
    let it = &step.before;
    it.group(oxygen) == Group::TertiaryAlcohol
        && it.element(nitrogen) == N
        && step.lost(nitrogen).any(|(gone, _)| it.is_hydroxyl(gone))
}
