//! Amines too weak for a coupled acid, amino acids without a protecting group, and amines that do not stop at one group.
//!
//! Sources: Dunetz, Magano and Weisenburger, Org. Process Res. Dev. 2016, 20, 140, for couplings of weak amines, which need acid chlorides or
//! phosphonic anhydride; Sewald and Jakubke, "Peptides: Chemistry and Biology" (2009), for the protection of the coupled amino acid; Clayden, Greeves
//! and Warren, chapter 8, for over-alkylation; Eschweiler and Clarke (Moore, Org. React. 1949, 5, 301) for formaldehyde, which gives the
//! dimethylamine; Jacobson, Makris and Sayre, J. Org. Chem. 1987, 52, 2592, for the statistics of diamines; Deeming, Emmett, Richards-Taylor and
//! Willis, Synthesis 2014, 46, 2701, for sulfonamides of sulfur dioxide.

use crate::base_labile::is_amino_ester;
use crate::change::{Facts, Step};
use crate::competition::{builds_ring, closed_ring_size};
use crate::event::Event;
use crate::group::{Group, aromatic_positions};
use crate::queries::*;
use crate::reagent::Reagent;
use crate::refusal::Refusal;
use crate::site::{is_chelated, rank};

/// Lead from which one of two amino groups of an arene is acylated alone.
const LEAD_OF_AN_AMINE: i32 = 12;

