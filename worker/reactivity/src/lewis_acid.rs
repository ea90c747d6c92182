//! Friedel–Crafts reactions: groups that the Lewis acid takes apart or the acyl group takes first, and lesser positions.
//!
//! Sources: Wuts and Greene, "Greene's Protective Groups", chapter 2, for silyl ethers; Rothstein and Saville, J. Chem. Soc. 1949, 1950, for acids of quaternary carbon, which lose carbon
//! monoxide; Smith, "March's Advanced Organic Chemistry", chapter 11, for chloroformates and alkenes;
//! Olah, "Friedel-Crafts Chemistry" (1973), for the order of halogens and alkyl groups.

use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::{Group, aromatic_positions};
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses such steps.
///
/// # Errors
/// Fails with [`Refusal::Incompatible`] for a group that the Lewis acid takes apart, with [`Refusal::Unreactive`] for a chloroformate and a ketone's ring, with [`Refusal::CompetingGroup`] for an
/// alkene that takes the acyl group first, with [`Refusal::Position`] for the lesser position.
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
        let is_acid = matches!(it.group(acyl), Group::AcylHalide | Group::Anhydride | Group::Acid);
        if is_acid && keeps_plain_alkene(step, carbon) {
            return Err(Refusal::CompetingGroup);
        }
        if is_acid
            && !step.are_in_same_molecule(carbon, acyl)
            && (is_lesser_of_halogens(it, carbon) || is_lesser_of_alkyls(it, carbon))
        {
            return Err(Refusal::Position);
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

/// Returns true if the molecule of a benzene ring keeps an alkene that nothing draws: acylium ions take it before the ring.
fn keeps_plain_alkene(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    it.ring(carbon) == 6
        && step.atoms().any(|atom| {
            it.is_plain_alkene(atom) && step.is_untouched(atom) && step.are_in_same_molecule(atom, carbon)
        })
}

/// Substituents of a single benzene ring, with their distances from a carbon of it; `None` for other rings.
fn substituents(it: &Facts, carbon: u32) -> Option<Vec<(u32, u32)>> {
    let positions = aromatic_positions(&it.structure, carbon);
    let is_single = it.ring(carbon) == 6
        && positions.len() == 5
        && positions.iter().all(|&(atom, _)| it.element(atom) == C);
    let of = |&(atom, distance): &(u32, u32)| {
        let bond = it.around(atom).iter().find(|bond| !it.is_aromatic(bond.to) || bond.ring == 0)?;
        Some((bond.to, distance))
    };
    is_single.then(|| positions.iter().filter_map(of).collect())
}

/// Returns true for the carbon beside fluorine in a ring whose other substituents are heavier halogens, if that across from the fluorine is free and not between two of them: fluorine directs there.
fn is_lesser_of_halogens(it: &Facts, carbon: u32) -> bool {
    let Some(all) = substituents(it, carbon) else { return false };
    let fluorines = || all.iter().filter(|&&(atom, _)| it.element(atom) == F);
    let across = |bearer: u32| {
        aromatic_positions(&it.structure, bearer).into_iter().find(|&(_, distance)| distance == 3)
    };
    let is_free = |atom: u32| {
        let filled = it.next_to(atom).filter(|&next| it.is_aromatic(next) && it.hydrogens(next) == 0).count();
        it.hydrogens(atom) > 0 && filled < 2
    };
    all.len() > 1
        && fluorines().count() == 1
        && all.iter().all(|&(atom, _)| is_halogen(it.element(atom)))
        && fluorines().any(|&(fluorine, distance)| {
            distance == 1
                && it.next_to(fluorine).any(|bearer| across(bearer).is_some_and(|(atom, _)| is_free(atom)))
        })
}

/// Returns true for a carbon that no alkyl group of its ring helps, and for one beside or across from the only alkyl group meta to a chlorine or bromine: the first is the lesser position, the second one
/// of two that are alike.
fn is_lesser_of_alkyls(it: &Facts, carbon: u32) -> bool {
    let Some(all) = substituents(it, carbon) else { return false };
    let is_alkyl = |atom: u32| it.is_sp3(atom) && it.next_to(atom).all(|next| it.element(next) == C);
    let is_halide = |atom: u32| matches!(it.element(atom), CL | BR);
    if all.is_empty() || !all.iter().all(|&(atom, _)| is_alkyl(atom) || is_halide(atom)) {
        return false;
    }
    let alkyls: Vec<u32> =
        all.iter().filter(|&&(atom, _)| is_alkyl(atom)).map(|&(_, distance)| distance).collect();
    let halides: Vec<u32> =
        all.iter().filter(|&&(atom, _)| is_halide(atom)).map(|&(_, distance)| distance).collect();
    let is_unhelped = alkyls.len() == 2 && halides.len() == 1 && halides == [3] && alkyls == [2, 2];
    let is_one_of_two =
        alkyls.len() == 1 && halides.len() == 1 && matches!((alkyls[0], halides[0]), (1, 3) | (3, 1));
    is_unhelped || is_one_of_two
}
