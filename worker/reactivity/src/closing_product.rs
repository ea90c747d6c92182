//! Molecules that close a ring as the step's bond forms, or under the base or activation that the step needs.
//!
//! Sources: Mandolini, Adv. Phys. Org. Chem. 1986, 22, 1, for rings of five and six; Clayden, Greeves and Warren, chapters 10, 15 and 31, for γ-hydroxy esters, halohydrins and oxolanes;
//! Clark and Repke, Heterocycles 1984, 22, 195, for the amide acetals of the Leimgruber–Batcho synthesis; Joule and Mills 2010, chapters 20 and 25, for oxindoles and amino azoles;
//! Parham and Bradsher, Acc. Chem. Res. 1982, 15, 300, for aryllithiums with a halide in their chain; Montalbetti and Falque, Tetrahedron 2005, 61, 10827, for the coupling of acids.

use crate::change::{Facts, Step};
use crate::electrophile;
use crate::event::Event;
use crate::group::{Group, has_conjugated_nitro};
use crate::queries::*;
use crate::refusal::Refusal;

/// Rank of an aryl chloride beside a nitro group on an azine, which a phenoxide takes at room temperature.
const FASTEST_ARENE: i32 = 60;

/// Refuses steps whose molecule closes.
///
/// # Errors
/// Fails with [`Refusal::SelfReacting`].
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let closes = |event: &Event| match *event {
        Event::MetalAddition { carbon, .. } => closes_to_oxolane(step, carbon),
        Event::ConjugateAddition { carbon, partner, .. } => closes_to_lactone(step, carbon, partner),
        Event::Acylation { nucleophile, carbon } => {
            step.before.group(carbon) == Group::Acid
                && !step.are_in_same_molecule(nucleophile, carbon)
                && step.atoms().any(|atom| {
                    closes_on_acid(step, atom, carbon) || alkylates_acid(step, atom, carbon, nucleophile)
                })
        }
        Event::Alkylation { nucleophile, carbon, .. } if is_amide_acetal(&step.before, carbon) => {
            step.atoms().any(|atom| is_base_labile_halide(step, atom, nucleophile))
        }
        // Acid in an alcohol, by the other bond that templates name.
        Event::Alkylation { nucleophile, leaving, .. }
            if step.before.group(nucleophile) == Group::AcidOxygen && step.before.is_hydroxyl(leaving) =>
        {
            step.before
                .next_to(nucleophile)
                .any(|acid| step.atoms().any(|atom| alkylates_acid(step, atom, acid, leaving)))
        }
        Event::Alkylation { nucleophile, carbon, .. }
            if is_thiol_of_free_azole(&step.before, nucleophile) =>
        {
            step.before.distances(carbon, 2).into_iter().any(|(atom, distance)| {
                distance > 0 && step.before.is_alkyl_halide(atom) && step.is_untouched(atom)
            })
        }
        Event::Alkylation { nucleophile, .. } if step.before.group(nucleophile) == Group::Phenol => {
            step.atoms().any(|atom| {
                step.are_in_same_molecule(atom, nucleophile)
                    && electrophile::aryl(&step.before, atom) >= FASTEST_ARENE
                    && has_conjugated_nitro(&step.before.structure, atom)
                    && keeps_halogen(step, atom)
            })
        }
        Event::Alkylation { nucleophile, .. } if is_enolate(&step.before, nucleophile) => {
            step.atoms().any(|atom| is_eliminated_halide(step, atom))
        }
        _ => false,
    };
    let lithiates = |(aryl, carbonyl): (u32, u32)| {
        exchanges_with_lithium(step, aryl, carbonyl)
            && step.atoms().any(|atom| is_amine_of_halide(step, atom, aryl))
    };
    if events.iter().any(closes) || step.joined().any(lithiates) {
        return Err(Refusal::SelfReacting);
    }
    Ok(())
}

/// Returns true for an aldehyde, ketone or ester that becomes an alkoxide four atoms from a bromide or iodide, which it closes to the oxolane. Chlorides last until the work-up.
fn closes_to_oxolane(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let has_halide = |atom: u32| {
        it.is_sp3(atom)
            && it.next_to(atom).any(|next| matches!(it.element(next), BR | I) && step.is_untouched(next))
    };
    let is_alkoxide = |image: u32| {
        step.after.is_sp3(image) && step.after.next_to(image).any(|oxygen| step.after.is_hydroxyl(oxygen))
    };
    matches!(it.group(carbon), Group::Aldehyde | Group::Ketone | Group::Ester)
        && step.image(carbon).is_some_and(is_alkoxide)
        && it.distances(carbon, 3).into_iter().any(|(atom, distance)| distance == 3 && has_halide(atom))
}

/// Returns true for the double bond of a γ-hydroxy ester of a primary or secondary alcohol, whose geometry alone keeps it from the lactone.
fn closes_to_lactone(step: &Step<'_>, beta: u32, alpha: u32) -> bool {
    let it = &step.before;
    let bears_alcohol = |gamma: u32| {
        it.is_sp3(gamma)
            && it
                .next_to(gamma)
                .any(|oxygen| it.is_alcohol(oxygen) && it.hydrogens(oxygen) > 0 && step.is_untouched(oxygen))
    };
    it.next_to(alpha).any(|acyl| it.group(acyl) == Group::Ester && !it.is_in_ring(acyl))
        && it.next_to(beta).any(|gamma| gamma != alpha && bears_alcohol(gamma))
}

