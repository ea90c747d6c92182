//! Reagents that do something else than what is drawn: with the group that they are to take, or with another one of the mixture.
//!
//! Sources: Swamy and others, Chem. Rev. 2009, 109, 2551, for the Mitsunobu reaction; Hogan and Cox, Org. Process Res. Dev. 2009, 13, 875, for sulfonyl chlorides from diazonium ions;
//! Cossy and others, Chirality 2009, 21, 850, for aziridinium ions; Tramontini and Angiolini, "Mannich Bases" (1994), for the arenes that take iminium ions; Rylander, "Hydrogenation
//! Methods" (1985), for sulfur, which poisons, and nitriles; Joule and Mills 2010, chapters 8, 14 and 27, for amino- and oxoazines; Smith, "March's Advanced Organic Chemistry", chapter 10, for
//! von Braun's degradation of amides; Knochel, "Handbook of Functionalized Organometallics" (2005), for metals beside a leaving group; Matteson, J. Organomet. Chem. 1999, 581, 51, for α-amido
//! boronic acids, which are made last.

use crate::base_labile::is_acyloxymethyl;
use crate::bifunctional::lost_halogen;
use crate::change::{Facts, Step};
use crate::cleavage::keeps_chloride_of_azine;
use crate::event::Event;
use crate::group::{Group, aromatic_positions, has_conjugated_nitro};
use crate::queries::*;
use crate::refusal::Refusal;

type Verdict = Result<(), Refusal>;

/// Refuses such steps.
///
/// # Errors
/// Returns the reason as a chemist would say it.
pub fn check(step: &Step<'_>, events: &[Event]) -> Verdict {
    events.iter().try_for_each(|event| of_event(step, event))?;
    if joins_azole_thiol_and_amine(step, events) {
        return Err(Refusal::CompetingGroup);
    }
    if acylates_as_it_reduces(step, events) {
        return Err(Refusal::Incompatible);
    }
    for (from, to) in step.joined() {
        of_bond(step, from, to)?;
    }
    step.atoms().try_for_each(|atom| of_atom(step, atom))
}

/// Returns true for an acyl halide, chloroformate or carbonyldiimidazole beside the reduction of a nitro group: the acid, water or alcohol of the reduction takes it. Acids and anhydrides stay.
fn acylates_as_it_reduces(step: &Step<'_>, events: &[Event]) -> bool {
    let it = &step.before;
    let is_lost = |event: &Event| {
        matches!(*event, Event::Acylation { carbon, .. }
            if matches!(it.group(carbon), Group::AcylHalide | Group::Chloroformate) || is_azolide(it, carbon))
    };
    events.iter().any(|event| matches!(event, Event::NitroReduction { .. })) && events.iter().any(is_lost)
}

/// Returns true for the acyl carbon of carbonyldiimidazole.
fn is_azolide(it: &Facts, carbon: u32) -> bool {
    it.next_to(carbon).filter(|&next| it.element(next) == N && it.is_aromatic(next)).count() > 1
}

