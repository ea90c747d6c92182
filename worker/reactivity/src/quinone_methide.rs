//! Carbons beside a rich ring that lose a leaving group to the ring's own electrons: quinone methides of phenols, azafulvenes of indoles and
//! pyrroles.
//!
//! Sources: Toteva and Richard, Adv. Phys. Org. Chem. 2011, 45, 39, for the lifetimes of quinone methides of free phenols; Joule and Mills,
//! "Heterocyclic Chemistry", chapters 16 and 20, for 3-indolylmethanols, which acid and base turn into bisindolylmethanes, and for the
//! reduction of 3-acylindoles by lithium aluminium hydride to alkylindoles; Leete, J. Am. Chem. Soc. 1959, 81, 6023.

use chem::Order;

use crate::change::{Facts, Step};
use crate::event::Event;
use crate::fischer::closes_indole;
use crate::group::{Group, aromatic_positions};
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses molecules that lose such a leaving group, and steps that would make or keep an indolylmethanol where it loses its hydroxyl group.
///
/// # Errors
/// Fails with [`Refusal::Unstable`] for a halide, an epoxide or a halohydrin, and with [`Refusal::SelfReacting`] for an indolylmethanol.
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    if has_lost_leaving_group(&step.before) || has_lost_leaving_group(step.after) {
        return Err(Refusal::Unstable);
    }
    let is_condensed = |event: &Event| match *event {
        Event::AromaticSubstitution { carbon, electrophile: Some(carbonyl), .. } => {
            makes_indolylmethanol(step, carbon, carbonyl)
        }
        Event::AmideReduction { carbon } => step.before.next_to(carbon).any(|next| {
            step.image(next)
                .is_some_and(|image| bears_free_hydroxyl(step.after, image) && is_indolyl(step.after, image))
        }),
        Event::AlcoholOxidation { carbon } => {
            is_indolyl(&step.before, carbon)
                && step.atoms().any(|atom| {
                    matches!(
                        step.before.group(atom),
                        Group::Aniline | Group::PrimaryAmine | Group::SecondaryAmine
                    ) && step.before.hydrogens(atom) > 0
                        && step.is_untouched(atom)
                })
        }
        _ => false,
    };
    if events.iter().any(is_condensed) || is_fischer_beside_leaving_group(step) {
        return Err(Refusal::SelfReacting);
    }
    Ok(())
}

/// Returns true if a molecule has a halide, sulfonate or epoxide beside such a ring, or a halohydrin whose hydroxyl group is beside it.
fn has_lost_leaving_group(it: &Facts) -> bool {
    (0..it.atoms() as u32).any(|carbon| {
        it.is_sp3(carbon)
            && it.next_to(carbon).any(|next| it.is_aromatic(next))
            && (leaves_at_once(it, carbon)
                || bears_free_hydroxyl(it, carbon) && has_halide_beside(it, carbon))
            && is_methide(it, carbon)
    })
}

/// Returns true for a carbon with a halide, a sulfonate or an epoxide's oxygen. Carbons with more halogens, and those of carbonyl
/// compounds, keep them.
fn leaves_at_once(it: &Facts, carbon: u32) -> bool {
    let leaving = it.next_to(carbon).filter(|&next| {
        is_heavy_halogen(it.element(next))
            || it.group(next) == Group::SulfonateOxygen
            || it.element(next) == O && it.ring(next) == 3
    });
    leaving.count() == 1 && !it.is_alpha(carbon) && it.count(carbon, F) == 0
}

fn bears_free_hydroxyl(it: &Facts, carbon: u32) -> bool {
    it.is_sp3(carbon) && it.next_to(carbon).any(|next| it.element(next) == O && it.hydrogens(next) > 0)
}

fn has_halide_beside(it: &Facts, carbon: u32) -> bool {
    it.next_to(carbon).any(|next| {
        it.is_sp3(next)
            && it.hydrogens(next) == 2
            && it.next_to(next).any(|far| is_heavy_halogen(it.element(far)))
    })
}

fn is_methide(it: &Facts, carbon: u32) -> bool {
    is_indolyl(it, carbon) || is_hydroxybenzyl(it, carbon)
}