/// Refuses such steps.
///
/// # Errors
/// Fails with [`Refusal::Unreactive`] for a weak amine, with [`Refusal::SelfReacting`] for a free amino acid, and with
/// [`Refusal::CompetingGroup`] for an amine that goes on.
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    for event in events {
        match *event {
            Event::Acylation { nucleophile, carbon }
                if it.element(nucleophile) == N && is_open(step, nucleophile, carbon) =>
            {
                if it.group(carbon) == Group::Acid
                    && (is_deactivated(it, nucleophile) || is_poor_nitroaniline(it, nucleophile))
                {
                    return Err(Refusal::Unreactive);
                }
                if it.group(carbon) == Group::Ester && is_beside_enol(it, carbon) {
                    return Err(Refusal::CompetingGroup);
                }
                if it.group(carbon) == Group::Carbamate && is_amidinic(it, nucleophile, 1) {
                    return Err(Refusal::Unreactive);
                }
                if it.group(carbon) == Group::AcylHalide
                    && is_amidinic(it, nucleophile, 2)
                    && step.atoms().any(|atom| step.is_kept_acid(atom))
                {
                    return Err(Refusal::CompetingGroup);
                }
                if is_condensed_with_its_own(step, nucleophile, carbon) {
                    return Err(Refusal::SelfReacting);
                }
                if matches!(
                    it.group(carbon),
                    Group::AcylHalide | Group::Anhydride | Group::Chloroformate | Group::Isocyanate
                ) && is_end_of_methylhydrazine(it, nucleophile)
                {
                    return Err(Refusal::CompetingGroup);
                }
                if leaves_twin_chloride(step, carbon) || is_half_of_oxalic_acid(step, carbon) {
                    return Err(Refusal::CompetingGroup);
                }
                if is_acylating(it, carbon) && is_one_of_two(step, nucleophile)
                    || it.group(carbon) != Group::Ester && is_half_of_lopsided_diamine(step, nucleophile)
                {
                    return Err(Refusal::CompetingGroup);
                }
            }
            Event::Alkylation { nucleophile, leaving, .. }
                if it.group(nucleophile) == Group::CarbamateNitrogen
                    && it.hydrogens(nucleophile) == 2
                    && it.element(leaving) == O
                    && it.ring(leaving) == 3 =>
            {
                return Err(Refusal::Unreactive);
            }
            Event::Alkylation { nucleophile, carbon, leaving }
                if is_heavy_halogen(it.element(leaving))
                    && is_ring_of_guanidine(it, events, nucleophile, carbon) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::ReductiveAmination { carbon, .. } if is_beside_enol(it, carbon) => {
                return Err(Refusal::Unreactive);
            }
            Event::Alkylation { nucleophile, leaving, .. }
                if it.ring(leaving) != 3 && step.keeps_epoxide() && keeps_amine(step, nucleophile) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Alkylation { nucleophile, carbon, leaving }
                if is_open(step, nucleophile, carbon)
                    && (is_behind_azine(it, nucleophile, leaving)
                        || leaves_second_amine(step, nucleophile)) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Alkylation { nucleophile, carbon, leaving }
                if is_open(step, nucleophile, carbon)
                    && is_small_alkylation(step, nucleophile, carbon, leaving) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Coupling { metal, .. }
                if it.group(metal) == Group::Organoboron
                    && step.atoms().any(|atom| is_free_amino_ester(step, atom)) =>
            {
                return Err(Refusal::SelfReacting);
            }
            Event::ReductiveAmination { nitrogen, carbon }
                if is_open(step, nitrogen, carbon)
                    && (is_amidinic(it, nitrogen, 1)
                        || is_vinylogous_amidine(it, nitrogen)
                        || is_beside_trifluoromethyl(it, carbon)) =>
            {
                return Err(Refusal::Unreactive);
            }
            Event::ReductiveAmination { carbon, .. } | Event::Acetalisation { carbon }
                if is_free_aminobenzaldehyde(step, carbon) =>
            {
                return Err(Refusal::SelfReacting);
            }
            Event::ReductiveAmination { nitrogen, .. } | Event::Imination { nitrogen, .. }
                if is_of_aminothiol(step, nitrogen) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::ReductiveAmination { nitrogen, carbon } if is_crowded_pair(it, nitrogen, carbon) => {
                return Err(Refusal::Hindered);
            }
            Event::ReductiveAmination { nitrogen, carbon }
                if it.group(carbon) == Group::Ketone
                    && it.aryls(carbon) > 0
                    && is_open(step, nitrogen, carbon)
                    && is_amidinic(it, nitrogen, 2) =>
            {
                return Err(Refusal::Unreactive);
            }
            Event::ReductiveAmination { nitrogen, carbon }
                if is_open(step, nitrogen, carbon) && takes_amine_elsewhere(it, nitrogen, carbon) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::ReductiveAmination { nitrogen, carbon }
                if it.group(carbon) == Group::Ketone && it.group(nitrogen) == Group::UreaNitrogen
                    || matches!(it.group(nitrogen), Group::ThioamideNitrogen | Group::Amidine) =>
            {
                return Err(Refusal::Unreactive);
            }
            Event::Imination { nitrogen, carbon }
                if it.group(carbon) == Group::Ketone && is_of_free_amino_acid(step, nitrogen) =>
            {
                return Err(Refusal::Unreactive);
            }
            Event::Imination { nitrogen, carbon }
                if matches!(it.group(nitrogen), Group::Ammonia | Group::PrimaryAmine)
                    && is_beside_methylene(it, carbon) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::ReductiveAmination { nitrogen, carbon } if is_methylated_once(step, nitrogen, carbon) => {
                return Err(Refusal::CompetingGroup);
            }
            _ => {}
        }
    }
    if step.joined().any(|(nitrogen, carbon)| {
        is_mannich_beside_amine(step, nitrogen, carbon) || leaves_central_ketone(step, nitrogen, carbon)
    }) {
        return Err(Refusal::CompetingGroup);
    }
    if step.joined().any(|(nitrogen, sulfur)| traps_no_sulfinate(it, nitrogen, sulfur)) {
        return Err(Refusal::Unreactive);
    }
    Ok(())
}

/// Returns true for the amino group of a nitroaniline with a second acceptor, both ortho or para to it: it takes acid chlorides only.
fn is_poor_nitroaniline(it: &Facts, amine: u32) -> bool {
    let Some(ipso) = it.next_to(amine).find(|&ipso| it.ring(ipso) == 6) else { return false };
    let bears = |atom: u32, wanted: &dyn Fn(u32) -> bool| {
        it.next_to(atom).any(|next| !it.is_aromatic(next) && wanted(next))
    };
    let count = |wanted: &dyn Fn(u32) -> bool| {
        let positions = aromatic_positions(&it.structure, ipso);
        positions.iter().filter(|&&(atom, distance)| distance != 2 && bears(atom, wanted)).count()
    };
    it.group(amine) == Group::PoorAniline
        && count(&|next| it.is_nitro(next)) > 0
        && count(&|next| it.is_withdrawing(next)) > 1
}