fn of_event(step: &Step<'_>, event: &Event) -> Verdict {
    let it = &step.before;
    let keeps =
        |wanted: &dyn Fn(u32) -> bool| step.atoms().any(|atom| step.is_untouched(atom) && wanted(atom));
    match *event {
        Event::Alkylation { nucleophile, carbon, leaving } if it.is_hydroxyl(leaving) => {
            if keeps(&|atom| is_acid_chloride(it, atom)) {
                return Err(Refusal::Incompatible);
            }
            let is_own_amine = |atom: u32| it.is_amine(atom) && step.are_in_same_molecule(atom, nucleophile);
            // Acid esterifies amino acids, and inverts nothing.
            let is_defined = || step.image(carbon).is_some_and(|image| step.after.at(image).centre.is_some());
            if it.group(nucleophile) == Group::AcidOxygen && is_defined() && keeps(&is_own_amine) {
                return Err(Refusal::CompetingGroup);
            }
        }
        Event::Alkylation { nucleophile, carbon, leaving }
            if is_aminopyrimidine(it, nucleophile)
                && is_alkylating(it, carbon, leaving)
                && !step.are_in_same_molecule(nucleophile, carbon) =>
        {
            return Err(Refusal::CompetingGroup);
        }
        Event::Alkylation { nucleophile, .. } | Event::Arylation { nucleophile, .. }
            if is_lactim_imide(it, nucleophile) =>
        {
            return Err(Refusal::CompetingGroup);
        }
        Event::Diazotisation { carbon, .. }
            if becomes_sulfonyl_chloride(step, carbon)
                && it.next_to(carbon).any(|next| it.element(next) == N && it.is_aromatic(next)) =>
        {
            return Err(Refusal::Unreactive);
        }
        Event::Deoxyhalogenation { carbon, .. } if opens_aziridinium(step, carbon) => {
            return Err(Refusal::StereoScrambled);
        }
        Event::Aldol { nucleophile, carbon } if is_methylenation_of_ester(step, nucleophile, carbon) => {
            return Err(Refusal::Unreactive);
        }
        Event::Hydrogenation { carbon, .. } if it.is_aromatic(carbon) => {
            let is_saturated = |ring: u32| step.image(ring).is_some_and(|image| step.after.is_sp3(image));
            let is_nitrile_of_ring = |atom: u32| {
                it.is_cyano(atom) && it.next_to(atom).any(|ring| it.is_aromatic(ring) && is_saturated(ring))
            };
            if keeps(&is_nitrile_of_ring) {
                return Err(Refusal::CompetingGroup);
            }
            if keeps(&|atom| it.element(atom) == S && it.is_aromatic(atom)) {
                return Err(Refusal::Unreactive);
            }
        }
        // Oxygen takes the C–H beside an amine, or the amine, before that beside an amide.
        Event::Functionalisation { carbon, element: O }
            if it.next_to(carbon).any(|next| it.group(next) == Group::AmideNitrogen)
                && keeps(&|atom| it.group(atom) == Group::TertiaryAmine) =>
        {
            return Err(Refusal::CompetingGroup);
        }
        Event::NitrileReduction { .. } => {
            let is_formamide = |atom: u32| it.group(atom) == Group::Amide && it.hydrogens(atom) == 1;
            if keeps_chloride_of_azine(step) && keeps(&is_formamide) {
                return Err(Refusal::CompetingGroup);
            }
        }
        Event::AromaticSubstitution { carbon, electrophile: Some(other), element } => {
            if element == S && is_para_to_acyl(it, carbon) {
                return Err(Refusal::Position);
            }
            if element == S && is_weak_sulfonylation(it, carbon, other) {
                return Err(Refusal::Unreactive);
            }
            if element == C && is_acid_of_free_azole(it, other) {
                return Err(Refusal::SelfReacting);
            }
            if element == C && is_mannich_of_plain_ring(step, carbon, other) {
                return Err(Refusal::Arene);
            }
        }
        Event::Acylation { nucleophile, carbon } => {
            if it.is_sp3(nucleophile) && it.group(carbon) == Group::Ester && is_acyloin(step, nucleophile) {
                return Err(Refusal::CompetingGroup);
            }
            if it.group(nucleophile) == Group::Water && keeps(&|atom| is_alkyl_sulfonate(it, atom)) {
                return Err(Refusal::CompetingGroup);
            }
            if keeps(&|atom| is_free_amidoboronic_acid(it, atom)) {
                return Err(Refusal::Incompatible);
            }
        }
        _ => {}
    }
    Ok(())
}

fn of_bond(step: &Step<'_>, from: u32, to: u32) -> Verdict {
    let it = &step.before;
    if is_magnesium_beside_leaving_group(step, from, to) {
        return Err(Refusal::SelfReacting);
    }
    if is_cyanide_on_diketone(step, from, to) {
        return Err(Refusal::CompetingGroup);
    }
    if condenses_nitroaniline_with_hindered_ketone(step, from, to) {
        return Err(Refusal::Unreactive);
    }
    if dehydrates_azine_carbinol(step, from, to) {
        return Err(Refusal::OxidationState);
    }
    let keeps =
        |wanted: &dyn Fn(u32) -> bool| step.atoms().any(|atom| step.is_untouched(atom) && wanted(atom));
    let takes_formaldehyde = matches!(
        it.group(from),
        Group::AmideNitrogen | Group::ImideNitrogen | Group::UreaNitrogen | Group::CarbamateNitrogen
    ) && it.group(to) == Group::Aldehyde
        && it.hydrogens(to) == 2
        && !step.lost_oxo(to);
    let takes_it_first =
        |atom: u32| it.is_simple_amine(atom) && it.hydrogens(atom) > 0 || is_amino_azine(it, atom);
    if takes_formaldehyde && keeps(&takes_it_first) {
        return Err(Refusal::CompetingGroup);
    }
    let condenses = matches!(it.group(from), Group::Ammonia | Group::PrimaryAmine)
        && it.group(to) == Group::Ketone
        && step.lost_oxo(to);
    if condenses && keeps(&|atom| is_acyloxymethyl(it, atom)) {
        return Err(Refusal::Incompatible);
    }
    Ok(())
}

