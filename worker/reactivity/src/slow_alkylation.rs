//! Alkylations by nitrogens that are too weak for their partner.
//!
//! Sources: Wuts and Greene, "Greene's Protective Groups", chapter 7, for carbamates, which are no nucleophiles; Smith, "March's Advanced Organic Chemistry", chapters 10 and 17, for diarylamines and
//! for 1,2-dihalides, which bases turn into vinyl halides.

use crate::change::{Facts, Step};
use crate::competition::closed_ring_size;
use crate::event::Event;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses such alkylations.
///
/// # Errors
/// Fails with [`Refusal::Unreactive`].
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    let is_slow = |event: &Event| match *event {
        Event::Alkylation { nucleophile, leaving, .. }
            if it.ring(leaving) == 3 && it.element(leaving) == O =>
        {
            it.group(nucleophile) == Group::CarbamateNitrogen && !it.is_in_ring(nucleophile)
        }
        Event::Alkylation { nucleophile, carbon, leaving } => {
            matches!(it.group(nucleophile), Group::Diarylamine)
                && is_heavy_halogen(it.element(leaving))
                && is_vicinal_dihalide(it, carbon)
                && closed_ring_size(step, nucleophile, carbon).is_none()
        }
        _ => false,
    };
    if events.iter().any(is_slow) { Err(Refusal::Unreactive) } else { Ok(()) }
}

/// Returns true for the carbon of a halide beside one with another.
fn is_vicinal_dihalide(it: &Facts, carbon: u32) -> bool {
    it.next_to(carbon).any(|next| it.is_alkyl_halide(next))
}
