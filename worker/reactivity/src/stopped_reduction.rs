//! Reductions that do not stop at the group, or do not begin with the one, that is drawn.
//!
//! Sources: Hudlicky, "Reductions in Organic Chemistry" (1996), for heteroarenes and dicarbonyl compounds; Clayden, Greeves and Warren, "Organic Chemistry", chapter 20, for cyclic
//! 1,3-diones, which are enols, and their vinylogous esters, which are reduced in their place; Wuts and Greene, chapter 7, for N-acylcytosines.

use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::{Group, aromatic_positions};
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses such steps.
///
/// # Errors
/// Fails with [`Refusal::CompetingGroup`], or with [`Refusal::Unreactive`] for a carbonyl group that is an enolate.
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    for event in events {
        match *event {
            Event::Hydrogenation { carbon, .. }
                if is_of_pyridine(it, carbon)
                    && step.atoms().any(|atom| is_second_pyridine(step, carbon, atom)) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::CarbonylReduction { carbon } if is_oxo_aldehyde(step, carbon) => {
                return Err(Refusal::CompetingGroup);
            }
            Event::CarbonylReduction { carbon } if is_of_enolised_dione(step, carbon) => {
                return Err(Refusal::Unreactive);
            }
            Event::AcylReduction { .. } if step.atoms().any(|atom| is_acylcytosine(step, atom)) => {
                return Err(Refusal::CompetingGroup);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns true for a carbon of a pyridine that no other ring is fused to.
fn is_of_pyridine(it: &Facts, carbon: u32) -> bool {
    let positions =
        || aromatic_positions(&it.structure, carbon).into_iter().map(|(atom, _)| atom).chain([carbon]);
    it.is_aromatic_carbon(carbon)
        && it.ring(carbon) == 6
        && positions().filter(|&atom| it.element(atom) == N).count() == 1
        && positions().any(|atom| it.group(atom) == Group::Azine)
        && !positions().any(|atom| it.is_shared_by_aromatic_rings(atom))
}

/// Returns true for the nitrogen of another pyridine, without an amino group, that stays: the salts of both take hydrogen alike.
fn is_second_pyridine(step: &Step<'_>, carbon: u32, nitrogen: u32) -> bool {
    let it = &step.before;
    let is_donor = |next: u32| it.element(next) == N && !it.is_aromatic(next) && it.is_saturated(next);
    it.group(nitrogen) == Group::Azine
        && step.is_untouched(nitrogen)
        && !it.shares_arene(nitrogen, carbon)
        && it.next_to(nitrogen).any(|next| is_of_pyridine(it, next))
        && !aromatic_positions(&it.structure, nitrogen)
            .iter()
            .any(|&(atom, _)| it.next_to(atom).any(is_donor))
}

/// Returns true for the aldehyde of an α-oxo aldehyde whose ketone stays: the two are alike, and the first alkoxide turns one into the other.
fn is_oxo_aldehyde(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    it.group(carbon) == Group::Aldehyde
        && it.next_to(carbon).any(|next| it.group(next) == Group::Ketone && step.is_untouched(next))
}

/// Returns true for a ketone of a cyclic 1,3-dione with hydrogen between, whose other ketone stays: hydride takes that proton.
fn is_of_enolised_dione(step: &Step<'_>, ketone: u32) -> bool {
    let it = &step.before;
    let is_other = |next: u32| {
        next != ketone && it.group(next) == Group::Ketone && it.is_in_ring(next) && step.is_untouched(next)
    };
    it.group(ketone) == Group::Ketone
        && it.next_to(ketone).any(|alpha| {
            it.is_sp3(alpha)
                && it.hydrogens(alpha) > 0
                && it.bond(ketone, alpha).is_some_and(|bond| matches!(bond.ring, 5..=7))
                && it.next_to(alpha).any(|next| {
                    is_other(next) && it.bond(alpha, next).is_some_and(|bond| matches!(bond.ring, 5..=7))
                })
        })
}

/// Returns true for the acyl group on the amine of a cytosine, which borohydride and aluminium hydride take as they take an active ester.
fn is_acylcytosine(step: &Step<'_>, acyl: u32) -> bool {
    let it = &step.before;
    let is_of_cytosine = |ipso: u32| {
        let positions = aromatic_positions(&it.structure, ipso);
        it.is_aromatic_carbon(ipso)
            && it.next_to(ipso).any(|next| it.group(next) == Group::Azine)
            && positions.iter().any(|&(atom, distance)| {
                distance == 2
                    && it.is_carbonyl(atom)
                    && it.next_to(atom).filter(|&next| it.element(next) == N).count() == 2
            })
    };
    it.group(acyl) == Group::Amide
        && step.is_untouched(acyl)
        && it.next_to(acyl).any(|nitrogen| {
            it.element(nitrogen) == N && !it.is_aromatic(nitrogen) && it.next_to(nitrogen).any(is_of_cytosine)
        })
}
