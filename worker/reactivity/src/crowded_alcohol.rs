//! Hydroxyl groups that two axial methyl groups of their ring system shield: 11β-hydroxysteroids.
//!
//! Source: Fieser and Fieser, "Steroids" (1959), chapter 19: 11β-hydroxyl groups take no acetic anhydride in pyridine, 11α-hydroxyl groups do, and hydroxide leaves 11β-acetates.

use crate::change::{Facts, Step};
use crate::event::Event;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses the acylation and alkylation of such a group, its silylation by more than trimethylsilyl chloride, and the cleavage of its ester by base.
///
/// # Errors
/// Fails with [`Refusal::Hindered`].
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    let is_crowded = |event: &Event| match *event {
        Event::Acylation { nucleophile, carbon } => {
            it.is_hydroxyl(nucleophile)
                && !step.are_in_same_molecule(nucleophile, carbon)
                && !is_trifluoroacetyl(it, carbon)
                && is_shielded(it, nucleophile)
        }
        Event::Alkylation { nucleophile, leaving, .. } => {
            it.is_hydroxyl(nucleophile)
                && is_heavy_halogen(it.element(leaving))
                && is_shielded(it, nucleophile)
        }
        Event::Silylation { nucleophile } => {
            step.gained(nucleophile).any(|(silicon, _)| !is_trimethylsilyl(it, silicon))
                && is_shielded(it, nucleophile)
        }
        Event::Cleavage { atom, root } => {
            it.element(atom) == O
                && it.is_carbonyl(root)
                && !is_trifluoroacetyl(it, root)
                && is_shielded(it, atom)
        }
        _ => false,
    };
    if events.iter().any(is_crowded) { Err(Refusal::Hindered) } else { Ok(()) }
}

/// Returns true for an oxygen on a ring of six whose both sides lead to a quaternary carbon with a methyl group, one of them on the oxygen's side of the ring.
fn is_shielded(it: &Facts, oxygen: u32) -> bool {
    let is_carbinol = |carbon: u32| it.is_sp3(carbon) && it.hydrogens(carbon) == 1 && it.ring(carbon) == 6;
    it.next_to(oxygen).filter(|&carbon| is_carbinol(carbon)).any(|carbon| {
        let sides = || it.next_to(carbon).filter(|&next| next != oxygen);
        sides().all(|near| it.next_to(near).any(|far| far != carbon && methyl_of(it, far).is_some()))
            && sides().any(|near| is_beside_methyl(it, [oxygen, carbon, near]))
    })
}

fn is_trifluoroacetyl(it: &Facts, acyl: u32) -> bool {
    it.next_to(acyl).any(|next| it.is_trifluoromethyl(next))
}

fn is_trimethylsilyl(it: &Facts, silicon: u32) -> bool {
    it.next_to(silicon).filter(|&next| it.hydrogens(next) == 3).count() == 3
}

/// Methyl group of a quaternary carbon.
fn methyl_of(it: &Facts, carbon: u32) -> Option<u32> {
    (it.is_sp3(carbon) && it.carbons(carbon) == 4)
        .then(|| it.next_to(carbon).find(|&next| it.hydrogens(next) == 3))
        .flatten()
}

/// Returns true if the next carbon but one of the ring bears its methyl group on the oxygen's side.
fn is_beside_methyl(it: &Facts, [oxygen, carbon, near]: [u32; 3]) -> bool {
    let Some(ring) = it.smallest_cycle(carbon, near) else { return false };
    let in_ring = |atom: u32, but: u32| it.next_to(atom).find(|&next| next != but && ring.contains(&next));
    let sides = || {
        let before = in_ring(carbon, near)?;
        let quaternary = in_ring(near, carbon)?;
        let after = in_ring(quaternary, near)?;
        let methyl = methyl_of(it, quaternary)?;
        let own = it.handedness(carbon, [before, near, oxygen])?;
        Some(own == it.handedness(quaternary, [near, after, methyl])?)
    };
    sides() == Some(true)
}
