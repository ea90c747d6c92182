//! Tertiary amines that take the alkyl halide meant for another site.
//!
//! Source: Smith, "March's Advanced Organic Chemistry", chapter 10 (Menshutkin), where methyl, benzyl and allyl halides lead by two orders of magnitude.

use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses such alkylations of phenols, acids, azoles and amides; alkoxides and enolates are faster than amines.
///
/// # Errors
/// Fails with [`Refusal::CompetingGroup`].
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    let is_quaternised = |event: &Event| match *event {
        Event::Alkylation { nucleophile, carbon, leaving } => {
            is_weak_base(it, nucleophile)
                && is_fast(it, carbon, leaving)
                && step.atoms().any(|atom| is_open_amine(it, atom) && step.is_untouched(atom))
        }
        _ => false,
    };
    if events.iter().any(is_quaternised) { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Returns true for a nucleophile whose anion a carbonate makes, or hydride of an amide.
fn is_weak_base(it: &Facts, nucleophile: u32) -> bool {
    matches!(
        it.group(nucleophile),
        Group::Phenol
            | Group::AcidOxygen
            | Group::Azole
            | Group::Indole
            | Group::AmideNitrogen
            | Group::SulfonamideNitrogen
            | Group::ImideNitrogen
    )
}

/// Returns true for methyl iodide, dimethyl sulfate, and the bromides and iodides of benzyl and allyl.
fn is_fast(it: &Facts, carbon: u32, leaving: u32) -> bool {
    let leaves = matches!(it.element(leaving), BR | I) || it.group(leaving) == Group::SulfonateOxygen;
    leaves && (it.hydrogens(carbon) == 3 || it.hydrogens(carbon) == 2 && it.is_benzylic_or_allylic(carbon))
}

/// Returns true for a tertiary amine with a methyl group and no branch beside the nitrogen.
fn is_open_amine(it: &Facts, amine: u32) -> bool {
    it.group(amine) == Group::TertiaryAmine
        && it.next_to(amine).any(|methyl| it.hydrogens(methyl) == 3)
        && it.next_to(amine).all(|next| it.is_sp3(next) && it.hydrogens(next) > 1)
}