/// Returns true for a carbonyl group whose α-carbon bears two more acceptors: the enol of an acylmalonate, which gives no imine but the enaminone, and whose anion takes no amine at an ester.
fn is_beside_enol(it: &Facts, carbon: u32) -> bool {
    it.next_to(carbon).any(|alpha| {
        it.is_sp3(alpha)
            && it.hydrogens(alpha) == 1
            && it.next_to(alpha).filter(|&next| it.is_acceptor(next)).count() > 2
    })
}

/// Returns true for the free amino group of a guanidine, amidine or aminoazine that is to close a ring with a dihalide: the nitrogen beside it takes the halide first (Joule and Mills 2010,
/// chapter 8).
fn is_ring_of_guanidine(it: &Facts, events: &[Event], amine: u32, own: u32) -> bool {
    let is_second = |event: &Event| matches!(*event, Event::Alkylation { nucleophile, carbon, .. } if nucleophile == amine && carbon != own);
    it.hydrogens(amine) == 2
        && (it.group(amine) == Group::Amidine || is_amidinic(it, amine, 2))
        && events.iter().any(is_second)
}

/// Returns true for an amine that keeps a hydrogen as it is alkylated: it opens an epoxide of the mixture (Clayden, Greeves and Warren, chapter 15).
fn keeps_amine(step: &Step<'_>, amine: u32) -> bool {
    matches!(
        step.before.group(amine),
        Group::Ammonia | Group::PrimaryAmine | Group::SecondaryAmine | Group::Aniline
    ) && step.image(amine).is_some_and(|image| step.after.hydrogens(image) > 0)
}

/// Returns true for the free end of a hydrazine with one primary alkyl group, whose other nitrogen takes acyl halides, anhydrides and isocyanates first (Ragnarsson, Chem. Soc. Rev. 2001, 30, 205).
fn is_end_of_methylhydrazine(it: &Facts, end: u32) -> bool {
    let is_primary = |alkyl: u32| it.is_sp3(alkyl) && it.carbons(alkyl) < 2 && it.aryls(alkyl) == 0;
    it.group(end) == Group::Hydrazine
        && it.hydrogens(end) == 2
        && it
            .next_to(end)
            .any(|next| it.element(next) == N && it.hydrogens(next) == 1 && it.next_to(next).any(is_primary))
}

/// Returns true for one of two acyl chlorides of a molecule that are alike, where the step leaves the other: an amine takes both. Oxalyl chloride stops.
fn leaves_twin_chloride(step: &Step<'_>, acyl: u32) -> bool {
    let it = &step.before;
    it.group(acyl) == Group::AcylHalide
        && step.atoms().any(|other| {
            other != acyl
                && it.group(other) == Group::AcylHalide
                && step.are_in_same_molecule(acyl, other)
                && step.is_untouched(other)
                && it.bond(acyl, other).is_none()
        })
}

/// Returns true for an acid group of oxalic acid, which coupling reagents take apart to the oxides of carbon; chemists use its ester chloride.
fn is_half_of_oxalic_acid(step: &Step<'_>, acid: u32) -> bool {
    let it = &step.before;
    it.group(acid) == Group::Acid
        && it.next_to(acid).any(|other| it.group(other) == Group::Acid && step.image(other).is_some())
}

/// Returns true for the primary amine of a 1,2-aminothiol with its free thiol, which closes to the thiazolidine or benzothiazoline (Clayden, Greeves and Warren, chapter 11).
fn is_of_aminothiol(step: &Step<'_>, amine: u32) -> bool {
    let it = &step.before;
    matches!(it.group(amine), Group::PrimaryAmine | Group::Aniline)
        && it.hydrogens(amine) == 2
        && it.distances(amine, 3).into_iter().any(|(sulfur, distance)| {
            distance == 3
                && matches!(it.group(sulfur), Group::Thiol | Group::Thiophenol)
                && it.hydrogens(sulfur) > 0
                && step.is_untouched(sulfur)
        })
}

/// Returns true for an aryl ketone with a tertiary alkyl group, and for a ketone and triphenylmethylamine (Abdel-Magid and others 1996).
fn is_crowded_pair(it: &Facts, nitrogen: u32, ketone: u32) -> bool {
    let is_tertiary = |next: u32| it.is_sp3(next) && it.carbons(next) == 4 && it.ring(next) != 3;
    let is_trityl = |next: u32| it.is_sp3(next) && it.aryls(next) == 3;
    it.group(ketone) == Group::Ketone
        && (it.aryls(ketone) > 0 && it.next_to(ketone).any(is_tertiary)
            || it.next_to(nitrogen).any(is_trityl))
}

