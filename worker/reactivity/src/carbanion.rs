//! Enolates and other carbanions: what a base makes of a molecule before the step's own bond is made.
//!
//! Sources: Clayden, Greeves and Warren for enolates, which are flat, and for their order of acidity; Seebach, Sting and Hoffmann,
//! Angew. Chem. Int. Ed. 1996, 35, 2708, for alkylations that a second centre controls.

use chem::Order;

use crate::alkylation::is_acidic;
use crate::base_labile::is_ester_of_alcohol;
use crate::change::{Facts, Step};
use crate::competition::product_ring_size;
use crate::event::Event;
use crate::group::{Group, aromatic_positions};
use crate::queries::*;
use crate::refusal::Refusal;
use crate::stereo::is_near_kept_centre;

type Verdict = Result<(), Refusal>;

/// Checks the carbanions of a step.
///
/// # Errors
/// Returns the reason why the carbanion does not give the product.
pub fn check(step: &Step<'_>, events: &[Event]) -> Verdict {
    if step.atoms().any(|atom| racemises(step, atom) || replaces_cyanide(step, atom)) {
        return Err(Refusal::StereoScrambled);
    }
    for event in events {
        match *event {
            Event::Alkylation { nucleophile, .. } if leaves_better_acid(step, nucleophile) => {
                return Err(Refusal::CompetingGroup);
            }
            Event::Acylation { nucleophile, .. }
                if is_plain_benzylic(&step.before, nucleophile)
                    || step.before.is_sp3(nucleophile) && !is_acidic(&step.before, nucleophile) =>
            {
                return Err(Refusal::Unreactive);
            }
            Event::Aldol { nucleophile, carbon } if joins_enal(step, nucleophile, carbon) => {
                return Err(Refusal::CompetingGroup);
            }
            Event::Alkylation { nucleophile, carbon, leaving }
                if is_acid_to_alkoxide(&step.before, nucleophile, carbon, leaving) =>
            {
                return Err(Refusal::SelfReacting);
            }
            Event::Acylation { nucleophile, carbon }
                if step.before.element(nucleophile) == N && racemises_as_oxazolonium(step, carbon) =>
            {
                return Err(Refusal::StereoScrambled);
            }
            Event::Alkylation { nucleophile, leaving, .. }
                if is_heavy_halogen(step.before.element(leaving))
                    && is_alpha_of_straight_aldehyde(&step.before, nucleophile) =>
            {
                return Err(Refusal::SelfReacting);
            }
            Event::Acylation { nucleophile, carbon }
                if step.before.is_hydroxyl(nucleophile) && racemises_as_ketene(step, carbon) =>
            {
                return Err(Refusal::StereoScrambled);
            }
            Event::Acylation { nucleophile, .. } if is_glycolate_enolate(&step.before, nucleophile) => {
                return Err(Refusal::SelfReacting);
            }
            Event::Arylation { nucleophile, .. }
                if step.before.is_alcohol(nucleophile)
                    && step.atoms().any(|atom| {
                        is_amino_ester_centre(step, atom) || is_arylated_ketone_centre(step, atom)
                    }) =>
            {
                return Err(Refusal::StereoScrambled);
            }
            Event::Olefination { ylide, carbon }
                if is_plain_ylide_beside_acid(step, ylide, carbon)
                    || takes_two_ylides(step, ylide, carbon) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Olefination { ylide, .. } if is_betaine(&step.before, ylide) => {
                return Err(Refusal::SelfReacting);
            }
            Event::Aldol { nucleophile, carbon }
                if condenses_plain_acyl(step, nucleophile, carbon)
                    || closes_plain_quinolone(step, events, nucleophile) =>
            {
                return Err(Refusal::Unreactive);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns true for the CH2 or CH3 beside the carbonyl group of an aldehyde without a second acceptor: base makes the aldol of it before a halide takes the enolate (Clayden, Greeves and Warren, chapter
/// 25). Branched aldehydes hold.
fn is_alpha_of_straight_aldehyde(it: &Facts, alpha: u32) -> bool {
    it.is_sp3(alpha)
        && it.hydrogens(alpha) > 1
        && it.next_to(alpha).any(|next| it.group(next) == Group::Aldehyde)
        && it.next_to(alpha).filter(|&next| it.is_acceptor(next)).count() == 1
}

/// Returns true for an alcohol and the halide between two acceptors, whose proton its alkoxide takes instead (Clayden, Greeves and Warren, chapter 20). Phenoxides, carboxylates and
/// thiolates are weaker bases.
fn is_acid_to_alkoxide(it: &Facts, oxygen: u32, carbon: u32, leaving: u32) -> bool {
    it.is_alcohol(oxygen)
        && is_heavy_halogen(it.element(leaving))
        && it.is_sp3(carbon)
        && it.hydrogens(carbon) > 0
        && it.next_to(carbon).filter(|&next| it.is_acceptor(next)).count() > 1
}

/// Returns true for the acid of an N-acyl-N-alkyl amino acid with a defined centre that a coupling reagent activates: it closes to the oxazolonium ion and the flat münchnone (Sewald and Jakubke
/// 2009). Carbamates hold their centre, and so does proline.
fn racemises_as_oxazolonium(step: &Step<'_>, acid: u32) -> bool {
    let it = &step.before;
    let is_acylated = |nitrogen: u32| {
        it.group(nitrogen) == Group::AmideNitrogen && it.hydrogens(nitrogen) == 0 && !it.is_in_ring(nitrogen)
    };
    it.group(acid) == Group::Acid
        && it.next_to(acid).any(|alpha| {
            it.at(alpha).centre.is_some()
                && it.hydrogens(alpha) == 1
                && step.image(alpha).is_some_and(|image| step.after.at(image).centre.is_some())
                && it.next_to(alpha).any(is_acylated)
        })
}

/// Returns true for the carbon of an ester with a free hydroxyl group that is to attack another ester: the alkoxide is acylated first (Clayden, Greeves and Warren, chapter 26).
fn is_glycolate_enolate(it: &Facts, carbon: u32) -> bool {
    it.is_sp3(carbon)
        && it.next_to(carbon).any(|next| it.is_hydroxyl(next))
        && it.next_to(carbon).any(|next| it.group(next) == Group::Ester)
}

/// Returns true for the kept stereocentre of an acylated amino ester, whose proton the alkoxide of an alcohol takes and whose ester it exchanges (Sewald and Jakubke 2009).
fn is_amino_ester_centre(step: &Step<'_>, atom: u32) -> bool {
    let it = &step.before;
    let is_acylated = |next: u32| matches!(it.group(next), Group::CarbamateNitrogen | Group::AmideNitrogen);
    it.at(atom).centre.is_some()
        && it.hydrogens(atom) == 1
        && step.is_untouched(atom)
        && it.next_to(atom).any(is_acylated)
        && it.next_to(atom).any(|next| is_ester_of_alcohol(it, next, 1))
}

/// Returns true for a ylide or phosphonate without a second acceptor and an aldehyde with a free N–H that is conjugated with it: the base makes the vinylogous amide's anion of it, and no
/// electrophile is left (Clayden, Greeves and Warren, chapter 27). Chemists protect the nitrogen.
fn is_plain_ylide_beside_acid(step: &Step<'_>, ylide: u32, aldehyde: u32) -> bool {
    let it = &step.before;
    let is_free = |nitrogen: u32| {
        it.element(nitrogen) == N && it.hydrogens(nitrogen) > 0 && step.is_untouched(nitrogen)
    };
    let has_amine = |ipso: u32| {
        it.ring(ipso) == 6
            && aromatic_positions(&it.structure, ipso).iter().any(|&(atom, distance)| {
                distance != 2 && it.next_to(atom).any(|next| !it.is_aromatic(next) && is_free(next))
            })
    };
    let is_of_azole = |ipso: u32| {
        it.ring(ipso) == 5
            && aromatic_positions(&it.structure, ipso)
                .iter()
                .any(|&(atom, _)| it.ring(atom) == 5 && is_free(atom))
    };
    it.group(aldehyde) == Group::Aldehyde
        && !it.next_to(ylide).any(|next| it.element(next) != P && it.is_acceptor(next))
        && it
            .next_to(aldehyde)
            .any(|ipso| it.is_aromatic_carbon(ipso) && (has_amine(ipso) || is_of_azole(ipso)))
}

/// Returns true for the carbon of a phosphonium salt with a free hydroxyl group beside it: base makes the betaine of it, which loses the phosphine oxide (Clayden, Greeves and Warren,
/// chapter 27).
fn is_betaine(it: &Facts, ylide: u32) -> bool {
    let is_phosphonium = |next: u32| it.element(next) == P && it.at(next).charge > 0;
    let bears_hydroxyl = |beta: u32| it.is_sp3(beta) && it.next_to(beta).any(|oxygen| it.is_hydroxyl(oxygen));
    it.next_to(ylide).any(is_phosphonium) && it.next_to(ylide).any(bears_hydroxyl)
}

/// Returns true for an aldehyde of glyoxal, whose other one takes a second ylide unless an acceptor tames it.
fn takes_two_ylides(step: &Step<'_>, ylide: u32, aldehyde: u32) -> bool {
    let it = &step.before;
    let is_aldehyde = |atom: u32| it.group(atom) == Group::Aldehyde;
    is_aldehyde(aldehyde)
        && it.next_to(aldehyde).any(|other| is_aldehyde(other) && step.is_untouched(other))
        && !it.next_to(ylide).any(|next| it.element(next) != P && it.is_acceptor(next))
}

/// Returns true for the C–H beside a plain ester that is to close a 2-quinolone with an aminobenzaldehyde: malonates, cyanoacetates and aryl acetates do (Marco-Contelles and others,
/// Chem. Rev. 2009, 109, 2652).
fn closes_plain_quinolone(step: &Step<'_>, events: &[Event], nucleophile: u32) -> bool {
    let it = &step.before;
    let takes_aniline = |ester: u32| {
        events.iter().any(|event| match *event {
            Event::Acylation { nucleophile: amine, carbon } => {
                carbon == ester && matches!(it.group(amine), Group::Aniline | Group::PoorAniline)
            }
            _ => false,
        })
    };
    it.aryls(nucleophile) == 0
        && it.next_to(nucleophile).filter(|&next| it.is_acceptor(next)).count() == 1
        && it.next_to(nucleophile).any(|next| it.group(next) == Group::Ester && takes_aniline(next))
}

/// Returns true for the kept stereocentre between an arene and a ketone or aldehyde, whose proton an alkoxide takes.
fn is_arylated_ketone_centre(step: &Step<'_>, atom: u32) -> bool {
    let it = &step.before;
    it.at(atom).centre.is_some()
        && it.hydrogens(atom) == 1
        && it.aryls(atom) > 0
        && it.next_to(atom).any(|next| matches!(it.group(next), Group::Ketone | Group::Aldehyde))
        && step.image(atom).is_some_and(|image| step.after.at(image).centre.is_some())
}

/// Returns true for a stereocentre whose acidic hydrogen gives way to a new bond, if no other centre controls the side from which
/// the flat anion takes it.
fn racemises(step: &Step<'_>, atom: u32) -> bool {
    let (before, after) = (&step.before, &step.after);
    let Some(image) = step.image(atom) else { return false };
    let is_replaced = before.hydrogens(atom) == 1
        && step.hydrogens_gained(atom) < 0
        && step.gained(atom).next().is_some()
        && step.lost(atom).next().is_none();
    before.at(atom).centre.is_some()
        && after.at(image).centre.is_some()
        && is_replaced
        && is_acidic(before, atom)
        && !is_near_kept_centre(step, image)
}

/// Returns true for the stereocentre of an aminonitrile whose cyano group another carbon replaces, by way of the flat iminium ion (Bruylants, Bull. Soc. Chim. Belg.
/// 1924, 33, 467).
fn replaces_cyanide(step: &Step<'_>, atom: u32) -> bool {
    let it = &step.before;
    let is_defined = || step.image(atom).is_some_and(|image| step.after.at(image).centre.is_some());
    it.is_sp3(atom)
        && it.count(atom, N) > 0
        && step.lost(atom).any(|(gone, _)| it.is_cyano(gone))
        && step.gained(atom).any(|(new, _)| it.element(new) == C)
        && is_defined()
}

/// Returns true if the C–H beside an ester, acid or amide alone condenses to the alkene with a ketone, or beside an amide with an aldehyde: the acceptor is too weak for
/// Knoevenagel's bases, and the ketone's own C–H is more acidic (Jones, Org. React. 1967, 15, 204). Rings, and succinates, which close a lactone (Stobbe), do so.
fn condenses_plain_acyl(step: &Step<'_>, nucleophile: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_weak = |acyl: u32| match it.group(acyl) {
        Group::Ester | Group::Acid => it.group(carbon) == Group::Ketone,
        Group::Amide => true,
        _ => false,
    };
    let is_alkene = || {
        let ends = step.image(nucleophile).zip(step.image(carbon));
        ends.is_some_and(|(a, b)| step.after.bond(a, b).is_some_and(|bond| bond.order == Order::Double))
    };
    let is_of_succinate = || it.next_to(nucleophile).any(|next| it.is_sp3(next) && it.is_alpha(next));
    !it.is_in_ring(nucleophile)
        && it.next_to(nucleophile).filter(|&next| it.is_acceptor(next)).count() == 1
        && it.next_to(nucleophile).any(is_weak)
        && is_alkene()
        && !is_of_succinate()
        && product_ring_size(step, nucleophile, carbon).is_none()
}

/// Returns true for the enolate of an aldehyde and the aldehyde of an open enal, which adds at its far end, polymerises, or forms a dienolate: either condenses with itself and
/// with the product (Clayden, Greeves and Warren, chapter 26). Cinnamaldehydes and enals whose α-carbon has a chain are slower.
fn joins_enal(step: &Step<'_>, nucleophile: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_open = |alpha: u32| {
        it.hydrogens(alpha) == 1
            && it.doubly(alpha, |far| it.element(far) == C && it.aryls(far) == 0).is_some()
    };
    it.group(carbon) == Group::Aldehyde
        && !step.are_in_same_molecule(nucleophile, carbon)
        && it.next_to(nucleophile).any(|next| it.group(next) == Group::Aldehyde)
        && it.next_to(carbon).any(is_open)
}

/// Returns true for the methyl group of a benzene ring without a nitro group, which no base that an acyl halide survives deprotonates.
fn is_plain_benzylic(it: &Facts, atom: u32) -> bool {
    let is_plain_ring = |ipso: u32| {
        it.is_aromatic_carbon(ipso)
            && it.ring(ipso) == 6
            && aromatic_positions(&it.structure, ipso)
                .iter()
                .all(|&(far, _)| it.element(far) == C && !it.next_to(far).any(|next| it.is_nitro(next)))
    };
    it.is_sp3(atom) && it.hydrogens(atom) == 3 && it.next_to(atom).any(is_plain_ring)
}

/// Returns true if the step alkylates beside an acid, ester, amide or nitrile and leaves a ketone or aldehyde, which is the stronger
/// acid and the better electrophile.
fn leaves_better_acid(step: &Step<'_>, nucleophile: u32) -> bool {
    let before = &step.before;
    let is_weak =
        |next: u32| matches!(before.group(next), Group::Acid | Group::Ester | Group::Amide | Group::Nitrile);
    let acceptors = || before.next_to(nucleophile).filter(|&next| before.is_carbonyl(next) || is_weak(next));
    before.is_sp3(nucleophile)
        && acceptors().count() == 1
        && acceptors().all(is_weak)
        && !before.next_to(nucleophile).any(|next| before.is_aromatic(next) || before.element(next) == N)
        && step.atoms().any(|atom| {
            matches!(before.group(atom), Group::Ketone | Group::Aldehyde) && step.is_untouched(atom)
        })
}

/// Returns true for the acyl halide of an α-aryl alkanoic acid of one configuration, which its base turns into the ketene before an alcohol takes it (Larsen and others, J. Am. Chem. Soc. 1989, 111,
/// 7650).
fn racemises_as_ketene(step: &Step<'_>, acyl: u32) -> bool {
    let it = &step.before;
    it.group(acyl) == Group::AcylHalide
        && it.next_to(acyl).any(|alpha| {
            it.is_sp3(alpha)
                && it.hydrogens(alpha) == 1
                && it.carbons(alpha) == 3
                && it.aryls(alpha) > 0
                && it.at(alpha).centre.is_some()
                && step.image(alpha).is_some_and(|image| step.after.at(image).centre.is_some())
        })
}
