//! Groups that a step is to keep and that its reagent takes: N,O-acetals and phosphonic acids beside hydrides, enol silyl ethers beside hydroxide, and like pairs.
//!
//! Sources: Smith, "March's Advanced Organic Chemistry", chapters 10 and 19, for hydrides and N,O-acetals, chapter 12 for the coupling of diazonium ions with active methylene groups;
//! Wuts and Greene, "Greene's Protective Groups", chapter 2, for silyl ethers; Rylander, "Hydrogenation Methods" (1985), chapter 13, for benzylamines; Swamy and others, Chem. Rev. 2009, 109,
//! 2551, for the acidity that Mitsunobu's reaction needs, and takes first; Evans and others, Tetrahedron Lett. 1998, 39, 2937, for the crowded phenols of thyroxine.

use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::{Group, aromatic_positions};
use crate::polar::is_vinyl_ketone;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses such steps.
///
/// # Errors
/// Returns the reason as a chemist would say it.
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    let keeps =
        |wanted: &dyn Fn(u32) -> bool| step.atoms().any(|atom| step.is_untouched(atom) && wanted(atom));
    for event in events {
        match *event {
            Event::AmideReduction { carbon } if is_beside_n_o_acetal(it, carbon) => {
                return Err(Refusal::Incompatible);
            }
            Event::AcylReduction { .. } if keeps(&|atom| is_phosphonic_acid(it, atom)) => {
                return Err(Refusal::Incompatible);
            }
            Event::Cleavage { atom, root }
                if is_plain_ester(it, atom, root) && keeps(&|atom| is_silylated_acid(it, atom)) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Cleavage { atom, root }
                if is_benzyl_of_amine(it, atom, root)
                    && keeps(&|benzyl| is_benzyl_of_tertiary_amine(it, benzyl)) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Alkylation { nucleophile, carbon, leaving }
                if it.is_hydroxyl(leaving) && is_inverted_by_thiol(step, nucleophile, carbon) =>
            {
                return Err(Refusal::Unreactive);
            }
            Event::Arylation { nucleophile, carbon, leaving }
                if it.degree(leaving) == 1
                    && is_heavy_halogen(it.element(leaving))
                    && is_dihalophenol(it, nucleophile)
                    && is_without_acceptor(it, carbon) =>
            {
                return Err(Refusal::Hindered);
            }
            // The base of a lateral lithiation adds to the ketone, whose enolate or carbinol stays (Clark and Jahangir, Org. React. 1995, 47, 1).
            Event::Alkylation { nucleophile, leaving, .. }
                if is_halogen(it.element(leaving))
                    && is_arylmethyl(it, nucleophile)
                    && keeps(&|atom| {
                        it.group(atom) == Group::Ketone && step.are_in_same_molecule(atom, nucleophile)
                    }) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Arylation { nucleophile, .. }
                if matches!(
                    it.group(nucleophile),
                    Group::Ammonia | Group::PrimaryAmine | Group::SecondaryAmine
                ) && keeps(&|atom| is_vinyl_ketone(it, atom)) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Alkylation { nucleophile, leaving, .. }
                if it.is_hydroxyl(leaving)
                    && it.group(nucleophile) == Group::Phenol
                    && keeps(&|atom| is_acidic_imide(it, atom)) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Cleavage { atom, root }
                if is_small_carbamate(it, atom, root) && keeps(&|atom| is_thiourea(it, atom)) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Deoxyhalogenation { carbon, .. } if it.next_to(carbon).any(|next| it.is_diazo(next)) => {
                return Err(Refusal::Incompatible);
            }
            _ => {}
        }
    }
    for (from, to) in step.joined() {
        let silylates = |silicon: u32, oxygen: u32| it.element(silicon) == SI && is_ketone_oxygen(it, oxygen);
        if (silylates(from, to) || silylates(to, from))
            && keeps(&|atom| it.is_alcohol(atom) && it.hydrogens(atom) > 0)
        {
            return Err(Refusal::CompetingGroup);
        }
        if exchanges_with_iodide(it, from, to) && keeps(&|atom| is_aryl_iodide(it, atom)) {
            return Err(Refusal::CompetingGroup);
        }
    }
    Ok(())
}

/// Returns true for an amide whose nitrogen bears the carbon of an N,O-acetal: hydrides open it through the iminium ion.
fn is_beside_n_o_acetal(it: &Facts, amide: u32) -> bool {
    let is_acetal = |carbon: u32| {
        carbon != amide
            && it.is_sp3(carbon)
            && it.next_to(carbon).any(|next| it.element(next) == O && it.degree(next) == 2)
    };
    it.next_to(amide).any(|nitrogen| it.element(nitrogen) == N && it.next_to(nitrogen).any(is_acetal))
}

/// Returns true for the phosphorus of a free phosphonic or phosphoric acid, which takes the hydride's hydrogen and falls out.
fn is_phosphonic_acid(it: &Facts, phosphorus: u32) -> bool {
    it.element(phosphorus) == P
        && it.next_to(phosphorus).any(|oxygen| it.element(oxygen) == O && it.hydrogens(oxygen) > 0)
}

/// Returns true for an ester of a primary or secondary alkyl group without an aryl group, which hydroxide takes apart.
fn is_plain_ester(it: &Facts, oxygen: u32, root: u32) -> bool {
    it.is_sp3(root)
        && it.aryls(root) == 0
        && it.carbons(root) < 3
        && it.next_to(oxygen).any(|acyl| it.group(acyl) == Group::Ester)
}