fn of_atom(step: &Step<'_>, atom: u32) -> Verdict {
    // A sulfoxide gives up its oxygen or, by way of Pummerer's reaction, its carbon in two steps.
    let it = &step.before;
    if it.group(atom) == Group::Sulfoxide
        && [C, O].iter().all(|&wanted| step.lost(atom).any(|(gone, _)| it.element(gone) == wanted))
    {
        return Err(Refusal::OxidationState);
    }
    if it.element(atom) != C {
        return Ok(());
    }
    if becomes_beta_amino_iodide(step, atom) {
        return Err(Refusal::SelfReacting);
    }
    if loses_oxygen_of_ring(step, atom) {
        return Err(Refusal::OxidationState);
    }
    if loses_tert_butyl_of_nitrilium(step, atom) { Err(Refusal::SelfReacting) } else { Ok(()) }
}

/// Returns true for an acyl or sulfonyl chloride or bromide, which phosphines and free alcohols take.
fn is_acid_chloride(it: &Facts, atom: u32) -> bool {
    matches!(it.group(atom), Group::SulfonylHalide | Group::AcylHalide | Group::Chloroformate)
        && it.count(atom, F) == 0
        && it.next_to(atom).any(|next| is_heavy_halogen(it.element(next)))
}

/// Returns true for the amino group of an azine.
fn is_amino_azine(it: &Facts, atom: u32) -> bool {
    it.group(atom) == Group::PoorAniline && it.hydrogens(atom) == 2
}

/// Returns true for the amino group beside a ring nitrogen of a pyrimidine, adenine or quinazoline: alkyl halides take the ring, and N1 of adenines (Joule and Mills 2010, chapters 14 and 27).
fn is_aminopyrimidine(it: &Facts, amine: u32) -> bool {
    let is_azine = |atom: u32| it.group(atom) == Group::Azine && it.ring(atom) == 6;
    it.element(amine) == N
        && it.hydrogens(amine) == 2
        && it.next_to(amine).filter(|&ipso| it.is_aromatic(ipso) && it.ring(ipso) == 6).any(|ipso| {
            it.next_to(ipso).any(is_azine)
                && aromatic_positions(&it.structure, ipso).iter().filter(|&&(atom, _)| is_azine(atom)).count()
                    > 1
        })
}

/// Returns true for an alkyl halide or sulfonate without an acyl group.
fn is_alkylating(it: &Facts, carbon: u32, leaving: u32) -> bool {
    it.is_sp3(carbon)
        && (is_heavy_halogen(it.element(leaving)) || it.group(leaving) == Group::SulfonateOxygen)
}

/// Returns true for the nitrogen between a carbonyl group and a hydroxyl group of a pyrimidinedione drawn as the lactim, beside a ring N–H, which is taken first.
fn is_lactim_imide(it: &Facts, nitrogen: u32) -> bool {
    let is_lactim = |next: u32| {
        it.next_to(next).any(|oxygen| it.group(oxygen) == Group::Phenol && it.hydrogens(oxygen) > 0)
    };
    let is_free = |atom: u32| it.element(atom) == N && it.is_aromatic(atom) && it.hydrogens(atom) > 0;
    it.element(nitrogen) == N
        && it.is_aromatic(nitrogen)
        && it.hydrogens(nitrogen) == 0
        && it.ring(nitrogen) == 6
        && it.next_to(nitrogen).any(is_lactim)
        && it.next_to(nitrogen).any(|next| it.is_carbonyl(next))
        && it.distances(nitrogen, 3).into_iter().any(|(atom, _)| is_free(atom))
}

fn becomes_sulfonyl_chloride(step: &Step<'_>, carbon: u32) -> bool {
    step.image(carbon).is_some_and(|image| {
        step.after.next_to(image).any(|sulfur| step.after.group(sulfur) == Group::SulfonylHalide)
    })
}

