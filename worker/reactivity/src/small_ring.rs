//! Cyclopropanes that a hydrogen halide opens: the bond that breaks.
//!
//! Source: Reissig and Zimmer, Chem. Rev. 2003, 103, 1151: acid takes the acceptor's carbon, and the halide the neighbour that bears a cation best.

use crate::change::Step;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses a halide at the less substituted of two neighbours of the acceptor.
///
/// # Errors
/// Fails with [`Refusal::CompetingGroup`].
pub fn check(step: &Step<'_>) -> Result<(), Refusal> {
    let is_wrong = |(halide, carbon)| {
        is_heavy_halogen(step.before.element(halide))
            && step.before.degree(halide) == 0
            && opens_at_free_end(step, carbon)
    };
    if step.joined().any(is_wrong) { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Returns true for a carbon of a cyclopropane that leaves one with an acceptor, if the third one has more carbons on it.
fn opens_at_free_end(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_better = |other: u32| {
        other != carbon
            && it.is_cyclopropane(other)
            && it.bond(other, carbon).is_some()
            && it.carbons(other) > it.carbons(carbon)
    };
    it.is_cyclopropane(carbon)
        && step.lost(carbon).any(|(alpha, _)| it.is_alpha(alpha) && it.next_to(alpha).any(is_better))
}
