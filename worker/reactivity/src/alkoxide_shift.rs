//! Tertiary alkoxides that rearrange or fall apart before a halide takes them.
//!
//! Sources: Paquette and Hofferberth, Org. React. 2003, 62, 477, for α-ketols; Payne, J. Org. Chem. 1962, 27, 3819, for epoxy alcohols; Clayden, Greeves and Warren, chapter 26, for aldols,
//! which base takes apart.

use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses the alkylation of such an alkoxide.
///
/// # Errors
/// Fails with [`Refusal::SelfReacting`].
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    let is_lost = |event: &Event| match *event {
        Event::Alkylation { nucleophile, leaving, .. } => {
            it.group(nucleophile) == Group::TertiaryAlcohol
                && is_heavy_halogen(it.element(leaving))
                && it.next_to(nucleophile).any(|carbinol| shifts(it, carbinol))
        }
        _ => false,
    };
    if events.iter().any(is_lost) { Err(Refusal::SelfReacting) } else { Ok(()) }
}

/// Returns true for the carbon of a tertiary alcohol with an aryl group, beside a ketone, aldehyde or epoxide, or a β-hydroxy ester's.
fn shifts(it: &Facts, carbinol: u32) -> bool {
    let is_enolisable = |alpha: u32| {
        it.is_sp3(alpha)
            && it.hydrogens(alpha) > 0
            && it.next_to(alpha).any(|acyl| it.group(acyl) == Group::Ester)
    };
    it.aryls(carbinol) > 0
        && it.next_to(carbinol).any(|next| {
            matches!(it.group(next), Group::Ketone | Group::Aldehyde)
                || it.is_beside_epoxide_oxygen(next)
                || is_enolisable(next)
        })
}