/// Returns true for 2- or 4-aminobenzaldehyde with its free amino group, which condenses with itself in the acid that the step needs (Smith and Opie, Org. Synth. 1948, 28, 11). Two halogens, another
/// acceptor or the nitrogen of an azine tame it.
fn is_free_aminobenzaldehyde(step: &Step<'_>, aldehyde: u32) -> bool {
    let it = &step.before;
    let is_amine = |next: u32| {
        matches!(it.group(next), Group::Aniline | Group::PoorAniline)
            && it.hydrogens(next) == 2
            && step.is_untouched(next)
    };
    let is_on_own_ring = |ipso: u32| {
        let positions = aromatic_positions(&it.structure, ipso);
        let bears = |wanted: &dyn Fn(u32) -> bool| {
            positions.iter().filter(|&&(atom, _)| it.next_to(atom).any(wanted)).count()
        };
        positions.iter().all(|&(atom, _)| it.element(atom) == C)
            && positions.iter().any(|&(atom, distance)| distance != 2 && it.next_to(atom).any(is_amine))
            && bears(&|next| !it.is_aromatic(next) && it.impoverishes_ring(next)) == 0
            && bears(&|next| is_halogen(it.element(next))) < 2
    };
    it.group(aldehyde) == Group::Aldehyde
        && it.next_to(aldehyde).any(|ipso| it.is_aromatic_carbon(ipso) && is_on_own_ring(ipso))
}

/// Returns true for an amino group with this many hydrogens on a carbon beside the nitrogen of an azine or azole, or across from one in an azine,
/// which share its lone pair (Joule and Mills 2010, chapter 8). With an alkyl group it takes neither ketones nor carbamates as it is.
fn is_amidinic(it: &Facts, amine: u32, hydrogens: u8) -> bool {
    it.hydrogens(amine) == hydrogens
        && it.degree(amine) == 3 - usize::from(hydrogens)
        && it.next_to(amine).any(|ipso| {
            it.is_aromatic_carbon(ipso)
                && aromatic_positions(&it.structure, ipso).iter().any(|&(atom, distance)| {
                    distance != 2 && it.element(atom) == N && it.hydrogens(atom) == 0
                })
        })
}

/// Returns true for a primary amino group across the ring from the nitrogen of an azine, which hardly forms imines.
fn is_vinylogous_amidine(it: &Facts, amine: u32) -> bool {
    it.hydrogens(amine) == 2
        && it.next_to(amine).any(|ipso| {
            it.ring(ipso) == 6
                && aromatic_positions(&it.structure, ipso).iter().any(|&(atom, distance)| {
                    distance == 3 && it.group(atom) == Group::Azine && it.ring(atom) == 6
                })
        })
}

/// Returns true for a trifluoromethyl ketone, whose hemiaminal does not lose water before hydride takes the ketone (Bégué and Bonnet-Delpon, "Bioorganic and
/// Medicinal Chemistry of Fluorine", chapter 2).
fn is_beside_trifluoromethyl(it: &Facts, carbon: u32) -> bool {
    it.group(carbon) == Group::Ketone && it.next_to(carbon).any(|next| it.is_trifluoromethyl(next))
}

/// Returns true for an amino group on the ring of an azine and a halide, which the nitrogen of the ring takes first unless groups at both its sides
/// crowd it (Joule and Mills 2010, chapter 8). That of diazines is a weaker nucleophile.
fn is_behind_azine(it: &Facts, amine: u32, leaving: u32) -> bool {
    let is_open = |azine: u32| {
        it.group(azine) == Group::Azine && it.next_to(azine).any(|beside| it.hydrogens(beside) > 0)
    };
    let is_azine = |ipso: u32| {
        let nitrogens: Vec<u32> = it
            .distances(ipso, 5)
            .into_iter()
            .map(|(atom, _)| atom)
            .filter(|&atom| it.element(atom) == N && it.is_aromatic(atom) && it.shares_arene(atom, ipso))
            .collect();
        matches!(nitrogens[..], [azine] if it.ring(azine) == 6 && is_open(azine))
            || it.hydrogens(amine) == 2 && is_on_thiazole(it, ipso)
    };
    matches!(it.group(amine), Group::Aniline | Group::SecondaryAniline | Group::PoorAniline)
        && is_heavy_halogen(it.element(leaving))
        && it.next_to(amine).any(|ipso| it.is_aromatic(ipso) && is_azine(ipso))
}

