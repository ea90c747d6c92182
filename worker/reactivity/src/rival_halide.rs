//! Second electrophiles and poisons in cross couplings, and the zinc reagents that a step makes in place.
//!
//! Sources: Littke and Fu, Angew. Chem. Int. Ed. 2002, 41, 4176, for chlorides; Charbonneau and others, Org. Lett. 2005, 7, 1, for benzylic
//! chlorides, which couple with boronic acids as bromides do; Schröter, Stock and Bach, Tetrahedron 2005, 61, 2245, for 4-chloropyrimidines and
//! quinazolines; Gololobov and Kasukhin, Tetrahedron 1992, 48, 1353, for azides and phosphines; Knochel and others, "Handbook of
//! Functionalized Organometallics" (2005), for zinc reagents beside acids and alkyne C–H.

use crate::arylation::{halide, has_open_boron};
use crate::bifunctional::lost_halogen;
use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::{Group, aromatic_positions, positions_beside};
use crate::halide_order;
use crate::queries::*;
use crate::reagent::TIE_MARGIN;
use crate::refusal::Refusal;

type Verdict = Result<(), Refusal>;

/// Refuses couplings that leave an electrophile as good as their own, and those beside an azide.
///
/// # Errors
/// Fails with [`Refusal::CompetingGroup`] or [`Refusal::Incompatible`].
pub fn check(step: &Step<'_>, events: &[Event]) -> Verdict {
    let it = &step.before;
    for event in events {
        let (metal, carbon) = match *event {
            Event::Coupling { metal, carbon, .. } => (Some(metal), carbon),
            Event::Alkynylation { carbon, .. } | Event::Heck { carbon, .. } => (None, carbon),
            Event::Arylation { nucleophile, carbon, .. }
                if leaves_like_bromide(step, nucleophile, carbon) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            _ => continue,
        };
        if step.atoms().any(|atom| it.group(atom) == Group::Azide && step.is_untouched(atom)) {
            return Err(Refusal::Incompatible);
        }
        let has_rival = step.atoms().any(|atom| {
            (is_benzylic_chloride(it, atom)
                || has_bromide(it, carbon)
                    && is_chloropyrimidine(it, atom)
                    && !it.has_conjugated_azine(carbon)
                || metal.is_some_and(|metal| is_own_bromide(step, metal, carbon, atom)))
                && step.is_untouched(atom)
        });
        if metal.is_some_and(|metal| {
            has_open_boron(it, metal)
                && is_beside_azine_nitrogen(it, metal)
                && it
                    .next_to(carbon)
                    .filter(|&ortho| it.is_aromatic_carbon(ortho) && it.hydrogens(ortho) == 0)
                    .count()
                    == 2
        }) {
            return Err(Refusal::Unstable);
        }
        if let Event::Heck { alkene, .. } = *event {
            refuse_lesser_heck(step, alkene, carbon)?;
        }
        if has_rival {
            return Err(Refusal::CompetingGroup);
        }
        if metal.is_some_and(|metal| is_ethynylsilane(step, metal)) {
            return Err(Refusal::CompetingGroup);
        }
        if metal.is_some_and(|metal| {
            is_on_triaminoazine(it, carbon)
                || is_azolylboronic_acid(it, metal) && is_on_diaminopyrimidine(it, carbon)
        }) {
            return Err(Refusal::Unreactive);
        }
    }
    if step.atoms().any(|carbon| keeps_twin_boron(step, carbon)) {
        return Err(Refusal::CompetingGroup);
    }
    let is_crowded_heck = |event: &Event| {
        matches!(*event, Event::Heck { alkene, carbon, .. } if it.is_plain_alkene(alkene)
            && it.doubly(alkene, |near| it.aryls(near) > 0).is_none()
            && !step.are_in_same_molecule(alkene, carbon)
            && is_between_alkoxy_groups(it, carbon))
    };
    if events.iter().any(is_crowded_heck) {
        return Err(Refusal::Hindered);
    }
    if step.joined().any(|(aryl, alkene)| leaves_like_arylation(step, aryl, alkene)) {
        return Err(Refusal::CompetingGroup);
    }
    for (alkyl, aryl) in step.joined() {
        refuse_zinc_in_place(step, alkyl, aryl)?;
    }
    Ok(())
}