/// Returns true for an alcohol of one configuration that becomes a halide beside a tertiary amine in an open chain: the aziridinium ion takes the halide at its other carbon too, and
/// the amine and the halide change places.
fn opens_aziridinium(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_defined = |atom: u32| step.image(atom).is_some_and(|image| step.after.at(image).centre.is_some());
    let bears_amine =
        |beta: u32| it.is_sp3(beta) && it.next_to(beta).any(|amine| it.group(amine) == Group::TertiaryAmine);
    !it.is_in_ring(carbon)
        && it.aryls(carbon) == 0
        && it.next_to(carbon).any(|beta| bears_amine(beta) && (is_defined(carbon) || is_defined(beta)))
}

/// Returns true for formaldehyde and an ester of an open chain without a second acceptor, an aryl or a vinyl group, whose methylene compound takes a second step with a strong base (March, chapter 16).
fn is_methylenation_of_ester(step: &Step<'_>, alpha: u32, carbon: u32) -> bool {
    let it = &step.before;
    it.group(carbon) == Group::Aldehyde
        && it.hydrogens(carbon) == 2
        && step.lost_oxo(carbon)
        && it.is_sp3(alpha)
        && it.next_to(alpha).filter(|&next| it.is_acceptor(next)).count() == 1
        && it.next_to(alpha).any(|acyl| it.group(acyl) == Group::Ester && !it.is_in_ring(acyl))
        && !it.is_benzylic_or_allylic(alpha)
}

/// Returns true for the position para to the carbonyl group of a benzamide or benzoyl compound without a donor across from it: such rings sulfonate meta (March, chapter 11).
fn is_para_to_acyl(it: &Facts, carbon: u32) -> bool {
    let positions = aromatic_positions(&it.structure, carbon);
    let bears = |distance: u32, wanted: &dyn Fn(u32) -> bool| {
        positions.iter().any(|&(atom, far)| {
            far == distance && it.next_to(atom).any(|next| !it.is_aromatic(next) && wanted(next))
        })
    };
    let is_substituent = |next: u32| !it.is_carbonyl(next);
    it.ring(carbon) == 6
        && positions.iter().all(|&(atom, _)| it.is_aromatic_carbon(atom))
        && bears(3, &|next| it.is_carbonyl(next))
        && !bears(1, &is_substituent)
        && !bears(2, &is_substituent)
}

/// Returns true for a sulfinic acid, which takes an oxidant to join an arene, and for a sulfonic acid and a uracil.
fn is_weak_sulfonylation(it: &Facts, carbon: u32, sulfur: u32) -> bool {
    let is_acid = it.element(sulfur) == S && it.next_to(sulfur).any(|oxygen| it.is_hydroxyl(oxygen));
    let is_lactam = || {
        aromatic_positions(&it.structure, carbon).iter().filter(|&&(atom, _)| it.is_carbonyl(atom)).count()
            > 1
    };
    is_acid && it.carbons(sulfur) == 1 && (it.oxo(sulfur) == 1 || is_lactam())
}

/// Returns true for the acid or acyl halide of an azole beside its N–H, which acylates the next molecule to the diketopiperazine (Kasina and Nematollahi, Synthesis 1975, 162).
fn is_acid_of_free_azole(it: &Facts, acyl: u32) -> bool {
    let is_free = |atom: u32| it.element(atom) == N && it.is_aromatic(atom) && it.hydrogens(atom) > 0;
    matches!(it.group(acyl), Group::Acid | Group::AcylHalide)
        && it.next_to(acyl).filter(|&ring| it.is_aromatic(ring)).any(|ring| {
            it.ring(ring) == 5
                && it.distances(ring, 2).into_iter().any(|(atom, _)| it.ring(atom) == 5 && is_free(atom))
                && it
                    .distances(ring, 2)
                    .into_iter()
                    .filter(|&(atom, _)| it.is_aromatic(atom) && matches!(it.element(atom), N | O))
                    .count()
                    > 1
        })
}

