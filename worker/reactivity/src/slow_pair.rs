//! Pairs of a nucleophile and an electrophile that are too slow for one another, or that something else in the mixture overtakes.
//!
//! Sources: Clayden, Greeves and Warren, chapter 11 (imines of diaryl ketones form by titanium reagents or by way of oximes; the Strecker reaction is
//! reversible) and chapter 15 (tertiary halides eliminate); March, chapter 16 (imides are opened by amines before esters of arenes are) and chapter 10
//! (carbamates without N–H cannot react by way of the isocyanate).

use crate::base_labile::is_ester_of_alcohol;
use crate::change::{Facts, Step};
use crate::competition::closed_ring_size;
use crate::electrophile;
use crate::event::Event;
use crate::group::{Group, aromatic_positions};
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses such pairs.
///
/// # Errors
/// Fails with [`Refusal::Unreactive`], [`Refusal::Hindered`] or [`Refusal::CompetingGroup`].
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    for event in events {
        match *event {
            Event::ReductiveAmination { nitrogen, carbon } if is_diaryl_ketone(it, nitrogen, carbon) => {
                return Err(Refusal::Unreactive);
            }
            Event::Imination { nitrogen, carbon } if is_of_aminonitrile(it, nitrogen, carbon) => {
                return Err(Refusal::Unreactive);
            }
            Event::Alkylation { nucleophile, carbon, .. }
                if it.carbons(carbon) == 3 && it.is_alpha(carbon) && is_poor_aniline(it, nucleophile) =>
            {
                return Err(Refusal::Hindered);
            }
            Event::Acylation { nucleophile, carbon }
                if it.element(nucleophile) == N && closed_ring_size(step, nucleophile, carbon).is_none() =>
            {
                aminolysis(step, nucleophile, carbon)?;
                if it.group(carbon) == Group::Acid
                    && step.atoms().any(|atom| is_taken_before_acid(step, nucleophile, atom))
                {
                    return Err(Refusal::CompetingGroup);
                }
            }
            Event::Arylation { nucleophile, carbon, leaving } if it.element(nucleophile) == N => {
                aromatic_amination(step, nucleophile, carbon, leaving)?;
            }
            // The primary amine that forms is the better nucleophile (Clayden, Greeves and Warren, chapter 22).
            Event::ConjugateAddition { nucleophile, carbon, .. }
                if it.group(nucleophile) == Group::Ammonia && it.hydrogens(carbon) == 2 =>
            {
                return Err(Refusal::CompetingGroup);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns true for ammonia or a secondary amine and a ketone between two arenes, whose carbonyl group is hydride's.
fn is_diaryl_ketone(it: &Facts, nitrogen: u32, ketone: u32) -> bool {
    matches!(it.group(nitrogen), Group::Ammonia | Group::SecondaryAmine)
        && it.group(ketone) == Group::Ketone
        && it.aryls(ketone) == 2
}

/// Returns true for an α-aminonitrile of an aldehyde or ketone, which loses cyanide as it condenses; its C–H is so acidic that a stereocentre is lost
/// as well. Aminoacetonitrile forms imines.
fn is_of_aminonitrile(it: &Facts, nitrogen: u32, carbonyl: u32) -> bool {
    let is_strecker = |alpha: u32| {
        it.is_sp3(alpha)
            && it.next_to(alpha).any(|next| it.is_cyano(next))
            && it.carbons(alpha) > 1
            && (it.group(carbonyl) == Group::Ketone || it.at(alpha).centre.is_some())
    };
    it.group(nitrogen) == Group::PrimaryAmine && it.next_to(nitrogen).any(is_strecker)
}

/// Returns true for the nitrogen of an aniline with an acceptor ortho or para to it.
fn is_poor_aniline(it: &Facts, nitrogen: u32) -> bool {
    let is_poor = |ipso: u32| {
        aromatic_positions(&it.structure, ipso)
            .iter()
            .any(|&(atom, distance)| distance != 2 && it.bears_acceptor(atom))
    };
    matches!(it.group(nitrogen), Group::Aniline | Group::SecondaryAniline | Group::PoorAniline)
        && it.next_to(nitrogen).any(|ipso| it.is_aromatic_carbon(ipso) && is_poor(ipso))
}

/// Checks the attack of an amine on an ester or carbamate.
fn aminolysis(step: &Step<'_>, amine: u32, acyl: u32) -> Result<(), Refusal> {
    let it = &step.before;
    let is_open_imide = |atom: u32| {
        it.group(atom) == Group::Imide
            && it.is_in_ring(atom)
            && step.is_untouched(atom)
            && it.next_to(atom).any(|next| {
                it.group(next) == Group::ImideNitrogen && it.hydrogens(next) == 0 && !it.is_aromatic(next)
            })
    };
    match it.group(acyl) {
        Group::Ester if step.atoms().any(is_open_imide) => Err(Refusal::CompetingGroup),
        Group::Carbamate if it.group(amine) == Group::SecondaryAmine && is_arylcarbamate(it, acyl) => {
            Err(Refusal::Unreactive)
        }
        _ => Ok(()),
    }
}

/// Returns true for a carbamate of a phenol whose nitrogen has an arene and no hydrogen.
fn is_arylcarbamate(it: &Facts, acyl: u32) -> bool {
    let is_bound = |next: u32| {
        it.element(next) == N && !it.is_aromatic(next) && it.hydrogens(next) == 0 && it.aryls(next) > 0
    };
    let is_phenoxide = |next: u32| it.element(next) == O && it.aryls(next) > 0;
    it.next_to(acyl).any(is_bound) && it.next_to(acyl).any(is_phenoxide)
}

/// Returns true for a group that the amine takes before a coupling reagent has made an acid ready for it: for alkylamines a benzylic or allylic bromide or iodide,
/// for anilines an aldehyde (Clayden, Greeves and Warren, chapters 11 and 15). Acyl halides are faster.
fn is_taken_before_acid(step: &Step<'_>, amine: u32, atom: u32) -> bool {
    let it = &step.before;
    let is_bromide = || {
        it.is_sp3(atom)
            && it.count(atom, BR) + it.count(atom, I) == 1
            && it.is_benzylic_or_allylic(atom)
            && !it.is_alpha(atom)
    };
    step.is_untouched(atom)
        && match it.group(amine) {
            Group::PrimaryAmine | Group::SecondaryAmine => is_bromide(),
            Group::Aniline => it.group(atom) == Group::Aldehyde,
            _ => false,
        }
}

/// Checks the amination of a halide that needs a nitro group or much heat: amines on quaternary carbons, and ammonia or methylamine and a chloropyridine beside an
/// ester of a primary alcohol, which they take as well.
fn aromatic_amination(step: &Step<'_>, amine: u32, carbon: u32, leaving: u32) -> Result<(), Refusal> {
    let it = &step.before;
    let is_quaternary = |next: u32| it.is_sp3(next) && it.carbons(next) == 3;
    let is_plain_ring = || {
        aromatic_positions(&it.structure, carbon)
            .iter()
            .all(|&(atom, _)| it.element(atom) == C && !it.next_to(atom).any(|next| it.is_nitro(next)))
    };
    if it.element(leaving) == F
        && it.group(amine) == Group::PrimaryAmine
        && it.next_to(amine).any(is_quaternary)
        && is_plain_ring()
    {
        return Err(Refusal::Hindered);
    }
    let is_small = match it.group(amine) {
        Group::Ammonia => true,
        Group::PrimaryAmine => it.next_to(amine).all(|next| it.hydrogens(next) == 3),
        _ => false,
    };
    let is_taken = |atom: u32| is_ester_of_alcohol(it, atom, 1) && step.is_untouched(atom);
    if is_small && electrophile::needs_heat(it, carbon, leaving) && step.atoms().any(is_taken) {
        return Err(Refusal::CompetingGroup);
    }
    Ok(())
}
