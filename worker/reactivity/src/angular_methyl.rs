//! Additions to the ketone of a five-membered ring beside an angular methyl group, which shields one face: 17-ketones of steroids.
//!
//! Source: Fieser and Fieser, "Steroids" (1959), chapters 11 and 14: hydrides, acetylides and Grignard reagents take the 17-ketone from the α face, so that the hydroxyl group is cis to C18.

use crate::change::Step;
use crate::event::Event;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses the addition from the face of the methyl group.
///
/// # Errors
/// Fails with [`Refusal::StereoScrambled`].
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let is_wrong = |event: &Event| match *event {
        Event::CarbonylReduction { carbon } | Event::MetalAddition { carbon, .. } => {
            step.before.group(carbon) == Group::Ketone
                && step.before.next_to(carbon).any(|next| is_cis_to_methyl(step, carbon, next) == Some(false))
        }
        _ => false,
    };
    if events.iter().any(is_wrong) { Err(Refusal::StereoScrambled) } else { Ok(()) }
}

/// Returns true if the oxygen of the carbinol and the methyl group of the ring fusion beside it lie on one side of their ring; `None` for other carbons.
fn is_cis_to_methyl(step: &Step<'_>, ketone: u32, fusion: u32) -> Option<bool> {
    let it = step.after;
    let (carbinol, fusion) = (step.image(ketone)?, step.image(fusion)?);
    if !it.is_sp3(fusion) || it.carbons(fusion) != 4 {
        return None;
    }
    let ring = it.smallest_cycle(fusion, carbinol).filter(|ring| ring.len() == 5)?;
    let methyl = it.next_to(fusion).find(|&next| it.hydrogens(next) == 3)?;
    let other_ring = it.next_to(fusion).any(|next| !ring.contains(&next) && it.is_in_ring(next));
    let oxygen = it.next_to(carbinol).find(|&next| it.element(next) == O)?;
    if !other_ring {
        return None;
    }
    // Read along the ring, equal turns are equal sides.
    let of_carbinol = it.handedness(carbinol, [ring[1], fusion, oxygen])?;
    let of_fusion = it.handedness(fusion, [carbinol, ring[ring.len() - 2], methyl])?;
    Some(of_carbinol == of_fusion)
}