/// Returns true for C2 of a thiazole, oxazole or thiadiazole, whose ring nitrogen takes halides before a free amino group there (Joule and Mills 2010, chapter 24).
fn is_on_thiazole(it: &Facts, ipso: u32) -> bool {
    let is_ring_atom = |next: u32, elements: &[u8]| {
        it.is_aromatic(next)
            && it.ring(next) == 5
            && it.degree(next) == 2
            && elements.contains(&it.element(next))
    };
    it.ring(ipso) == 5
        && it.next_to(ipso).any(|next| is_ring_atom(next, &[S, O]))
        && it.next_to(ipso).any(|next| is_ring_atom(next, &[N]) && it.hydrogens(next) == 0)
}

/// Returns true for a carbonyl carbon beside a carbon with a halogen, which an amine displaces or adds beside (Gabriel-Cromwell), and for that of an open
/// enone with ammonia, which adds to the double bond (Clayden, Greeves and Warren, chapter 22).
fn takes_amine_elsewhere(it: &Facts, amine: u32, carbon: u32) -> bool {
    let bears_halogen = |atom: u32| it.next_to(atom).any(|next| is_heavy_halogen(it.element(next)));
    // A β-halo ketone is a vinyl ketone to an amine.
    let has_halogen = |alpha: u32| {
        bears_halogen(alpha)
            || it.is_sp3(alpha) && it.next_to(alpha).any(|beta| it.is_sp3(beta) && bears_halogen(beta))
    };
    let is_open =
        |alpha: u32| it.doubly(alpha, |beta| it.element(beta) == C && it.hydrogens(beta) > 0).is_some();
    it.next_to(carbon)
        .filter(|&alpha| it.element(alpha) == C && !it.is_aromatic(alpha))
        .any(|alpha| has_halogen(alpha) || it.group(amine) == Group::Ammonia && is_open(alpha))
}

/// Returns true for an amine that formaldehyde joins to a carbon, beside another amine of the same molecule, which takes it as well (Clayden, Greeves and Warren,
/// chapter 26).
fn is_mannich_beside_amine(step: &Step<'_>, amine: u32, carbon: u32) -> bool {
    let it = &step.before;
    it.is_amine(amine)
        && it.group(carbon) == Group::Aldehyde
        && it.hydrogens(carbon) == 2
        && step.gained(carbon).any(|(new, _)| it.element(new) == C)
        && step.atoms().any(|atom| {
            it.is_amine(atom) && step.is_untouched(atom) && step.are_in_same_molecule(atom, amine)
        })
}

/// Returns true for a nitrogen that condenses with an outer ketone of three carbonyl groups in a row, of which the central one is the electrophile (Rubin, Chem. Rev.
/// 1975, 75, 177).
fn leaves_central_ketone(step: &Step<'_>, nitrogen: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_central = |next: u32| {
        it.group(next) == Group::Ketone
            && step.is_untouched(next)
            && it.next_to(next).filter(|&far| it.is_carbonyl(far)).count() == 2
    };
    it.element(nitrogen) == N
        && it.group(carbon) == Group::Ketone
        && step.lost_oxo(carbon)
        && it.next_to(carbon).any(is_central)
}

/// Returns true for the amine of a free α-amino acid, which is an ammonium ion.
fn is_of_free_amino_acid(step: &Step<'_>, amine: u32) -> bool {
    step.before
        .distances(amine, 3)
        .into_iter()
        .any(|(atom, distance)| distance == 3 && step.is_kept_acid(atom))
}

/// Returns true for the carbonyl carbon of an enone whose double bond is terminal, where amines add (Clayden, Greeves and Warren, chapter 22).
fn is_beside_methylene(it: &Facts, carbon: u32) -> bool {
    it.next_to(carbon)
        .any(|alpha| it.doubly(alpha, |beta| it.element(beta) == C && it.hydrogens(beta) == 2).is_some())
}