/// Returns true for a carbon on a pyrrole or indole whose nitrogen has no acyl group, and whose ring has no acceptor.
fn is_indolyl(it: &Facts, carbon: u32) -> bool {
    it.next_to(carbon)
        .any(|ring| it.is_aromatic_carbon(ring) && it.ring(ring) == 5 && is_rich_pyrrole(it, ring))
}

fn is_rich_pyrrole(it: &Facts, ring: u32) -> bool {
    let in_five =
        |atom: u32| it.around(atom).iter().filter(|bond| bond.ring == 5 && bond.order == Order::Aromatic);
    let mut members = vec![ring];
    let mut next = 0;
    while let Some(&atom) = members.get(next).filter(|_| members.len() < 6) {
        next += 1;
        let beside: Vec<u32> =
            in_five(atom).map(|bond| bond.to).filter(|other| !members.contains(other)).collect();
        members.extend(beside);
    }
    let hetero: Vec<u32> = members.iter().copied().filter(|&atom| it.element(atom) != C).collect();
    let [nitrogen] = hetero[..] else { return false };
    let is_drawn = |atom: u32| {
        it.next_to(atom).any(|next| !members.contains(&next) && it.is_acceptor(next) && !it.is_aromatic(next))
    };
    it.element(nitrogen) == N && members.len() == 5 && !members.iter().any(|&atom| is_drawn(atom))
}

/// Returns true for a carbon ortho or para to a free phenol, on a ring without acceptors.
fn is_hydroxybenzyl(it: &Facts, carbon: u32) -> bool {
    let ring = it.next_to(carbon).find(|&next| it.is_aromatic_carbon(next) && it.ring(next) == 6);
    ring.is_some_and(|ring| {
        let positions = aromatic_positions(&it.structure, ring);
        let is_phenol = |atom: u32| {
            it.next_to(atom).any(|next| it.group(next) == Group::Phenol && it.hydrogens(next) > 0)
        };
        let is_drawn = |atom: u32| {
            it.next_to(atom).any(|next| it.is_acceptor(next) && !it.is_aromatic(next))
                || it.element(atom) != C && it.hydrogens(atom) == 0
        };
        positions.iter().any(|&(atom, distance)| distance != 2 && is_phenol(atom))
            && !positions.iter().any(|&(atom, _)| is_drawn(atom))
    })
}

/// Returns true if an indole adds to an aldehyde or ketone and the product keeps the hydroxyl group. An acceptor on the carbon slows its loss.
fn makes_indolylmethanol(step: &Step<'_>, carbon: u32, carbonyl: u32) -> bool {
    let (it, after) = (&step.before, step.after);
    let Some(image) = step.image(carbonyl) else { return false };
    matches!(it.group(carbonyl), Group::Aldehyde | Group::Ketone)
        && it.ring(carbon) == 5
        && bears_free_hydroxyl(after, image)
        && is_indolyl(after, image)
        && !after.is_alpha(image)
        && !after.next_to(image).any(|next| after.is_trifluoromethyl(next))
}

/// Returns true for a Fischer indole synthesis, in hot acid, that keeps an epoxide or a hydroxyl group β to the ketone.
fn is_fischer_beside_leaving_group(step: &Step<'_>) -> bool {
    step.joined().any(|(arene, alpha)| closes_indole(step, arene, alpha).is_some())
        && (step.keeps_epoxide() || step.atoms().any(|atom| is_lost_hydroxyl(step, atom)))
}

/// Returns true for a hydroxyl group that stays, β to the ketone that reacts.
fn is_lost_hydroxyl(step: &Step<'_>, oxygen: u32) -> bool {
    let it = &step.before;
    it.hydrogens(oxygen) > 0
        && matches!(
            it.group(oxygen),
            Group::PrimaryAlcohol | Group::SecondaryAlcohol | Group::TertiaryAlcohol
        )
        && step.is_untouched(oxygen)
        && it
            .distances(oxygen, 3)
            .into_iter()
            .any(|(ketone, distance)| distance == 3 && it.group(ketone) == Group::Ketone)
}