/// Returns true for the free amino group of an arene that closes a lactam of five or six with the acid of its own molecule as it is activated.
fn closes_on_acid(step: &Step<'_>, amine: u32, acid: u32) -> bool {
    let it = &step.before;
    let near = || it.distances(acid, 5);
    it.element(amine) == N
        && it.hydrogens(amine) == 2
        && it.aryls(amine) == 1
        && step.is_untouched(amine)
        && near().iter().any(|&(atom, distance)| {
            atom == amine && distance > 3 && it.is_open_path(&near(), amine, distance)
        })
}

/// Returns true for a benzylic bromide or iodide in the molecule of an acid that an amine is to take: the carboxylate and the amine take it first. Beside the acid it closes to the phthalide with an alcohol, too.
fn alkylates_acid(step: &Step<'_>, carbon: u32, acid: u32, nucleophile: u32) -> bool {
    let it = &step.before;
    let is_ortho = || {
        it.next_to(carbon)
            .any(|ipso| it.next_to(ipso).any(|ortho| it.is_aromatic(ortho) && it.bond(ortho, acid).is_some()))
    };
    it.is_sp3(carbon)
        && (it.element(nucleophile) == N || it.is_hydroxyl(nucleophile) && is_ortho())
        && it.aryls(carbon) > 0
        && step.are_in_same_molecule(carbon, acid)
        && it.next_to(carbon).any(|next| matches!(it.element(next), BR | I) && step.is_untouched(next))
}

/// Returns true for the carbon of an acetal of an amide.
fn is_amide_acetal(it: &Facts, carbon: u32) -> bool {
    it.is_sp3(carbon) && it.count(carbon, O) == 2 && it.count(carbon, N) == 1
}

/// Returns true for a carbon with bromine or iodine, or with chlorine beside a free hydroxyl group, which hot methoxide and dimethylamine take.
fn is_base_labile_halide(step: &Step<'_>, carbon: u32, nucleophile: u32) -> bool {
    let it = &step.before;
    let is_labile = |halogen: u32| {
        step.is_untouched(halogen)
            && (matches!(it.element(halogen), BR | I)
                || it.element(halogen) == CL && it.has_beta_hydroxyl(carbon))
    };
    it.is_sp3(carbon) && step.are_in_same_molecule(carbon, nucleophile) && it.next_to(carbon).any(is_labile)
}

/// Returns true for the sulfur of a thiol or thione of an azole with its N–H, which takes the second halide of dihaloethane or dihalopropane to the fused thiazine or thiazoline (Joule and Mills 2010, chapter
/// 25).
fn is_thiol_of_free_azole(it: &Facts, sulfur: u32) -> bool {
    let has_proton = |ipso: u32| {
        it.distances(ipso, 3).into_iter().any(|(atom, _)| {
            it.element(atom) == N && it.is_aromatic(atom) && it.ring(atom) == 5 && it.hydrogens(atom) > 0
        })
    };
    it.element(sulfur) == S
        && it.degree(sulfur) == 1
        && it.next_to(sulfur).any(|ipso| {
            it.is_aromatic_carbon(ipso)
                && it.ring(ipso) == 5
                && it.next_to(ipso).any(|next| it.element(next) == N)
                && (has_proton(ipso) || it.group(sulfur) == Group::ThiocarbonylSulfur)
        })
}

fn keeps_halogen(step: &Step<'_>, carbon: u32) -> bool {
    step.before
        .next_to(carbon)
        .any(|halogen| is_halogen(step.before.element(halogen)) && step.is_untouched(halogen))
}

/// Returns true for the α-carbon of an ester, amide or nitrile without a second acceptor, which lithium amides alone deprotonate.
fn is_enolate(it: &Facts, alpha: u32) -> bool {
    it.is_sp3(alpha)
        && it.hydrogens(alpha) > 0
        && it.next_to(alpha).filter(|&next| it.is_acceptor(next)).count() == 1
        && it
            .next_to(alpha)
            .any(|next| matches!(it.group(next), Group::Ester | Group::Amide | Group::Nitrile))
}

/// Returns true for a tertiary bromide or iodide that stays and has hydrogen beside it in an open chain or a ring of five or more: lithium amides eliminate it. Bridgeheads hold it.
fn is_eliminated_halide(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    it.is_sp3(carbon)
        && it.carbons(carbon) == 3
        && it.next_to(carbon).any(|next| matches!(it.element(next), BR | I) && step.is_untouched(next))
        && !crate::stability::is_bridgehead(it, carbon)
        && it.next_to(carbon).any(|beta| it.is_sp3(beta) && it.hydrogens(beta) > 0)
}

/// Returns true for an aryl bromide or iodide that butyllithium exchanges for a carbonyl compound.
fn exchanges_with_lithium(step: &Step<'_>, aryl: u32, carbonyl: u32) -> bool {
    let it = &step.before;
    it.is_aromatic_carbon(aryl)
        && step.lost(aryl).any(|(gone, _)| matches!(it.element(gone), BR | I))
        && (it.group(carbonyl) == Group::CarbonDioxide
            || it.group(carbonyl) == Group::Aldehyde
            || it.group(carbonyl) == Group::Amide && it.hydrogens(carbonyl) > 0)
}

/// Returns true for the carbon of a halide two carbons from the tertiary amine or aniline of an aryl halide, which closes to the aziridinium ion or takes the lithium.
fn is_amine_of_halide(step: &Step<'_>, carbon: u32, aryl: u32) -> bool {
    let it = &step.before;
    let bears_amine = |beta: u32| {
        it.is_sp3(beta)
            && it
                .next_to(beta)
                .any(|amine| matches!(it.group(amine), Group::TertiaryAmine | Group::TertiaryAniline))
    };
    it.is_alkyl_halide(carbon)
        && step.is_untouched(carbon)
        && step.are_in_same_molecule(carbon, aryl)
        && it.next_to(carbon).any(bears_amine)
}
