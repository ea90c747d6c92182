//! Friedel–Crafts acylations: groups that the Lewis acid takes apart.
//!
//! Sources: Wuts and Greene, "Greene's Protective Groups", chapter 2, for silyl ethers; Rothstein and Saville, J. Chem. Soc. 1949, 1950, for acids of quaternary carbon, which lose carbon
//! monoxide; Smith, "March's Advanced Organic Chemistry", chapter 11, for chloroformates.

use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses such steps.
///
/// # Errors
/// Fails with [`Refusal::Incompatible`] for a group that the Lewis acid takes apart, with [`Refusal::Unreactive`] for a chloroformate and a ketone's ring.
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    for event in events {
        let Event::AromaticSubstitution { carbon, electrophile: Some(acyl), element: C } = *event else {
            continue;
        };
        if it.ring(carbon) == 6
            && matches!(it.group(acyl), Group::AcylHalide | Group::Anhydride)
            && step.atoms().any(|atom| step.is_untouched(atom) && comes_apart(it, atom))
        {
            return Err(Refusal::Incompatible);
        }
        if it.group(acyl) == Group::Chloroformate && is_on_ketone_ring(it, carbon) {
            return Err(Refusal::Unreactive);
        }
    }
    Ok(())
}

/// Returns true for the oxygen of a silyl ether, and for a free acid on a carbon that becomes a tertiary benzylic cation as carbon monoxide leaves.
fn comes_apart(it: &Facts, atom: u32) -> bool {
    let is_cumyl = |alpha: u32| it.is_sp3(alpha) && it.carbons(alpha) == 4 && it.aryls(alpha) > 0;
    it.group(atom) == Group::SilylEther || it.group(atom) == Group::Acid && it.next_to(atom).any(is_cumyl)
}

/// Returns true for a ring that bears a ketone with an α-hydrogen.
fn is_on_ketone_ring(it: &Facts, carbon: u32) -> bool {
    let is_enolisable = |ketone: u32| {
        it.group(ketone) == Group::Ketone
            && it.next_to(ketone).any(|alpha| it.is_sp3(alpha) && it.hydrogens(alpha) > 0)
    };
    let near = it.distances(carbon, 2);
    near.iter()
        .filter(|&&(atom, _)| it.is_aromatic(atom))
        .any(|&(atom, _)| it.next_to(atom).any(is_enolisable))
}
