//! Vinylogous amides, whose carbonyl group is as slow as an amide's and whose nitrogen is as weak a nucleophile, the carbinols of enamines, and pyrazolones.
//!
//! Sources: Greenhill, Chem. Soc. Rev. 1977, 6, 277, and Elassar and El-Khair, Tetrahedron 2003, 59, 8463, for enaminones: borohydrides and ylides leave their
//! carbonyl group, and the amino group of one is no amine; Clayden, Greeves and Warren, chapters 17 and 22, for the carbinol, which the nitrogen ionises.

use crate::change::{Facts, Step};
use crate::competition::closed_ring_size;
use crate::event::Event;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses reductions and olefinations of the carbonyl group of a vinylogous amide, and the attack of its amino group on the ring of another molecule without palladium.
///
/// # Errors
/// Fails with [`Refusal::Unreactive`].
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    let is_slow = |event: &Event| match *event {
        Event::CarbonylReduction { carbon } | Event::Olefination { carbon, .. } => {
            is_vinylogous_amide(it, carbon)
        }
        Event::Arylation { nucleophile, carbon, leaving } => {
            is_amino_group_of_enaminone(it, nucleophile)
                && matches!(it.element(leaving), F | S)
                && closed_ring_size(step, nucleophile, carbon).is_none()
        }
        _ => false,
    };
    if events.iter().any(is_slow) {
        return Err(Refusal::Unreactive);
    }
    if step.atoms().any(|carbon| is_reduced_pyrazolone(step, carbon)) {
        return Err(Refusal::Unreactive);
    }
    if step.joined().any(|(carbon, acyl)| is_acylated_enamide(step, carbon, acyl)) {
        return Err(Refusal::CompetingGroup);
    }
    Ok(())
}

/// Returns true for the imine carbon of a 2-pyrazolin-5-one with hydrogens on the carbon between, which is a hydroxypyrazole (Joule and Mills 2010, chapter 25): hydrides leave it.
fn is_reduced_pyrazolone(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_hydrazone = |nitrogen: u32| it.element(nitrogen) == N && it.count(nitrogen, N) == 1;
    let is_acylated = |alpha: u32| {
        it.is_sp3(alpha)
            && it.hydrogens(alpha) > 0
            && it
                .next_to(alpha)
                .any(|acyl| it.is_carbonyl(acyl) && it.ring(acyl) == 5 && it.count(acyl, N) == 1)
    };
    it.group(carbon) == Group::ImineCarbon
        && it.ring(carbon) == 5
        && it.doubly(carbon, is_hydrazone).is_some()
        && it.next_to(carbon).any(is_acylated)
        && step.reordered(carbon).any(|(_, was, now)| was > now)
}

/// Returns true for the β-carbon of an enamide with its N–H and an acyl halide, which takes the nitrogen first (Carbery, Org. Biomol. Chem. 2008, 6, 3455).
fn is_acylated_enamide(step: &Step<'_>, carbon: u32, acyl: u32) -> bool {
    let it = &step.before;
    let is_amide = |nitrogen: u32| it.group(nitrogen) == Group::AmideNitrogen && it.hydrogens(nitrogen) > 0;
    it.group(acyl) == Group::AcylHalide
        && it.doubly(carbon, |far| it.element(far) == C && it.next_to(far).any(is_amide)).is_some()
}

/// Returns true for the nitrogen of an amine without an acyl or sulfonyl group.
fn is_donor(it: &Facts, nitrogen: u32) -> bool {
    it.element(nitrogen) == N
        && it.at(nitrogen).charge == 0
        && it.is_saturated(nitrogen)
        && !it.is_aromatic(nitrogen)
        && it.next_to(nitrogen).all(|next| !it.is_acceptor(next) && matches!(it.element(next), C | SI))
}

/// Returns true for a carbon whose double bond joins it to one with an amino group, in no aromatic ring.
fn is_beta_of_enamine(it: &Facts, carbon: u32) -> bool {
    !it.is_aromatic(carbon)
        && it
            .doubly(carbon, |far| {
                it.element(far) == C
                    && !it.is_carbonyl(far)
                    && it.next_to(far).any(|nitrogen| is_donor(it, nitrogen))
            })
            .is_some()
}

/// Returns true for the carbon of a ketone or aldehyde that a double bond conjugates with an amino group.
pub fn is_vinylogous_amide(it: &Facts, carbon: u32) -> bool {
    matches!(it.group(carbon), Group::Ketone | Group::Aldehyde)
        && it.next_to(carbon).any(|alpha| is_beta_of_enamine(it, alpha))
}

/// Returns true for the free amino group of a vinylogous amide.
fn is_amino_group_of_enaminone(it: &Facts, nitrogen: u32) -> bool {
    let has_ketone = |alpha: u32| {
        it.element(alpha) == C
            && it.next_to(alpha).any(|acyl| matches!(it.group(acyl), Group::Ketone | Group::Aldehyde))
    };
    it.group(nitrogen) == Group::Enamine
        && it.hydrogens(nitrogen) == 2
        && it.next_to(nitrogen).any(|beta| it.doubly(beta, has_ketone).is_some())
}

/// Returns true for a carbon with a free hydroxyl group or a halogen on the β-carbon of an enamine, which loses it to the azadiene or its cation.
pub fn is_enamine_carbinol(it: &Facts, carbon: u32) -> bool {
    let leaves = |group: u32| it.is_hydroxyl(group) || is_heavy_halogen(it.element(group));
    it.is_sp3(carbon)
        && it.next_to(carbon).any(leaves)
        && it.next_to(carbon).any(|alpha| it.element(alpha) == C && is_beta_of_enamine(it, alpha))
}
