//! Partners that cannot form the bond that is drawn: azines that are no bases, sulfur dioxide without a source of chlorine, lactols beside diazo ketones.
//!
//! Sources: Joule and Mills 2010, chapters 4 and 14, for the amination of azine nitrogens, which takes a base;
//! Smith, "March's Advanced Organic Chemistry", chapters 12 and 16, for carbenoids and lactols, which are aldehydes too.

use crate::change::{Facts, Step};
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses such steps.
///
/// # Errors
/// Fails with [`Refusal::Unreactive`] for a partner without the needed lone pair or atom, with [`Refusal::CompetingGroup`] for a lactol.
pub fn check(step: &Step<'_>) -> Result<(), Refusal> {
    let it = &step.before;
    for (from, to) in step.joined() {
        let either = |wanted: &dyn Fn(u32, u32) -> bool| wanted(from, to) || wanted(to, from);
        if either(&|nitrogen, azine| is_aminating(it, nitrogen) && is_weak_azine(it, azine))
            || either(&|sulfur, ring| is_chlorine_missing(step, sulfur, ring))
        {
            return Err(Refusal::Unreactive);
        }
        if either(&|oxygen, carbon| it.group(oxygen) == Group::Hemiacetal && it.is_diazo(carbon)) {
            return Err(Refusal::CompetingGroup);
        }
    }
    Ok(())
}

/// Returns true for the nitrogen of a sulfonyloxyamine.
fn is_aminating(it: &Facts, nitrogen: u32) -> bool {
    let is_sulfonate =
        |oxygen: u32| it.element(oxygen) == O && it.next_to(oxygen).any(|next| it.element(next) == S);
    it.element(nitrogen) == N && it.hydrogens(nitrogen) == 2 && it.next_to(nitrogen).any(is_sulfonate)
}

/// Returns true for a ring nitrogen beside a carbon with a halogen.
fn is_weak_azine(it: &Facts, nitrogen: u32) -> bool {
    it.element(nitrogen) == N
        && it.is_aromatic(nitrogen)
        && it.ring(nitrogen) == 6
        && it.next_to(nitrogen).any(|ring| it.next_to(ring).any(|next| is_halogen(it.element(next))))
}

/// Returns true for the sulfur of sulfur dioxide that joins a ring as sulfonyl chloride though no partner gives chlorine.
fn is_chlorine_missing(step: &Step<'_>, sulfur: u32, ring: u32) -> bool {
    let it = &step.before;
    it.element(sulfur) == S
        && it.degree(sulfur) == 2
        && it.count(sulfur, O) == 2
        && it.is_aromatic(ring)
        && it.next_to(ring).any(|next| is_heavy_halogen(it.element(next)))
        && step.image(sulfur).is_some_and(|image| step.after.count(image, CL) > 0)
        && !step.gained(sulfur).any(|(other, _)| it.element(other) == CL)
}
