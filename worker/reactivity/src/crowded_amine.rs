//! Amines that are too crowded, or too weak, for the halide that they are to take.
//!
//! Sources: Surry and Buchwald, Angew. Chem. Int. Ed. 2008, 47, 6338, for acyclic secondary amines, whose palladium amides lose hydrogen; Smith, "March's Advanced Organic Chemistry", chapters 10
//! and 17, for substitution and elimination; Kende, Org. React. 1960, 11, 261, for α-halo ketones of rings.

use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses such pairs.
///
/// # Errors
/// Fails with [`Refusal::Hindered`], and with [`Refusal::CompetingGroup`] beside a carboxylate that a benzylic halide takes as soon.
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    for event in events {
        match *event {
            Event::Arylation { nucleophile, carbon, leaving }
                if is_heavy_halogen(it.element(leaving))
                    && is_open_dialkylamine(it, nucleophile)
                    && !step.are_in_same_molecule(nucleophile, carbon)
                    && is_beside_peri_hydrogen(it, carbon) =>
            {
                return Err(Refusal::Hindered);
            }
            Event::Alkylation { nucleophile, carbon, leaving }
                if is_heavy_halogen(it.element(leaving))
                    && !step.are_in_same_molecule(nucleophile, carbon) =>
            {
                let is_crowded = is_carbinamine(it, nucleophile) && is_alpha_of_cyclanone(it, carbon)
                    || it.element(leaving) == CL
                        && is_between_substituents(it, nucleophile)
                        && is_plain_chloride(it, carbon);
                if is_crowded {
                    return Err(Refusal::Hindered);
                }
                if is_open_dialkylamine(it, nucleophile)
                    && it.is_benzylic_or_allylic(carbon)
                    && step.atoms().any(|atom| is_far_acid(step, atom, nucleophile))
                {
                    return Err(Refusal::CompetingGroup);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns true for the nitrogen of a secondary amine in an open chain, with two alkyl groups larger than methyl.
fn is_open_dialkylamine(it: &Facts, nitrogen: u32) -> bool {
    it.group(nitrogen) == Group::SecondaryAmine
        && !it.is_in_ring(nitrogen)
        && it.next_to(nitrogen).filter(|&next| it.is_sp3(next) && it.hydrogens(next) < 3).count() == 2
}

/// Returns true for a carbon of a benzene ring beside the fusion to another: 1 of naphthalene, 5 and 8 of quinoline.
fn is_beside_peri_hydrogen(it: &Facts, carbon: u32) -> bool {
    let is_fusion = |next: u32| {
        it.is_shared_by_aromatic_rings(next)
            && it.next_to(next).filter(|&far| it.is_aromatic(far)).all(|far| it.ring(far) == 6)
    };
    let is_benzene = |next: u32| {
        it.smallest_cycle(carbon, next).is_some_and(|ring| ring.iter().all(|&atom| it.element(atom) == C))
    };
    it.ring(carbon) == 6
        && it.next_to(carbon).any(is_fusion)
        && it.next_to(carbon).filter(|&next| it.is_aromatic(next) && !is_fusion(next)).any(is_benzene)
}

/// Returns true for the nitrogen of a primary amine on a tertiary carbon.
fn is_carbinamine(it: &Facts, nitrogen: u32) -> bool {
    it.group(nitrogen) == Group::PrimaryAmine
        && it.next_to(nitrogen).any(|alpha| it.is_sp3(alpha) && it.carbons(alpha) == 3)
}

/// Returns true for the secondary carbon beside the ketone of a saturated ring with hydrogen at its other side.
fn is_alpha_of_cyclanone(it: &Facts, carbon: u32) -> bool {
    it.is_sp3(carbon)
        && it.is_in_ring(carbon)
        && it.next_to(carbon).any(|ketone| {
            it.group(ketone) == Group::Ketone
                && it.is_in_ring(ketone)
                && it.next_to(ketone).any(|other| {
                    other != carbon && it.is_sp3(other) && it.hydrogens(other) > 0 && it.is_in_ring(other)
                })
        })
}

/// Returns true for the nitrogen of an aniline with groups at both ortho positions.
fn is_between_substituents(it: &Facts, nitrogen: u32) -> bool {
    it.is_free_aniline(nitrogen)
        && it.next_to(nitrogen).filter(|&next| it.is_aromatic_carbon(next)).any(|ipso| {
            it.next_to(ipso).filter(|&ortho| it.is_aromatic_carbon(ortho) && it.hydrogens(ortho) == 0).count()
                == 2
        })
}

/// Returns true for a carbon with nothing beside it that helps a substitution.
fn is_plain_chloride(it: &Facts, carbon: u32) -> bool {
    it.is_sp3(carbon)
        && it.carbons(carbon) > 0
        && !it.is_benzylic_or_allylic(carbon)
        && !it.is_alpha(carbon)
        && it.next_to(carbon).all(|next| it.element(next) == C || is_halogen(it.element(next)))
}

/// Returns true for a free acid that stays and is no amino acid's, whose carboxylate is as open as the amine is crowded.
fn is_far_acid(step: &Step<'_>, acid: u32, amine: u32) -> bool {
    let it = &step.before;
    it.group(acid) == Group::Acid
        && step.is_untouched(acid)
        && !it.distances(amine, 4).into_iter().any(|(atom, _)| atom == acid)
}