/// Refuses the inner carbon of an acrylate or acrylamide, where the aryl group joins the outer one, free acrolein, which polymerises, and an alkene whose own molecule keeps a bromide or iodide that
/// palladium takes as soon as a triflate (Heck, Org. React. 1982, 27, 345).
fn refuse_lesser_heck(step: &Step<'_>, alkene: u32, carbon: u32) -> Verdict {
    let it = &step.before;
    if step.are_in_same_molecule(alkene, carbon) {
        return Ok(());
    }
    let beta = it.doubly(alkene, |beta| it.element(beta) == C);
    if it.is_alpha(alkene) && beta.is_some_and(|beta| it.hydrogens(beta) == 2) {
        return Err(Refusal::Position);
    }
    let is_acrolein = |alpha: u32| {
        it.hydrogens(alpha) == 1 && it.next_to(alpha).any(|acyl| it.group(acyl) == Group::Aldehyde)
    };
    let is_iodide = step.lost(carbon).any(|(gone, _)| it.element(gone) == I);
    if it.hydrogens(alkene) == 2 && beta.is_some_and(is_acrolein) && !is_iodide {
        return Err(Refusal::SelfReacting);
    }
    let is_own_halide = |atom: u32| {
        it.is_aromatic_carbon(atom)
            && it.count(atom, BR) + it.count(atom, I) > 0
            && step.is_untouched(atom)
            && step.are_in_same_molecule(atom, alkene)
    };
    if !is_iodide && step.atoms().any(is_own_halide) { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Returns true for a carbon beside the nitrogen of a pyridine or quinoline, whose boronate loses boron as it forms (Cox and others, J. Am. Chem. Soc. 2016, 138, 9145).
fn is_beside_azine_nitrogen(it: &Facts, carbon: u32) -> bool {
    it.ring(carbon) == 6
        && it.is_aromatic_carbon(carbon)
        && it.next_to(carbon).any(|next| it.group(next) == Group::Azine && it.ring(next) == 6)
}

/// Returns true for a carbon of a benzene ring between two alkoxy groups, which crowd its palladium compound and make it too rich for an alkene that nothing draws (Beletskaya and Cheprakov, Chem. Rev. 2000,
/// 100, 3009).
fn is_between_alkoxy_groups(it: &Facts, carbon: u32) -> bool {
    let bears_ether = |ortho: u32| {
        it.is_aromatic(ortho) && it.next_to(ortho).any(|next| it.group(next) == Group::ArylEther)
    };
    it.ring(carbon) == 6 && it.next_to(carbon).filter(|&ortho| bears_ether(ortho)).count() == 2
}

/// Returns true for an aryl bromide or iodide that palladium adds to an alkene, whose own molecules keep another that it takes as soon. The double bond may run on to an alcohol's carbon (Heck,
/// Org. React. 1982, 27, 345).
fn leaves_like_arylation(step: &Step<'_>, aryl: u32, alkene: u32) -> bool {
    let it = &step.before;
    let rank = halide_order::coupling(it, aryl);
    it.is_aromatic_carbon(aryl)
        && it.group(alkene) == Group::Alkene
        && step.lost(aryl).any(|(gone, _)| matches!(it.element(gone), BR | I))
        && step.atoms().any(|atom| {
            atom != aryl
                && it.is_aromatic_carbon(atom)
                && it.count(atom, BR) + it.count(atom, I) > 0
                && step.is_untouched(atom)
                && !step.are_equivalent(atom, aryl)
                && halide_order::coupling(it, atom) > rank - TIE_MARGIN
        })
}

/// Returns true for a diboron and a bromide whose molecule keeps another that palladium takes as soon: both are borylated, or the boronic ester couples with it (Ishiyama,
/// Murata and Miyaura, J. Org. Chem. 1995, 60, 7508).
fn leaves_like_bromide(step: &Step<'_>, boron: u32, carbon: u32) -> bool {
    let it = &step.before;
    let rank = halide_order::coupling(it, carbon);
    it.element(boron) == B
        && has_bromide(it, carbon)
        && step.atoms().any(|atom| {
            it.is_aromatic_carbon(atom)
                && has_bromide(it, atom)
                && step.is_untouched(atom)
                && step.are_in_same_molecule(atom, carbon)
                && !step.are_equivalent(atom, carbon)
                && halide_order::coupling(it, atom) > rank - TIE_MARGIN
        })
}

/// Returns true for the carbon of a silylalkyne with a free C–H at its other end, which palladium and copper take while the silyl group stays (Clayden, Greeves and
/// Warren, chapter 40).
fn is_ethynylsilane(step: &Step<'_>, alkyne: u32) -> bool {
    let it = &step.before;
    it.triply(alkyne).is_some_and(|end| it.hydrogens(end) > 0)
        && step.lost(alkyne).any(|(gone, _)| it.element(gone) == SI)
}

/// Returns true for the carbon of a free boronic acid beside the nitrogen of an azole, which loses its boron to base.
fn is_azolylboronic_acid(it: &Facts, carbon: u32) -> bool {
    let is_acid =
        |boron: u32| it.element(boron) == B && it.next_to(boron).any(|oxygen| it.is_hydroxyl(oxygen));
    it.ring(carbon) == 5
        && it.next_to(carbon).any(is_acid)
        && it.next_to(carbon).any(|next| it.element(next) == N && it.is_aromatic(next))
}

/// Returns true for a carbon with chlorine between the nitrogens of a pyrimidine with two amino groups, which palladium takes slowly (Littke and Fu 2002).
fn is_on_diaminopyrimidine(it: &Facts, carbon: u32) -> bool {
    let is_amine = |next: u32| matches!(it.group(next), Group::PoorAniline | Group::TertiaryAniline);
    it.count(carbon, CL) == 1
        && it.ring(carbon) == 6
        && it.count(carbon, N) == 2
        && positions_beside(&it.structure, carbon, is_amine) > 1
}

/// Returns true for a carbon that gives up a boron group and leaves the same on a carbon just like it, which goes on.
fn keeps_twin_boron(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    step.forms_bond(carbon)
        && step.lost(carbon).any(|(gone, _)| it.element(gone) == B)
        && step.atoms().any(|other| {
            other != carbon
                && it.count(other, B) > 0
                && step.is_untouched(other)
                && step.are_equivalent(other, carbon)
        })
}

/// Returns true for the carbon of a benzylic chloride, bromide or iodide with one halogen.
fn is_benzylic_chloride(it: &Facts, carbon: u32) -> bool {
    it.is_sp3(carbon)
        && it.hydrogens(carbon) == 2
        && it.next_to(carbon).any(|next| is_heavy_halogen(it.element(next)))
        && it.next_to(carbon).any(|next| it.is_aromatic(next))
}

fn has_bromide(it: &Facts, carbon: u32) -> bool {
    it.count(carbon, BR) == 1
}

/// Returns true for a carbon with chlorine between a nitrogen and the carbon across from another: 4 of pyrimidine, quinazoline, pyrrolotriazine.
fn is_chloropyrimidine(it: &Facts, carbon: u32) -> bool {
    if it.count(carbon, CL) == 0 || it.ring(carbon) != 6 || !it.is_aromatic(carbon) {
        return false;
    }
    let positions = aromatic_positions(&it.structure, carbon);
    let has_nitrogen = |wanted: u32| {
        positions.iter().any(|&(atom, distance)| {
            distance == wanted && it.group(atom) == Group::Azine && it.ring(atom) == 6
        })
    };
    has_nitrogen(1) && has_nitrogen(3)
}

/// Returns true for a carbon with chlorine in an azine with three free amino groups, which make it too rich for palladium and bind the metal (Littke and Fu 2002).
fn is_on_triaminoazine(it: &Facts, carbon: u32) -> bool {
    let is_amine = |next: u32| it.element(next) == N && it.hydrogens(next) == 2;
    it.count(carbon, CL) == 1 && positions_beside(&it.structure, carbon, is_amine) > 2
}

/// Returns true for a bromide or iodide of the boronic acid's own molecule beside the nitrogen of an azine, or across from it.
fn is_own_bromide(step: &Step<'_>, metal: u32, carbon: u32, atom: u32) -> bool {
    let it = &step.before;
    step.are_in_same_molecule(atom, metal)
        && it.is_aromatic_carbon(atom)
        && it.count(atom, BR) + it.count(atom, I) > 0
        && has_open_boron(it, metal)
        && it.is_aromatic(carbon)
        && it.has_conjugated_azine(atom)
}

/// Returns true if the carbon beside that of a zinc reagent bears a halogen or an amino group, which leaves as an alkene forms.
fn loses_group_beside_zinc(it: &Facts, carbon: u32) -> bool {
    let leaves = |far: u32| {
        is_halogen(it.element(far))
            || matches!(it.group(far), Group::PrimaryAmine | Group::SecondaryAmine | Group::TertiaryAmine)
    };
    it.next_to(carbon).any(|next| it.is_sp3(next) && it.next_to(next).any(leaves))
}

/// Returns true if the carbon beside that of a zinc reagent bears an azine or azole, which takes its hydrogen as an alkene forms.
fn is_beta_to_heteroarene(it: &Facts, carbon: u32) -> bool {
    let is_heteroarene = |ring: u32| {
        aromatic_positions(&it.structure, ring)
            .iter()
            .any(|&(atom, distance)| distance != 2 && it.element(atom) == N)
    };
    it.next_to(carbon).any(|next| {
        it.is_sp3(next)
            && it.hydrogens(next) > 0
            && it.next_to(next).any(|far| it.is_aromatic(far) && is_heteroarene(far))
    })
}

/// Checks an alkyl halide that becomes a zinc reagent and couples with an aryl halide in one step.
fn refuse_zinc_in_place(step: &Step<'_>, alkyl: u32, aryl: u32) -> Verdict {
    let it = &step.before;
    if !it.is_sp3(alkyl) || !it.is_aromatic_carbon(aryl) || step.are_in_same_molecule(alkyl, aryl) {
        return Ok(());
    }
    let (Some(_), Some(leaving)) = (lost_halogen(step, alkyl), lost_halogen(step, aryl)) else {
        return Ok(());
    };
    let is_acid = |atom: u32| {
        it.hydrogens(atom) > 0
            && matches!(
                it.group(atom),
                Group::AcidOxygen
                    | Group::Phenol
                    | Group::SulfonicOxygen
                    | Group::Thiol
                    | Group::Thiophenol
                    | Group::TerminalAlkyne
                    | Group::BoronicOxygen
            )
    };
    // A pyridone is as acidic as a phenol.
    let is_lactam =
        |atom: u32| it.group(atom) == Group::AmideNitrogen && it.is_aromatic(atom) && it.hydrogens(atom) > 0;
    // These quench the zinc reagent that their own molecule becomes.
    let is_own_acid = |atom: u32| {
        let is_acid = matches!(
            it.group(atom),
            Group::Azole
                | Group::Hydrazine
                | Group::PrimaryAmine
                | Group::SecondaryAmine
                | Group::PrimaryAlcohol
                | Group::SecondaryAlcohol
                | Group::TertiaryAlcohol
        );
        is_acid && it.hydrogens(atom) > 0 && step.are_in_same_molecule(atom, alkyl)
    };
    if step
        .atoms()
        .any(|atom| (is_acid(atom) || is_lactam(atom) || is_own_acid(atom)) && step.is_untouched(atom))
    {
        return Err(Refusal::Incompatible);
    }
    // Nickel and zinc reduce a nitro group first.
    if step.atoms().any(|atom| it.group(atom) == Group::Nitro && step.is_untouched(atom)) {
        return Err(Refusal::Incompatible);
    }
    if it.is_alpha(alkyl) && step.leaves_amine() {
        return Err(Refusal::CompetingGroup);
    }
    // Zinc is inserted by way of a radical, which loses the configuration (Knochel and others 2005).
    if it.at(alkyl).centre.is_some() {
        return Err(Refusal::StereoScrambled);
    }
    if loses_group_beside_zinc(it, alkyl)
        || it.carbons(alkyl) > 1 && is_beta_to_heteroarene(it, alkyl)
        || it.next_to(alkyl).filter(|&next| it.is_carbonyl(next)).count() > 1
    {
        return Err(Refusal::Unstable);
    }
    halide(step, aryl, leaving)
}
