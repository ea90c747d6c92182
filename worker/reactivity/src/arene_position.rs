//! Position of an arene that an electrophile takes: rich enough for it, and ahead of the others.
//!
//! The score is in `arene_score.rs`, the site model in `arene_sites.rs`; sources are at the functions.

use crate::arene_competition;
use crate::arene_score::score;
use crate::arene_sites::{Electrophile, RingSystem};
use crate::change::{Facts, Step};
use crate::group::{Group, aromatic_positions};
use crate::lithiation::is_lithiated;
use crate::queries::*;
use crate::refusal::Refusal;

type Verdict = Result<(), Refusal>;

/// Largest logarithm of the ratio of rates to the best position at which a position is still part of a mixture that
/// chemists separate. Of recorded substitutions that were kept back, 0.91 are within it, and 0.12 of the other positions.
const SEPARABLE_MARGIN: f64 = 0.8;

/// Lead that a position of a plain benzene ring needs over every other in halogenations and nitrations: without a donor, alkyl groups
/// and halogens leave the isomers close (Stock and Brown 1963).
const PLAIN_RING_LEAD: f64 = 0.9;

/// Lead of the enamide's β-carbon of an isoquinolone over its benzene ring (Joule and Mills, chapter 9).
const ENAMIDE_LEAD: f64 = 4.0;

/// Checks that the position is electron-rich enough, and that the electrophile takes it rather than another.
pub fn position(step: &Step<'_>, carbon: u32, least: i32, electrophile: Electrophile) -> Verdict {
    if score(&step.before, carbon) < least {
        return Err(Refusal::Arene);
    }
    if is_half_of_two_ethers(step, carbon) || is_behind(step, carbon, electrophile) {
        Err(Refusal::Position)
    } else {
        Ok(())
    }
}

/// Returns true for a carbon beside one of two different alkoxy groups across a benzene ring without another group: they direct alike (Clayden, Greeves and Warren, chapter 21).
fn is_half_of_two_ethers(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_alkoxy = |oxygen: u32| {
        it.group(oxygen) == Group::ArylEther
            && !it.is_in_ring(oxygen)
            && it
                .next_to(oxygen)
                .any(|alkyl| it.is_sp3(alkyl) && it.count(alkyl, F) == 0 && it.count(alkyl, O) == 1)
    };
    let bears_alkoxy = |atom: u32| it.next_to(atom).any(is_alkoxy);
    let positions = aromatic_positions(&it.structure, carbon);
    it.ring(carbon) == 6
        && positions.len() == 5
        && positions.iter().filter(|&&(atom, _)| it.hydrogens(atom) > 0).count() == 3
        && positions.iter().any(|&(atom, distance)| distance == 1 && bears_alkoxy(atom))
        && positions.iter().any(|&(atom, distance)| {
            distance == 2
                && bears_alkoxy(atom)
                && it.next_to(atom).any(|other| {
                    it.hydrogens(other) > 0 && it.is_aromatic(other) && !step.are_equivalent(other, carbon)
                })
        })
}

/// Returns true for the carbon between a phenol, which a keto ester makes a coumarin there, and another group, if the carbon at the phenol's other side is free and beside a
/// free one (Sethna and Phadke, Org. React. 1953, 7, 1).
pub fn is_crowded_pechmann(step: &Step<'_>, carbon: u32, ketone: u32) -> bool {
    let it = &step.before;
    if it.group(ketone) != Group::Ketone || !step.lost_oxo(ketone) {
        return false;
    }
    let is_free = |atom: u32| it.is_aromatic_carbon(atom) && it.hydrogens(atom) > 0;
    let closes = |oxygen: u32| {
        it.group(oxygen) == Group::Phenol && step.gained(oxygen).any(|(acyl, _)| it.is_carbonyl(acyl))
    };
    let ring = |atom: u32| it.next_to(atom).filter(|&next| it.is_aromatic_carbon(next));
    ring(carbon).filter(|&ipso| it.next_to(ipso).any(closes)).any(|ipso| {
        let is_crowded = ring(carbon).any(|beside| beside != ipso && !is_free(beside));
        let has_freer = ring(ipso).any(|other| {
            other != carbon && is_free(other) && ring(other).all(|beside| beside == ipso || is_free(beside))
        });
        is_crowded && has_freer
    })
}

/// Accepts the ring's own reactivity if its score reaches `least`, or else lithiation next to a directing group.
pub fn lithiation_or(step: &Step<'_>, carbon: u32, least: i32) -> Verdict {
    match position(step, carbon, least, Electrophile::Formylation) {
        Err(_) if is_lithiated(step, carbon) => Ok(()),
        verdict => verdict,
    }
}

/// Returns true if another position of the reaction mixture is faster than the separable mixtures of chemists allow.
fn is_behind(step: &Step<'_>, carbon: u32, electrophile: Electrophile) -> bool {
    let before = &step.before;
    let Some(own_system) = RingSystem::of(before, carbon) else { return false };
    let is_plain = own_system.is_benzene() && !arene_competition::is_activated(before, carbon);
    let margin =
        if is_plain && electrophile.is_halogen_or_nitronium() { -PLAIN_RING_LEAD } else { SEPARABLE_MARGIN };
    let lead = if is_enamide_beta(before, carbon) { ENAMIDE_LEAD } else { 0.0 };
    let least = own_system.value(before, carbon, electrophile) + margin + lead;
    let mut systems = vec![own_system];
    let mut classes = vec![before.at(carbon).class];
    for atom in step.atoms() {
        let competes =
            before.is_aromatic_carbon(atom) && before.hydrogens(atom) > 0 && step.image(atom).is_some();
        if !competes || classes.contains(&before.at(atom).class) {
            continue;
        }
        classes.push(before.at(atom).class);
        if !systems.iter().any(|system| system.contains(atom)) {
            systems.extend(RingSystem::of(before, atom));
        }
        let system = systems.iter().find(|system| system.contains(atom));
        if system.is_some_and(|system| system.value(before, atom, electrophile) > least) {
            return true;
        }
    }
    false
}

/// Returns true for the carbon beside the fusion and two bonds from the nitrogen of an isoquinolone.
fn is_enamide_beta(before: &Facts, carbon: u32) -> bool {
    let is_lactam_nitrogen =
        |atom: u32| before.element(atom) == N && before.next_to(atom).any(|next| before.is_carbonyl(next));
    before.ring(carbon) == 6
        && before.next_to(carbon).any(|next| before.is_shared_by_aromatic_rings(next))
        && before.next_to(carbon).any(|alpha| {
            before.is_aromatic_carbon(alpha)
                && !before.is_shared_by_aromatic_rings(alpha)
                && before
                    .next_to(alpha)
                    .any(|nitrogen| is_lactam_nitrogen(nitrogen) && before.is_aromatic(nitrogen))
        })
}