/// Returns true for a nitrogen that is no amine and is joined to sulfur dioxide, whose sulfinate only amines take as it is oxidised.
fn traps_no_sulfinate(it: &Facts, nitrogen: u32, sulfur: u32) -> bool {
    it.element(nitrogen) == N
        && it.is_sulfur_dioxide(sulfur)
        && !it.is_simple_amine(nitrogen)
        && it.group(nitrogen) != Group::Hydrazine
}

/// Returns true unless the bond closes a ring.
fn is_open(step: &Step<'_>, a: u32, b: u32) -> bool {
    closed_ring_size(step, a, b).is_none() && !builds_ring(step, a, b)
}

/// Returns true for the amino group of an azine beside a carbonyl group that takes its hydrogen.
fn is_deactivated(it: &Facts, nitrogen: u32) -> bool {
    let on_azine = |ipso: u32| {
        it.is_aromatic(ipso)
            && it.ring(ipso) == 6
            && it
                .distances(ipso, 3)
                .into_iter()
                .any(|(atom, _)| it.group(atom) == Group::Azine && it.ring(atom) == 6)
    };
    it.hydrogens(nitrogen) == 2
        && matches!(it.group(nitrogen), Group::PoorAniline | Group::Aniline)
        && it.next_to(nitrogen).any(on_azine)
        && is_chelated(it, nitrogen)
}

/// Returns true if the acid that is activated has a free amine on its α-carbon, which couples with it, or if an ester has one: it closes to the
/// diketopiperazine, unless an excess of ammonia or methylamine takes it.
fn is_condensed_with_its_own(step: &Step<'_>, own: u32, acyl: u32) -> bool {
    let it = &step.before;
    let is_small = || it.next_to(own).all(|next| it.hydrogens(next) == 3);
    let is_amine = || matches!(it.group(own), Group::PrimaryAmine | Group::SecondaryAmine);
    match it.group(acyl) {
        Group::Acid => has_free_amine(step, own, acyl) || is_with_its_own_kind(step, own, acyl),
        Group::Ester => is_amine() && !is_small() && has_free_amine(step, own, acyl),
        _ => false,
    }
}

/// Returns true if two molecules of one amino acid are joined: what takes the acid once takes the new one again.
fn is_with_its_own_kind(step: &Step<'_>, own: u32, acid: u32) -> bool {
    step.atoms().any(|amine| {
        amine != own
            && step.are_in_same_molecule(amine, acid)
            && step.is_untouched(amine)
            && step.before.hydrogens(amine) > 0
            && step.are_equivalent(amine, own)
    })
}

/// Returns true if the step leaves an amine on the carbon beside an acyl carbon, unless a second branched carbon on it hinders it (enalapril).
fn has_free_amine(step: &Step<'_>, own: u32, acid: u32) -> bool {
    let it = &step.before;
    let is_hindered = |amine: u32, alpha: u32| {
        it.next_to(amine).any(|next| next != alpha && it.is_sp3(next) && it.hydrogens(next) < 2)
    };
    it.next_to(acid).filter(|&alpha| it.is_sp3(alpha)).any(|alpha| {
        it.next_to(alpha).any(|amine| {
            amine != own
                && matches!(it.group(amine), Group::PrimaryAmine | Group::SecondaryAmine)
                && it.hydrogens(amine) > 0
                && !is_hindered(amine, alpha)
                && step.is_untouched(amine)
        })
    })
}

/// Returns true for an acid or an acyl halide; Boc anhydride and chloroformates protect one amine of two by excess of the diamine.
fn is_acylating(it: &Facts, carbon: u32) -> bool {
    matches!(it.group(carbon), Group::Acid | Group::AcylHalide)
}

/// Returns true if the step leaves the twin of an amine: two primary amines of one molecule, unless they are on neighbouring carbons of an
/// arene, which the first amide separates. Piperazines are used in excess.
fn is_one_of_two(step: &Step<'_>, own: u32) -> bool {
    let it = &step.before;
    let is_primary = matches!(it.group(own), Group::PrimaryAmine | Group::Aniline | Group::PoorAniline)
        && it.hydrogens(own) == 2;
    // Diaminoazines are used in excess.
    let shares_azine = |other: u32| it.group(own) == Group::PoorAniline && shares_ring(it, own, other);
    is_primary
        && step.atoms().any(|atom| {
            atom != own
                && step.are_equivalent(atom, own)
                && step.are_in_same_molecule(atom, own)
                && step.is_untouched(atom)
                && !it.distances(own, 3).iter().any(|&(other, _)| other == atom)
                && !shares_azine(atom)
        })
}

