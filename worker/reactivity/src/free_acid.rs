//! Free carboxylic acids in steps that need their esters, and acids with a twin of which one is to react.
//!
//! Sources: Smith, "March's Advanced Organic Chemistry", chapter 10 (esterification and acylation), chapter 16 (Knoevenagel and Baylis–Hillman reactions); Clayden, Greeves and
//! Warren, chapter 25 (malonic esters).

use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses such steps.
///
/// # Errors
/// Fails with [`Refusal::CompetingGroup`] for an acid with a twin, with [`Refusal::SelfReacting`] for one that acylates itself, and with [`Refusal::Unreactive`] for one that its
/// carboxylate keeps from reacting.
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    for event in events {
        match *event {
            Event::Alkylation { nucleophile, leaving, .. }
                if it.is_hydroxyl(leaving) && leaves_twin_acid(step, nucleophile) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Acylation { nucleophile, carbon }
                if it.is_hydroxyl(nucleophile)
                    && it.next_to(carbon).any(|oxygen| leaves_twin_acid(step, oxygen)) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Alkylation { nucleophile, leaving, .. }
                if is_heavy_halogen(it.element(leaving)) && is_malonic_acid(it, nucleophile) =>
            {
                return Err(Refusal::Unreactive);
            }
            Event::NitroReduction { nitrogen } if closes_with_acid(step, nitrogen) => {
                return Err(Refusal::Unreactive);
            }
            // The base that makes a carbanion makes a carboxylate too, which is no acceptor (Clayden, Greeves and Warren, chapter 22).
            Event::ConjugateAddition { nucleophile, partner, .. }
                if it.is_sp3(nucleophile)
                    && it.is_alpha(nucleophile)
                    && it
                        .next_to(partner)
                        .filter(|&next| it.is_acceptor(next))
                        .all(|next| it.group(next) == Group::Acid) =>
            {
                return Err(Refusal::Unreactive);
            }
            // The carbenoid takes the stronger acid (Miller and Moody, Tetrahedron 1995, 51, 10811).
            Event::ReductiveEtherification { oxygen, carbon }
                if it.is_diazo(carbon) && step.atoms().any(|atom| is_stronger_acid(step, atom, oxygen)) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Aldol { nucleophile, carbon } if is_dehydrated_aldol(step, nucleophile, carbon) => {
                return Err(Refusal::Unreactive);
            }
            _ => {}
        }
    }
    for (from, to) in step.joined() {
        if acylates_itself(step, from, to) {
            return Err(Refusal::SelfReacting);
        }
        let takes_aryl = |acid: u32, ring: u32| it.is_aromatic_carbon(ring) && is_malonic_acid(it, acid);
        if takes_aryl(from, to) || takes_aryl(to, from) {
            return Err(Refusal::Unreactive);
        }
        if is_acrylic_acid_with_aldehyde(step, from, to) || is_lithiated_beside_acid(step, from, to) {
            return Err(Refusal::Unreactive);
        }
    }
    Ok(())
}

/// Returns true for the hydroxyl group of an acid that becomes an ester while its twin stays: acid in an alcohol gives both. Chemists open the anhydride, where the acids close one,
/// or hydrolyse half of the diester (March, chapter 10).
fn leaves_twin_acid(step: &Step<'_>, oxygen: u32) -> bool {
    let it = &step.before;
    let closes_anhydride = |between: u32| match between {
        4 | 5 => !step.after.has_trans_alkene(),
        6 => !it.next_to(oxygen).any(|acyl| it.aryls(acyl) > 0),
        _ => false,
    };
    let is_twin = |&(other, between): &(u32, u32)| {
        other != oxygen
            && it.group(other) == Group::AcidOxygen
            && step.is_untouched(other)
            && step.are_equivalent(other, oxygen)
            && !closes_anhydride(between)
    };
    it.group(oxygen) == Group::AcidOxygen && it.distances(oxygen, 20).iter().any(is_twin)
}

