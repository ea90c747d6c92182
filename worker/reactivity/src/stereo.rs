//! Stereochemistry checks of a step.
//!
//! A substitution by SN2 or Mitsunobu inverts its carbon, one at phosphorus its phosphorus. A centre without a broken bond stays as it is. A single
//! enantiomer needs a chiral source. Relative configuration set by the reaction or a neighbouring centre needs none.
//! Where the template does not say how flat atoms become centres, [`asymmetric`] does.

use chem::{Centre, is_odd};

use crate::asymmetric::{self, StereoSource};
use crate::change::Step;
use crate::event::Event;
use crate::group::Group;
use crate::halogenation::is_displaced_by_ion;
use crate::queries::*;
use crate::refusal::Refusal;

/// Largest number of bonds between an atom and a stereocentre that controls it.
const CONTROL_DISTANCE: u32 = 4;

/// Checks the specified stereocentres of the product. Returns the source of those that neither the precursors nor the
/// template determine.
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<Option<StereoSource>, Refusal> {
    let (before, after) = (&step.before, &step.after);
    let mut created = false;
    for atom in step.atoms() {
        let Some(image) = step.image(atom) else { continue };
        let Some(now) = after.at(image).centre.as_ref() else { continue };
        let Some(was) = before.at(atom).centre.as_ref() else {
            created = true;
            continue;
        };
        let inverted = inverts(step, events, atom);
        match comparison(step, atom, was, now) {
            Some(StereoOutcome::Kept) if inverted == Some(true) => return Err(Refusal::Retention),
            Some(StereoOutcome::Turned) if inverted == Some(false) => return Err(Refusal::StereoScrambled),
            _ => {}
        }
        if (becomes_halide_by_cation(step, events, atom) || loses_acid_by_radical(step, atom))
            && !is_near_kept_centre(step, image)
        {
            return Err(Refusal::StereoScrambled);
        }
    }
    if step.prochiral {
        return asymmetric::source(step, events);
    }
    // A single enantiomer is drawn, although nothing chiral controls it. Cis and trans isomers have no mirror image.
    if created && !chiral_nearby(step) && !after.is_achiral() {
        return Err(Refusal::StereoFromNowhere);
    }
    Ok(None)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StereoOutcome {
    Kept,
    Turned,
}

/// Returns true if a carbon has the other configuration after the step.
pub fn is_turned(step: &Step<'_>, atom: u32) -> bool {
    let centres = || {
        let was = step.before.at(atom).centre.as_ref()?;
        let now = step.after.at(step.image(atom)?).centre.as_ref()?;
        comparison(step, atom, was, now)
    };
    centres() == Some(StereoOutcome::Turned)
}

/// Returns true if the step inverts the carbon; `None` if it may invert or retain.
fn inverts(step: &Step<'_>, events: &[Event], atom: u32) -> Option<bool> {
    if step.lost(atom).next().is_none() && !step.forms_bond(atom) {
        return Some(false);
    }
    for event in events {
        match *event {
            Event::Alkylation { nucleophile, carbon, leaving } if carbon == atom => {
                let before = &step.before;
                let migration = before.element(leaving) == C || before.bond(nucleophile, leaving).is_some();
                let cation = before.aryls(atom) > 1
                    || before.next_to(atom).any(|next| {
                        next != leaving
                            && matches!(before.element(next), N | O | S)
                            && before.is_saturated(next)
                    });
                return (!migration && !cation).then_some(true);
            }
            Event::Deoxyhalogenation { carbon, oxygen } if carbon == atom => {
                let is_inverted =
                    is_displaced_by_ion(step, carbon, oxygen) && !step.before.is_benzylic_or_allylic(carbon);
                return is_inverted.then_some(true);
            }
            // An alkoxide takes the phosphorus of an aryl phosphoramidate from behind (Ross and others, J. Org. Chem. 2011, 76, 8311).
            Event::Sulfonylation { sulfur, .. } if sulfur == atom && step.before.element(atom) == P => {
                return Some(true);
            }
            Event::Coupling { metal, .. } if metal == atom => return Some(false),
            _ => {}
        }
    }
    None
}

/// Returns true for a carbon whose free acid leaves as carbon dioxide for a bond to another carbon: the radical between is flat (Clayden, Greeves and Warren, chapter 37).
fn loses_acid_by_radical(step: &Step<'_>, atom: u32) -> bool {
    let it = &step.before;
    it.is_sp3(atom)
        && step.lost(atom).any(|(gone, _)| it.group(gone) == Group::Acid && step.image(gone).is_none())
        && step.gained(atom).any(|(other, _)| it.element(other) == C)
}

/// Returns true for a tertiary alcohol that a halogen replaces, and a benzylic one that a halogen of sulfur, of bare phosphorus or of hydrogen does, by way of the flat cation (Clayden, Greeves and
/// Warren, chapter 15). Tetrahalomethanes with a phosphine invert.
fn becomes_halide_by_cation(step: &Step<'_>, events: &[Event], atom: u32) -> bool {
    let it = &step.before;
    let is_made = |event: &Event| matches!(*event, Event::Deoxyhalogenation { carbon, .. } if carbon == atom);
    let is_acid = |halogen: u32| {
        it.degree(halogen) == 0 || it.next_to(halogen).any(|next| matches!(it.element(next), S | P))
    };
    let ionises = || it.aryls(atom) > 0 && step.gained(atom).any(|(halogen, _)| is_acid(halogen));
    events.iter().any(is_made) && (it.hydrogens(atom) == 0 || ionises())
}

/// Compares a stereocentre before and after the step. One new neighbour replaces one that left.
fn comparison(step: &Step<'_>, atom: u32, was: &Centre, now: &Centre) -> Option<StereoOutcome> {
    let image = step.image(atom)?;
    let mut expected: Vec<u32> = Vec::with_capacity(4);
    let mut hole = None;
    for &next in &was.order {
        let kept = if next == Centre::HYDROGEN { Some(Centre::HYDROGEN) } else { step.image(next) };
        let kept = kept.filter(|&kept| {
            now.order.contains(&kept) && (kept == Centre::HYDROGEN || step.after.bond(image, kept).is_some())
        });
        match kept {
            Some(kept) => expected.push(kept),
            None if hole.is_none() => {
                hole = Some(expected.len());
                expected.push(0);
            }
            None => return None,
        }
    }
    if let Some(hole) = hole {
        let others: Vec<u32> =
            expected.iter().enumerate().filter(|&(at, _)| at != hole).map(|(_, &atom)| atom).collect();
        expected[hole] = *now.order.iter().find(|next| !others.contains(next))?;
    }
    if expected.len() != now.order.len() {
        return None;
    }
    let places: Vec<usize> = expected
        .iter()
        .map(|next| now.order.iter().position(|other| other == next))
        .collect::<Option<_>>()?;
    let odd = is_odd(&places);
    Some(if (was.clockwise == now.clockwise) ^ odd { StereoOutcome::Kept } else { StereoOutcome::Turned })
}

/// Returns true if every new stereocentre has an existing one within a few bonds that can control it.
fn chiral_nearby(step: &Step<'_>) -> bool {
    let (before, after) = (&step.before, &step.after);
    step.atoms().all(|atom| {
        let Some(image) = step.image(atom) else { return true };
        let created = after.at(image).centre.is_some() && before.at(atom).centre.is_none();
        !created || is_near_kept_centre(step, image)
    })
}

/// Returns true if another stereocentre, which the product has from a precursor, is near enough to control this atom of
/// the product.
pub fn is_near_kept_centre(step: &Step<'_>, image: u32) -> bool {
    let (before, after) = (&step.before, &step.after);
    after.distances(image, CONTROL_DISTANCE).into_iter().any(|(near, distance)| {
        distance > 0
            && after.at(near).centre.is_some()
            && step.origin[near as usize].is_some_and(|origin| before.at(origin).centre.is_some())
    })
}