/// Returns true for formaldehyde and an amine that are to substitute a thiophene, or a benzene ring without a hydroxyl or amino group beside or across.
fn is_mannich_of_plain_ring(step: &Step<'_>, carbon: u32, formaldehyde: u32) -> bool {
    let it = &step.before;
    let takes_amine = step
        .gained(formaldehyde)
        .any(|(other, _)| it.element(other) == N && !step.are_in_same_molecule(other, carbon));
    let positions = || aromatic_positions(&it.structure, carbon).into_iter();
    let is_thiophene = it.ring(carbon) == 5
        && positions().any(|(atom, _)| it.element(atom) == S && it.ring(atom) == 5)
        && positions().all(|(atom, _)| !matches!(it.element(atom), N | O) || it.ring(atom) != 5);
    let is_plain_benzene = || {
        it.ring(carbon) == 6
            && positions().all(|(atom, _)| it.element(atom) == C && !it.is_carbonyl(atom))
            && !positions().any(|(atom, distance)| {
                distance != 2
                    && it.next_to(atom).any(|next| {
                        it.group(next) == Group::Phenol
                            || it.is_arylamine(next)
                            || it.is_aromatic(next) && it.element(next) == N
                    })
            })
    };
    takes_amine
        && it.group(formaldehyde) == Group::Aldehyde
        && it.hydrogens(formaldehyde) == 2
        && (is_thiophene || is_plain_benzene())
}

/// Returns true for the α-carbon of a ketone with a free hydroxyl group on its other side: the alkoxide takes the ester, and the stereocentre is lost (Clayden, Greeves and Warren, chapter 26).
fn is_acyloin(step: &Step<'_>, alpha: u32) -> bool {
    let it = &step.before;
    let bears_hydroxyl = |other: u32| {
        other != alpha
            && it.is_sp3(other)
            && it
                .next_to(other)
                .any(|oxygen| it.is_alcohol(oxygen) && it.hydrogens(oxygen) > 0 && step.is_untouched(oxygen))
    };
    it.next_to(alpha)
        .any(|ketone| it.group(ketone) == Group::Ketone && it.next_to(ketone).any(bears_hydroxyl))
}

/// Returns true if phosgene is to join a thiol beside a ring nitrogen and another nucleophile: the ring's nitrogen takes it as well, and the amine takes it twice.
fn joins_azole_thiol_and_amine(step: &Step<'_>, events: &[Event]) -> bool {
    let acylated: Vec<(u32, u32)> = events
        .iter()
        .filter_map(|event| match *event {
            Event::Acylation { nucleophile, carbon } => Some((nucleophile, carbon)),
            _ => None,
        })
        .collect();
    acylated.iter().any(|&(thiol, carbon)| {
        is_azole_thiol(&step.before, thiol)
            && acylated.iter().any(|&(other, acyl)| other != thiol && acyl == carbon)
    })
}

/// Returns true for the sulfur of a thiol beside a ring nitrogen, which is a thione.
fn is_azole_thiol(it: &Facts, sulfur: u32) -> bool {
    it.element(sulfur) == S
        && it.hydrogens(sulfur) == 1
        && it.next_to(sulfur).any(|ipso| {
            it.is_aromatic(ipso) && it.next_to(ipso).any(|next| it.element(next) == N && it.is_aromatic(next))
        })
}

/// Returns true for the oxygen of an alkyl sulfonate, which hydroxide and hot water replace.
fn is_alkyl_sulfonate(it: &Facts, oxygen: u32) -> bool {
    it.group(oxygen) == Group::SulfonateOxygen && it.next_to(oxygen).any(|alkyl| it.is_sp3(alkyl))
}

/// Returns true for the boron of a free boronic acid whose carbon bears an acylated amine: its esters come through couplings.
fn is_free_amidoboronic_acid(it: &Facts, boron: u32) -> bool {
    it.element(boron) == B
        && it.next_to(boron).filter(|&next| it.is_hydroxyl(next)).count() > 1
        && it.next_to(boron).any(|alpha| {
            it.is_sp3(alpha) && it.next_to(alpha).any(|next| it.group(next) == Group::AmideNitrogen)
        })
}