/// Returns true if the aromatic rings of two amino groups are one.
fn shares_ring(it: &Facts, one: u32, other: u32) -> bool {
    let ring = |amine: u32| it.next_to(amine).find(|&next| it.is_aromatic(next));
    ring(one).zip(ring(other)).is_some_and(|(one, other)| it.shares_arene(one, other))
}

/// Returns true for an amino group of an arene beside another whose reactivity alkyl groups or halogens hardly change: both amides form (Joule and Mills, chapter 25).
fn is_half_of_lopsided_diamine(step: &Step<'_>, own: u32) -> bool {
    let it = &step.before;
    let is_primary = |atom: u32| it.group(atom) == Group::Aniline && it.hydrogens(atom) == 2;
    let lead = |other: u32| rank(it, own, Reagent::Acyl) - rank(it, other, Reagent::Acyl);
    let has_acceptor = || {
        it.next_to(own).any(|ipso| {
            aromatic_positions(&it.structure, ipso)
                .iter()
                .any(|&(atom, _)| it.next_to(atom).any(|next| it.impoverishes_ring(next)))
        })
    };
    is_primary(own)
        && !has_acceptor()
        && it.distances(own, 3).into_iter().any(|(other, distance)| {
            distance == 3
                && is_primary(other)
                && step.is_untouched(other)
                && !step.are_equivalent(other, own)
                && lead(other) < LEAD_OF_AN_AMINE
        })
}

/// Returns true for the nitrogen of a free α-amino ester that stays, which the hot carbonate of a Suzuki coupling hydrolyses and closes to the piperazinedione (Sewald and Jakubke 2009).
fn is_free_amino_ester(step: &Step<'_>, amine: u32) -> bool {
    step.is_untouched(amine) && is_amino_ester(&step.before, amine)
}

/// Returns true for a primary amine with an open secondary one in its chain, which takes an alkyl halide as soon (Clayden, Greeves and Warren, chapter 8). Chemists alkylate by way of the
/// imine, or protect.
fn leaves_second_amine(step: &Step<'_>, own: u32) -> bool {
    let it = &step.before;
    let is_open_amine = |&(atom, _): &(u32, u32)| {
        it.group(atom) == Group::SecondaryAmine
            && step.is_untouched(atom)
            && it.next_to(atom).all(|next| it.hydrogens(next) > 1)
    };
    it.group(own) == Group::PrimaryAmine && it.distances(own, 7).iter().any(is_open_amine)
}

/// Returns true if a primary amine takes one small alkyl group from a halide that it takes twice, or a primary amide one plain alkyl group: the base that it needs takes
/// the new amide as well (March, chapter 10).
fn is_small_alkylation(step: &Step<'_>, nitrogen: u32, carbon: u32, leaving: u32) -> bool {
    let it = &step.before;
    let is_small = it.hydrogens(carbon) == 3
        || it.hydrogens(carbon) == 2 && it.next_to(carbon).any(|next| it.hydrogens(next) == 3);
    let leaves = matches!(it.element(leaving), I | BR) || it.group(leaving) == Group::SulfonateOxygen;
    let stays = step.image(nitrogen).is_some_and(|image| step.after.hydrogens(image) == 1);
    let is_taken_twice = match it.group(nitrogen) {
        Group::PrimaryAmine => is_small,
        Group::Aniline => it.hydrogens(carbon) == 3,
        Group::AmideNitrogen => !it.is_benzylic_or_allylic(carbon) && !it.is_alpha(carbon),
        _ => false,
    };
    is_taken_twice && leaves && stays
}

/// Returns true if formaldehyde and a reductant put one methyl group on a primary amine.
fn is_methylated_once(step: &Step<'_>, nitrogen: u32, carbon: u32) -> bool {
    let it = &step.before;
    let stays = step.image(nitrogen).is_some_and(|image| step.after.hydrogens(image) == 1);
    matches!(it.group(nitrogen), Group::PrimaryAmine | Group::Aniline)
        && it.hydrogens(nitrogen) == 2
        && it.hydrogens(carbon) == 2
        && it.degree(carbon) == 1
        && stays
}