/// Returns true for the silyl ether of an enol that its acceptor makes a vinylogous acid.
fn is_silylated_acid(it: &Facts, oxygen: u32) -> bool {
    let is_enol = |carbon: u32| {
        !it.is_aromatic(carbon)
            && it
                .doubly(carbon, |beta| {
                    it.element(beta) == C && it.next_to(beta).any(|next| it.is_acceptor(next))
                })
                .is_some()
    };
    it.group(oxygen) == Group::SilylEther && it.next_to(oxygen).any(is_enol)
        || it.element(oxygen) == O && it.count(oxygen, SI) == 1 && it.next_to(oxygen).any(is_enol)
}

/// Returns true for the benzyl group of a secondary amine.
fn is_benzyl_of_amine(it: &Facts, nitrogen: u32, root: u32) -> bool {
    it.group(nitrogen) == Group::SecondaryAmine && is_benzyl(it, root)
}

fn is_benzyl_of_tertiary_amine(it: &Facts, root: u32) -> bool {
    is_benzyl(it, root) && it.next_to(root).any(|next| it.group(next) == Group::TertiaryAmine)
}

fn is_benzyl(it: &Facts, carbon: u32) -> bool {
    it.is_sp3(carbon) && it.aryls(carbon) == 1 && it.hydrogens(carbon) == 2 && !it.is_in_ring(carbon)
}

/// Returns true for an aliphatic thiol and an alcohol of one configuration or without an aryl group: it is no acid for Mitsunobu's reaction, and the azo ester oxidises it.
fn is_inverted_by_thiol(step: &Step<'_>, sulfur: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_defined = || step.image(carbon).is_some_and(|image| step.after.at(image).centre.is_some());
    it.group(sulfur) == Group::Thiol
        && it.next_to(sulfur).all(|next| it.is_sp3(next))
        && !step.are_in_same_molecule(sulfur, carbon)
        && it.aryls(carbon) < 2
        && is_defined()
}

/// Returns true for a phenol between two bromides or iodides.
fn is_dihalophenol(it: &Facts, oxygen: u32) -> bool {
    let is_halide = |ortho: u32| {
        it.is_aromatic(ortho) && it.next_to(ortho).any(|next| matches!(it.element(next), BR | I))
    };
    it.group(oxygen) == Group::Phenol
        && it.next_to(oxygen).any(|ipso| it.next_to(ipso).filter(|&ortho| is_halide(ortho)).count() > 1)
}

/// Returns true for a carbon of a benzene ring without an acceptor at its ortho and para positions.
fn is_without_acceptor(it: &Facts, carbon: u32) -> bool {
    it.ring(carbon) == 6
        && aromatic_positions(&it.structure, carbon).into_iter().all(|(atom, distance)| {
            it.element(atom) == C
                && (distance == 2 || !it.next_to(atom).any(|next| it.is_acceptor(next) || it.is_nitro(next)))
        })
}

/// Returns true for a methyl group of an arene without a second activating group.
fn is_arylmethyl(it: &Facts, carbon: u32) -> bool {
    it.is_sp3(carbon) && it.hydrogens(carbon) == 3 && it.aryls(carbon) == 1
}

fn is_ketone_oxygen(it: &Facts, oxygen: u32) -> bool {
    it.element(oxygen) == O
        && it.degree(oxygen) == 1
        && it.next_to(oxygen).any(|next| matches!(it.group(next), Group::Ketone | Group::Aldehyde))
}

/// Returns true for an alkyllithium that adds to an ester or amide: aryl iodides exchange first (Clayden, Greeves and Warren, chapter 9).
fn exchanges_with_iodide(it: &Facts, from: u32, to: u32) -> bool {
    let is_lithium = |carbon: u32| it.is_sp3(carbon) && it.count(carbon, LI) > 0;
    let is_slow = |carbon: u32| matches!(it.group(carbon), Group::Ester | Group::Amide | Group::Weinreb);
    is_lithium(from) && is_slow(to) || is_lithium(to) && is_slow(from)
}

fn is_aryl_iodide(it: &Facts, atom: u32) -> bool {
    it.element(atom) == I && it.next_to(atom).any(|ring| it.is_aromatic(ring))
}

/// Returns true for the N–H of an imide beside sulfur or in an imide ring, a stronger acid than a phenol.
fn is_acidic_imide(it: &Facts, nitrogen: u32) -> bool {
    it.group(nitrogen) == Group::ImideNitrogen && it.hydrogens(nitrogen) > 0 && !it.is_aromatic(nitrogen)
}

/// Returns true for the carbamate of methanol or ethanol, which leaves in hot base or acid alone.
fn is_small_carbamate(it: &Facts, nitrogen: u32, root: u32) -> bool {
    it.element(nitrogen) == N
        && it.group(root) == Group::Carbamate
        && it.next_to(root).any(|oxygen| {
            it.element(oxygen) == O
                && it.next_to(oxygen).any(|next| {
                    it.is_sp3(next)
                        && it.hydrogens(next) > 1
                        && it.aryls(next) == 0
                        && it.carbons(next) < 2
                        && it.next_to(next).all(|far| far == oxygen || it.hydrogens(far) == 3)
                })
        })
}

/// Returns true for the sulfur of a thiourea or thioamide, in either tautomer.
fn is_thiourea(it: &Facts, sulfur: u32) -> bool {
    it.element(sulfur) == S
        && it.degree(sulfur) == 1
        && it.next_to(sulfur).any(|carbon| !it.is_aromatic(carbon) && it.count(carbon, N) > 0)
}