/// Returns true for the carbon of an alkyl halide that a metal is to join to an amide or ester, with an amine or ether beside it, which leaves with the metal.
fn is_magnesium_beside_leaving_group(step: &Step<'_>, carbon: u32, acyl: u32) -> bool {
    let it = &step.before;
    let leaves = |beta: u32| {
        it.is_sp3(beta)
            && it.next_to(beta).any(|next| matches!(it.element(next), N | O) && !it.is_hydroxyl(next))
    };
    it.is_sp3(carbon)
        && lost_halogen(step, carbon).is_some()
        && matches!(
            it.group(acyl),
            Group::Weinreb | Group::Amide | Group::Ester | Group::Ketone | Group::Aldehyde
        )
        && it.next_to(carbon).any(leaves)
}

/// Returns true for cyanide and a 1,3-diketone, a vinylogous acid that makes an enaminone of the ammonia of a Bucherer–Bergs or Strecker reaction (March, chapter 16).
fn is_cyanide_on_diketone(step: &Step<'_>, cyanide: u32, ketone: u32) -> bool {
    let it = &step.before;
    let is_carbonyl = |atom: u32| matches!(it.group(atom), Group::Ketone | Group::Aldehyde);
    let is_between = |alpha: u32| {
        it.is_sp3(alpha)
            && it.hydrogens(alpha) > 0
            && it.next_to(alpha).any(|far| far != ketone && is_carbonyl(far) && step.is_untouched(far))
    };
    it.is_cyano(cyanide)
        && it.carbons(cyanide) == 0
        && is_carbonyl(ketone)
        && step.lost_oxo(ketone)
        && it.next_to(ketone).any(is_between)
}

/// Returns true for the halide of an azine and a ketone that are to give the alkene: the carbinol of a poor ring keeps its water (March, chapter 17).
fn dehydrates_azine_carbinol(step: &Step<'_>, aryl: u32, ketone: u32) -> bool {
    let it = &step.before;
    it.is_aromatic_carbon(aryl)
        && lost_halogen(step, aryl).is_some()
        && it.ring(aryl) == 6
        && aromatic_positions(&it.structure, aryl).iter().any(|&(atom, _)| it.group(atom) == Group::Azine)
        && it.group(ketone) == Group::Ketone
        && step.lost_oxo(ketone)
        && step
            .image(ketone)
            .is_some_and(|image| step.after.doubly(image, |next| step.after.element(next) == C).is_some())
}

/// Returns true for an aniline with a nitro group ortho or para to it and a ketone with a tertiary alkyl group, which give no imine (March, chapter 16).
fn condenses_nitroaniline_with_hindered_ketone(step: &Step<'_>, amine: u32, ketone: u32) -> bool {
    let it = &step.before;
    it.element(amine) == N
        && it.next_to(amine).any(|ipso| it.is_aromatic(ipso) && has_conjugated_nitro(&it.structure, ipso))
        && it.group(ketone) == Group::Ketone
        && step.lost_oxo(ketone)
        && it.is_neopentylic(ketone)
}

/// Returns true for a chloride that becomes the iodide beside a free tertiary amine, which quaternises itself and its like.
fn becomes_beta_amino_iodide(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    it.is_sp3(carbon)
        && lost_halogen(step, carbon).is_some()
        && step.gains(carbon, I)
        && it.next_to(carbon).any(|beta| {
            it.is_sp3(beta) && it.next_to(beta).any(|amine| it.group(amine) == Group::TertiaryAmine)
        })
}

/// Returns true for the carbonyl carbon of an aromatic lactam or lactone that becomes C–H: the halide comes between.
fn loses_oxygen_of_ring(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    it.is_aromatic(carbon)
        && it.is_carbonyl(carbon)
        && step.lost_oxo(carbon)
        && step.hydrogens_gained(carbon) > 0
        && step.image(carbon).is_some_and(|image| step.after.is_aromatic(image))
}

/// Returns true for the amide of a tertiary alkylamine that becomes an imidoyl chloride or tetrazole: the nitrilium ion loses the alkyl group.
fn loses_tert_butyl_of_nitrilium(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_tertiary = |alkyl: u32| it.is_sp3(alkyl) && it.carbons(alkyl) == 3;
    it.group(carbon) == Group::Amide
        && step.lost_oxo(carbon)
        && step.hydrogens_gained(carbon) == 0
        && !step.gains(carbon, S)
        && it.next_to(carbon).any(|nitrogen| {
            it.group(nitrogen) == Group::AmideNitrogen
                && it.hydrogens(nitrogen) == 1
                && it.next_to(nitrogen).any(is_tertiary)
                && step.hydrogens_gained(nitrogen) < 0
        })
}
