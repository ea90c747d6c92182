//! Chlorides of diazines beside amines that are to take another partner.
//!
//! Sources: Joule and Mills 2010, chapters 8, 14 and 32, for the chlorides of pyrimidines, quinazolines, quinoxalines, pyridazines and triazines, which amines replace without a metal;
//! Surry and Buchwald, Angew. Chem. Int. Ed. 2008, 47, 6338, for the order of aryl halides with palladium.

use crate::change::{Facts, Step};
use crate::electrophile;
use crate::event::Event;
use crate::group::{Group, aromatic_positions};
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses the arylation by a plain aryl bromide of an amine whose own molecule keeps such a chloride, and the alkylation of an alkylamine by a slow chloride beside one.
///
/// # Errors
/// Fails with [`Refusal::CompetingGroup`].
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    let is_kept = |atom: u32| step.is_untouched(atom) && is_chlorodiazine(it, atom);
    let is_beaten = |event: &Event| match *event {
        Event::Arylation { nucleophile, carbon, leaving } => {
            matches!(it.element(leaving), CL | BR)
                && electrophile::activation(it, carbon) < electrophile::ACTIVATED
                && (it.is_amine(nucleophile) || it.is_arylamine(nucleophile))
                && !step.are_in_same_molecule(nucleophile, carbon)
                && step.atoms().any(|atom| is_kept(atom) && step.are_in_same_molecule(atom, nucleophile))
        }
        Event::Alkylation { nucleophile, carbon, leaving } => {
            it.element(leaving) == CL
                && matches!(it.group(nucleophile), Group::PrimaryAmine | Group::SecondaryAmine)
                && !it.is_benzylic_or_allylic(carbon)
                && !it.is_alpha(carbon)
                && !step.are_in_same_molecule(nucleophile, carbon)
                && step.atoms().any(is_kept)
        }
        _ => false,
    };
    if events.iter().any(is_beaten) { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Returns true for a carbon with chlorine beside a nitrogen of a six-membered ring that has a second one, without an amino or hydroxyl group on that ring.
fn is_chlorodiazine(it: &Facts, carbon: u32) -> bool {
    let positions = aromatic_positions(&it.structure, carbon);
    let is_azine = |atom: u32| it.group(atom) == Group::Azine && it.ring(atom) == 6;
    let bears_donor = |atom: u32| {
        it.next_to(atom).any(|next| {
            !it.is_aromatic(next) && matches!(it.element(next), N | O | S) && !it.is_acceptor(next)
        })
    };
    it.is_aromatic_carbon(carbon)
        && it.ring(carbon) == 6
        && it.count(carbon, CL) == 1
        && it.next_to(carbon).any(is_azine)
        && positions.iter().filter(|&&(atom, _)| is_azine(atom)).count() > 1
        && !positions.iter().any(|&(atom, _)| bears_donor(atom))
}
