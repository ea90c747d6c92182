//! Alkoxides that rearrange or fall apart before a halide takes them, and those that an epichlorohydrin becomes.
//!
//! Sources: Paquette and Hofferberth, Org. React. 2003, 62, 477, for α-ketols; Payne, J. Org. Chem. 1962, 27, 3819, for epoxy alcohols; Clayden, Greeves and Warren, chapter 26, for aldols,
//! which base takes apart; McClure, Arison and Baldwin, J. Am. Chem. Soc. 1979, 101, 3666, for epichlorohydrin, whose ring phenoxides open; Wendler, in "Molecular Rearrangements",
//! ed. de Mayo (1964), for the side chain of corticosteroids.

use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses the alkylation of such an alkoxide.
///
/// # Errors
/// Fails with [`Refusal::SelfReacting`], for an epichlorohydrin of one configuration with [`Refusal::Retention`].
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    let is_lost = |event: &Event| match *event {
        Event::Alkylation { nucleophile, leaving, .. } => {
            is_heavy_halogen(it.element(leaving))
                && (it.group(nucleophile) == Group::TertiaryAlcohol
                    && it.next_to(nucleophile).any(|carbinol| shifts(it, carbinol))
                    || is_primary_ketol(it, nucleophile))
        }
        _ => false,
    };
    let is_reversed = |event: &Event| {
        matches!(*event, Event::Alkylation { carbon, leaving, .. }
            if it.element(leaving) == CL && it.next_to(carbon).any(|next| is_centre_of_epoxide(step, next)))
    };
    if events.iter().any(is_reversed) {
        return Err(Refusal::Retention);
    }
    if events.iter().any(is_lost) { Err(Refusal::SelfReacting) } else { Ok(()) }
}

/// Returns true for the oxygen of a hydroxymethyl ketone: base makes the enediol, and takes the side chain of a dihydroxyacetone apart.
fn is_primary_ketol(it: &Facts, oxygen: u32) -> bool {
    it.group(oxygen) == Group::PrimaryAlcohol
        && it.next_to(oxygen).any(|carbinol| it.next_to(carbinol).any(|next| it.group(next) == Group::Ketone))
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

/// Returns true for the carbon of an epoxide with one configuration that stays. A nucleophile opens the ring at its other end, and the alkoxide closes it on the chloride: the other enantiomer forms.
fn is_centre_of_epoxide(step: &Step<'_>, carbon: u32) -> bool {
    step.before.is_beside_epoxide_oxygen(carbon)
        && step.before.at(carbon).centre.is_some()
        && step.image(carbon).is_some_and(|image| {
            step.after.is_beside_epoxide_oxygen(image) && step.after.at(image).centre.is_some()
        })
}