/// Returns true for a carbon and the acid that acylates it, as imidazolide or the like, with a free alcohol or a second acid in the molecule of the acid, which it takes first.
fn acylates_itself(step: &Step<'_>, carbon: u32, acid: u32) -> bool {
    let it = &step.before;
    let is_rival = |atom: u32| {
        matches!(it.group(atom), Group::PrimaryAlcohol | Group::SecondaryAlcohol | Group::AcidOxygen)
            && it.hydrogens(atom) > 0
            && step.is_untouched(atom)
            && step.are_in_same_molecule(atom, acid)
    };
    it.is_sp3(carbon)
        && it.group(acid) == Group::Acid
        && step.image(acid).is_some_and(|image| step.after.group(image) == Group::Ketone)
        && step.atoms().any(is_rival)
}

/// Returns true for the carbon between two acceptors, one of them a free acid: base makes the carboxylate, which a halide alkylates on oxygen.
fn is_malonic_acid(it: &Facts, carbon: u32) -> bool {
    it.is_sp3(carbon)
        && it.next_to(carbon).any(|next| it.group(next) == Group::Acid)
        && it.next_to(carbon).filter(|&next| it.is_acceptor(next)).count() > 1
}

/// Returns true for the α-carbon of a free acid with a hydroxyl group at its β-carbon that makes a double bond with an aldehyde: as dianion it loses the hydroxyl group.
fn is_dehydrated_aldol(step: &Step<'_>, alpha: u32, aldehyde: u32) -> bool {
    let it = &step.before;
    let has_hydroxyl = |beta: u32| it.is_sp3(beta) && it.next_to(beta).any(|next| it.is_hydroxyl(next));
    it.group(aldehyde) == Group::Aldehyde
        && step.lost_oxo(aldehyde)
        && it.next_to(alpha).any(|next| it.group(next) == Group::Acid)
        && it.next_to(alpha).any(has_hydroxyl)
}

/// Returns true for the α-carbon of a free acrylic acid and an aldehyde: the acid binds the amine that the Baylis–Hillman reaction needs, and the carboxylate is no acceptor.
fn is_acrylic_acid_with_aldehyde(step: &Step<'_>, alpha: u32, aldehyde: u32) -> bool {
    let it = &step.before;
    it.group(aldehyde) == Group::Aldehyde
        && it.group(alpha) == Group::Alkene
        && it.next_to(alpha).any(|next| it.group(next) == Group::Acid)
        && step.hydrogens_gained(alpha) < 0
        && !step.lost_oxo(aldehyde)
}

/// Returns true for a nitro group that becomes the amine and the amidine of a ring with an acid in one step: hydrogen or a metal makes the diamine, and the acid closes it in the heat (Joule and Mills
/// 2010, chapter 24). Formic, acetic and trifluoroacetic acid are the solvent.
fn closes_with_acid(step: &Step<'_>, nitrogen: u32) -> bool {
    let it = &step.before;
    let is_solvent = |acyl: u32| {
        it.carbons(acyl) == 0
            || it.next_to(acyl).any(|next| it.hydrogens(next) == 3 || it.is_trifluoromethyl(next))
    };
    step.gained(nitrogen).any(|(acyl, _)| {
        it.group(acyl) == Group::Acid && !step.are_in_same_molecule(nitrogen, acyl) && !is_solvent(acyl)
    })
}

/// Returns true for the O–H of a carboxylic, phosphonic or sulfonic acid that stays, though an alcohol is to take a diazo compound.
fn is_stronger_acid(step: &Step<'_>, atom: u32, alcohol: u32) -> bool {
    let it = &step.before;
    let is_acid = |oxygen: u32| matches!(it.group(oxygen), Group::AcidOxygen | Group::SulfonicOxygen);
    is_acid(atom) && it.hydrogens(atom) > 0 && step.is_untouched(atom) && !is_acid(alcohol)
}

/// Returns true for the halide of an arene that is to become the ketone of a free acid: the acid takes the first aryllithium, and its salt takes few others (Jorgenson, Org. React. 1970, 18,
/// 1: alkyl- and phenyllithium). Chemists take the N-methoxyamide or the nitrile.
fn is_lithiated_beside_acid(step: &Step<'_>, aryl: u32, acid: u32) -> bool {
    let it = &step.before;
    it.is_aromatic_carbon(aryl)
        && it.group(acid) == Group::Acid
        && step.lost(aryl).any(|(gone, _)| is_heavy_halogen(it.element(gone)))
        && step.lost(acid).any(|(gone, _)| it.is_hydroxyl(gone))
}
