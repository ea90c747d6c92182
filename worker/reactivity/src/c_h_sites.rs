//! C–H bonds that halogens and oxidants take first, and methyl groups whose halides do not keep.
//!
//! Sources: Clayden, Greeves and Warren, chapter 20, for the halogenation of active methylene groups; Smith, "March's Advanced Organic Chemistry", chapter 14, for benzylic bromination, whose reagent takes an amine first, and
//! chapter 19 for benzylic oxidation; Joule and Mills 2010, chapters 24 and 25, for halomethyl azoles.

use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses such steps.
///
/// # Errors
/// Fails with [`Refusal::CompetingGroup`] for the lesser C–H bond, with [`Refusal::SelfReacting`] for a halomethyl azole with a free N–H, with [`Refusal::Unreactive`] for the methyl
/// group of an imine.
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    for event in events {
        let Event::Functionalisation { carbon, element } = *event else { continue };
        if !it.is_sp3(carbon) {
            continue;
        }
        let keeps = |wanted: &dyn Fn(u32) -> bool| {
            step.atoms().any(|atom| {
                step.is_untouched(atom) && step.are_in_same_molecule(atom, carbon) && wanted(atom)
            })
        };
        if is_heavy_halogen(element) {
            if is_methyl_of_free_azole(it, carbon) {
                return Err(Refusal::SelfReacting);
            }
            if it.aryls(carbon) > 0 && !it.is_alpha(carbon) && keeps(&|atom| it.is_alkylamine(atom)) {
                return Err(Refusal::CompetingGroup);
            }
            if !is_between_acceptors(it, carbon)
                && it.next_to(carbon).any(|next| it.group(next) == Group::Ketone)
                && keeps(&|atom| is_between_acceptors(it, atom))
            {
                return Err(Refusal::CompetingGroup);
            }
        }
        if element == O && it.next_to(carbon).any(|next| it.group(next) == Group::Imine) {
            return Err(Refusal::Unreactive);
        }
        if element == O && it.aryls(carbon) == 1 && keeps(&|atom| is_weakest(it, atom)) {
            return Err(Refusal::CompetingGroup);
        }
    }
    Ok(())
}

/// Returns true for a methyl group of an azole, indazole or benzimidazole with a free N–H.
fn is_methyl_of_free_azole(it: &Facts, carbon: u32) -> bool {
    let is_free = |atom: u32| {
        it.element(atom) == N && it.is_aromatic(atom) && it.ring(atom) == 5 && it.hydrogens(atom) > 0
    };
    let is_azole = |ring: u32| {
        it.is_aromatic(ring)
            && it.ring(ring) == 5
            && it.distances(ring, 2).iter().any(|&(atom, _)| is_free(atom))
    };
    it.hydrogens(carbon) == 3 && it.next_to(carbon).any(is_azole)
}

/// Returns true for a methylene group between a ketone and a nitrile, sulfone or nitro group, which is the one that enolises. Acid moves the bromine of β-keto esters to the end.
fn is_between_acceptors(it: &Facts, carbon: u32) -> bool {
    let is_strong = |next: u32| {
        it.is_cyano(next) || it.is_nitro(next) || matches!(it.group(next), Group::Sulfone | Group::Nitrile)
    };
    it.is_sp3(carbon)
        && it.hydrogens(carbon) == 2
        && it.next_to(carbon).any(is_strong)
        && it.next_to(carbon).any(|next| it.group(next) == Group::Ketone)
}

/// Returns true for the only hydrogen of a carbon with an aryl and a keto group, or with two aryl groups.
fn is_weakest(it: &Facts, carbon: u32) -> bool {
    it.is_sp3(carbon)
        && it.hydrogens(carbon) == 1
        && it.carbons(carbon) == 3
        && it.aryls(carbon) > 0
        && (it.aryls(carbon) > 1 || it.next_to(carbon).any(|next| it.group(next) == Group::Ketone))
}
