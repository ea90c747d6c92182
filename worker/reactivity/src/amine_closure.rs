//! Amines that close on an electrophile of their own molecule: quaternary salts, aziridinium ions, lactams and sultams.
//!
//! Sources: Mandolini (Adv. Phys. Org. Chem. 1986) for rates by ring size; Kerr, Vaisberg and others (J. Am. Chem. Soc. 1962, 84, 1757) and
//! Schultz, Robb and Sprague (J. Am. Chem. Soc. 1947, 69, 2454) for the two products of unsymmetrical β-chloro amines; Cossy, Dumas
//! and Gomez Pardo (Eur. J. Org. Chem. 1999, 1693) for β-sulfonyloxy amines in rings; Smith, "March's Advanced Organic Chemistry",
//! 16-75, for the lactams of γ- and δ-amino esters; Clayden, Greeves and Warren, chapter 11, for cyclic imines.

use crate::change::{Facts, Step};
use crate::electrophile;
use crate::event::Event;
use crate::group::{Group, aromatic_positions};
use crate::queries::*;
use crate::refusal::Refusal;
use crate::ring_closure::is_saponified;

type Verdict = Result<(), Refusal>;

/// Rank of an alkyl electrophile that amines take at room temperature.
const TAKEN_RANK: i32 = 45;

/// Checks the amines of a step.
///
/// # Errors
/// Fails with [`Refusal::SelfReacting`] for a molecule that closes, with [`Refusal::CompetingGroup`] for an aziridinium ion
/// that opens at both ends.
pub fn check(step: &Step<'_>, events: &[Event]) -> Verdict {
    for event in events {
        match *event {
            Event::Alkylation { nucleophile, carbon, leaving }
                if opens_at_both_ends(step, nucleophile, carbon, leaving) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Arylation { nucleophile, carbon, .. }
                if closes_on_carbamate(step, nucleophile, carbon) =>
            {
                return Err(Refusal::SelfReacting);
            }
            Event::Alkylation { nucleophile, carbon, .. }
                if !step.are_in_same_molecule(nucleophile, carbon)
                    && is_free_halo_amine(&step.before, nucleophile) =>
            {
                return Err(Refusal::SelfReacting);
            }
            Event::ReductiveAmination { nitrogen, .. }
                if step.before.group(nitrogen) == Group::PrimaryAmine
                    && is_free_halo_amine(&step.before, nitrogen) =>
            {
                return Err(Refusal::SelfReacting);
            }
            Event::NitroReduction { nitrogen } | Event::AzideReduction { nitrogen } => {
                closes_as_it_forms(step, nitrogen)?;
            }
            Event::NitrileReduction { carbon } => {
                if let Some(nitrogen) = step.before.triply(carbon) {
                    closes_as_it_forms(step, nitrogen)?;
                }
            }
            Event::Alkylation { nucleophile: nitrogen, .. } | Event::ReductiveAmination { nitrogen, .. }
                if closes_lactam_of_five(step, nitrogen) =>
            {
                return Err(Refusal::SelfReacting);
            }
            Event::Hydrolysis { .. } if keeps_halo_amine(step) => return Err(Refusal::SelfReacting),
            Event::Cleavage { atom, root }
                if step.before.group(atom) == Group::EsterOxygen
                    && (is_saponified(&step.before, atom, root)
                        || step.before.group(root) == Group::Ester)
                    && keeps_halo_amine(step) =>
            {
                return Err(Refusal::SelfReacting);
            }
            Event::Cleavage { atom, root }
                if is_hydrogenolysis(&step.before, root) || step.before.group(root) == Group::Imide =>
            {
                closes_as_it_forms(step, atom)?
            }
            _ => {}
        }
    }
    if quaternises(&step.before) || events.iter().any(makes_tertiary_amine) && quaternises(step.after) {
        return Err(Refusal::SelfReacting);
    }
    if step.atoms().any(|imine| makes_halo_amine(step, imine)) {
        return Err(Refusal::SelfReacting);
    }
    if step.joined().any(|(amine, carbon)| closes_before_guanylation(step, amine, carbon)) {
        return Err(Refusal::SelfReacting);
    }
    if events.iter().any(is_slow) { refuse_slow_amines(step) } else { Ok(()) }
}

/// Returns true for the free base of a primary or secondary amine two carbons from a halogen, which closes to the aziridine before it takes another halide or, if primary, an aldehyde.
fn is_free_halo_amine(it: &Facts, amine: u32) -> bool {
    it.is_amine(amine)
        && it
            .next_to(amine)
            .any(|alpha| it.is_sp3(alpha) && it.next_to(alpha).any(|beta| it.is_alkyl_halide(beta)))
}

/// Returns true if hydroxide leaves a free amine two carbons from a halogen, which closes to the aziridine (Clayden, Greeves and Warren, chapter 15). Their salts keep.
fn keeps_halo_amine(step: &Step<'_>) -> bool {
    let it = &step.before;
    let is_halide = |beta: u32| it.is_alkyl_halide(beta) && step.is_untouched(beta);
    step.atoms().any(|amine| {
        it.is_amine(amine)
            && step.is_untouched(amine)
            && it.next_to(amine).any(|alpha| it.is_sp3(alpha) && it.next_to(alpha).any(is_halide))
    })
}

/// Returns true for an imine, oxime or nitro group that a hydride or metal makes a free amine two carbons from a halogen, in a medium that leaves no salt.
fn makes_halo_amine(step: &Step<'_>, nitrogen: u32) -> bool {
    let after = step.after;
    let is_halide = |beta: u32| after.is_alkyl_halide(beta);
    matches!(step.before.group(nitrogen), Group::Imine | Group::Oxime | Group::Nitro)
        && step.image(nitrogen).is_some_and(|image| {
            after.is_amine(image)
                && after
                    .next_to(image)
                    .any(|alpha| after.is_sp3(alpha) && after.next_to(alpha).any(is_halide))
        })
}

/// Returns true for an event in which a free amine waits, in base or heat, long enough to close.
fn is_slow(event: &Event) -> bool {
    matches!(
        event,
        Event::Alkylation { .. }
            | Event::Arylation { .. }
            | Event::Coupling { .. }
            | Event::Alkynylation { .. }
            | Event::Heck { .. }
            | Event::ReductiveAmination { .. }
    )
}

/// Returns true for an event that makes a tertiary amine or a leaving group beside one, and no salt of it.
fn makes_tertiary_amine(event: &Event) -> bool {
    matches!(event, Event::Alkylation { .. } | Event::Sulfonylation { .. } | Event::ReductiveAmination { .. })
}

/// Returns true if a tertiary amine closes a ring of five or six at a leaving group of its molecule.
fn quaternises(it: &Facts) -> bool {
    let atoms = || 0..it.atoms() as u32;
    let is_electrophile = |atom: u32| {
        let has_leaving_group = it
            .next_to(atom)
            .any(|next| is_heavy_halogen(it.element(next)) || it.group(next) == Group::SulfonateOxygen);
        it.is_sp3(atom) && has_leaving_group && electrophile::alkyl(it, atom) >= TAKEN_RANK
    };
    let is_amine = |&atom: &u32| it.group(atom) == Group::TertiaryAmine && it.at(atom).charge == 0;
    // Most mixtures have no such electrophile, and a search for it costs less than the distances.
    atoms().any(is_electrophile) && atoms().filter(is_amine).any(|amine| reaches(it, amine, is_electrophile))
}

/// Returns true if a leaving group is β to an amine, whose aziridinium ion opens at either of two different carbons. One that bears an
/// aryl group takes the nucleophile.
fn opens_at_both_ends(step: &Step<'_>, nucleophile: u32, carbon: u32, leaving: u32) -> bool {
    let it = &step.before;
    let leaves = is_heavy_halogen(it.element(leaving)) || it.group(leaving) == Group::SulfonateOxygen;
    let is_amine = |atom: u32| {
        atom != nucleophile && matches!(it.group(atom), Group::SecondaryAmine | Group::TertiaryAmine)
    };
    let is_benzylic = |atom: u32| it.next_to(atom).any(|next| it.is_aromatic(next));
    // Bicyclic ions with a ring of four are too strained.
    let is_held =
        |amine: u32| it.is_in_ring(carbon) && it.is_in_ring(amine) && it.ring(carbon).min(it.ring(amine)) < 6;
    let opens = |near: u32, amine: u32| {
        let is_symmetrical = it.hydrogens(carbon) == 2 && it.hydrogens(near) == 2;
        !is_symmetrical && !is_held(amine)
    };
    leaves
        && !is_benzylic(carbon)
        && !it.is_alpha(carbon)
        && it.next_to(carbon).filter(|&near| it.is_sp3(near)).any(|near| {
            !it.is_carbonyl(near) && it.next_to(near).any(|amine| is_amine(amine) && opens(near, amine))
        })
}

/// Refuses an amine that forms, in neutral or basic medium, where it reaches an ester, sulfonyl fluoride, aldehyde or ketone in a ring of five or
/// six: the lactam, the cyclic imine and what becomes of it. Hydrazine frees it from phthalimides so, and Boc groups leave it as the salt.
fn closes_as_it_forms(step: &Step<'_>, nitrogen: u32) -> Verdict {
    let is_refused = step.image(nitrogen).is_some_and(|image| {
        matches!(step.after.group(image), Group::PrimaryAmine | Group::SecondaryAmine | Group::Aniline)
            && step.after.hydrogens(image) > 0
            && reaches(step.after, image, |atom| {
                is_acylating(step.after, atom)
                    || matches!(step.after.group(atom), Group::Aldehyde | Group::Ketone)
                    || is_fast_chloride(step.after, atom)
            })
    });
    if is_refused { Err(Refusal::SelfReacting) } else { Ok(()) }
}

/// Returns true for a carbon of a pyrimidine with chlorine beside a nitrogen and across from one, or beside two, which takes an amine of its own molecule in the cold (Joule and Mills 2010, chapter 14).
fn is_fast_chloride(it: &Facts, carbon: u32) -> bool {
    let nitrogens = aromatic_positions(&it.structure, carbon)
        .into_iter()
        .filter(|&(atom, distance)| distance != 2 && it.group(atom) == Group::Azine && it.ring(atom) == 6);
    it.is_aromatic_carbon(carbon)
        && it.ring(carbon) == 6
        && it.count(carbon, CL) + it.count(carbon, F) == 1
        && nitrogens.count() > 1
}

/// Returns true for an amine that the step makes, four bonds from an ester of a primary or secondary alcohol: the isoindolinone or pyrrolidinone forms as it is made (March, 16-75). Branched alkyl
/// groups hold the pyrrolidinone back, and tertiary ones either.
fn closes_lactam_of_five(step: &Step<'_>, nitrogen: u32) -> bool {
    let it = step.after;
    let Some(image) = step.image(nitrogen) else { return false };
    let is_ester_of_benzoic_acid =
        |atom: u32| is_acylating(it, atom) && it.next_to(atom).any(|next| it.is_aromatic(next));
    let most_carbons =
        |wanted: usize| it.next_to(image).all(|next| it.is_sp3(next) && it.carbons(next) <= wanted);
    matches!(step.before.group(nitrogen), Group::Ammonia | Group::PrimaryAmine)
        && matches!(it.group(image), Group::PrimaryAmine | Group::SecondaryAmine)
        && {
            let near = it.distances(image, 4);
            near.iter().any(|&(atom, distance)| {
                let is_closed = if is_ester_of_benzoic_acid(atom) {
                    most_carbons(2)
                } else {
                    is_acylating(it, atom) && most_carbons(1)
                };
                let is_held = it.next_to(atom).any(|alpha| it.is_sp3(alpha) && it.is_in_ring(alpha));
                distance == 4 && is_closed && !is_held && it.is_open_path(&near, atom, distance)
            })
        }
}

/// Returns true for the amine of a γ- or δ-amino ester that a thiourea's sulfide, a pyrazolecarboxamidine or cyanamide is to make a guanidine, in base, over hours (March, chapter
/// 16). Acyl groups on the reagent make it fast.
fn closes_before_guanylation(step: &Step<'_>, amine: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_acylated = |nitrogen: u32| it.next_to(nitrogen).any(|next| it.is_carbonyl(next));
    let is_guanidine = || {
        step.image(carbon)
            .is_some_and(|image| step.after.count(image, N) == 3 && !step.after.is_aromatic(image))
    };
    it.group(amine) == Group::PrimaryAmine
        && matches!(it.group(carbon), Group::ImineCarbon | Group::Nitrile)
        && is_guanidine()
        && !it.next_to(carbon).any(is_acylated)
        && reaches(it, amine, |atom| is_acylating(it, atom))
}

/// Returns true for an amine that heat or a metal brings to an arene beside the carbamate of a primary or secondary alcohol: it closes to the benzimidazolone (Joule and Mills
/// 2010, chapter 25).
fn closes_on_carbamate(step: &Step<'_>, amine: u32, carbon: u32) -> bool {
    let it = &step.before;
    let is_free = |nitrogen: u32| {
        it.group(nitrogen) == Group::CarbamateNitrogen
            && it.hydrogens(nitrogen) > 0
            && step.is_untouched(nitrogen)
            && it
                .next_to(nitrogen)
                .any(|acyl| it.group(acyl) == Group::Carbamate && !is_tert_butyl_ester(it, acyl))
    };
    let is_amine = matches!(it.group(amine), Group::PrimaryAmine | Group::Aniline);
    is_amine
        && it.hydrogens(amine) == 2
        && electrophile::activation(it, carbon) < electrophile::STRONGLY_ACTIVATED
        && it.next_to(carbon).any(|ortho| it.is_aromatic_carbon(ortho) && it.next_to(ortho).any(is_free))
}

/// Refuses a slow step with an amine that closes on the arene's ester or sulfonyl fluoride beside its own chain.
fn refuse_slow_amines(step: &Step<'_>) -> Verdict {
    let it = &step.before;
    let is_on_arene = |atom: u32| is_acylating(it, atom) && it.next_to(atom).any(|next| it.is_aromatic(next));
    if step.atoms().filter(|&atom| it.is_amine(atom)).any(|amine| reaches(it, amine, is_on_arene)) {
        Err(Refusal::SelfReacting)
    } else {
        Ok(())
    }
}

/// Returns true for hydrogenolysis of a benzyl group or carbamate of nitrogen: of a carbon that hydrogen cleaves.
fn is_hydrogenolysis(it: &Facts, root: u32) -> bool {
    let is_benzyl = |carbon: u32| it.is_sp3(carbon) && it.next_to(carbon).any(|next| it.is_aromatic(next));
    is_benzyl(root)
        || it.group(root) == Group::Carbamate
            && it.next_to(root).any(|oxygen| {
                it.element(oxygen) == O && it.next_to(oxygen).any(|next| next != root && is_benzyl(next))
            })
}

fn is_acylating(it: &Facts, atom: u32) -> bool {
    it.group(atom) == Group::Ester && !is_tert_butyl_ester(it, atom)
        || it.group(atom) == Group::SulfonylHalide && it.count(atom, F) > 0
}

fn is_tert_butyl_ester(it: &Facts, acyl: u32) -> bool {
    it.next_to(acyl).any(|oxygen| {
        it.element(oxygen) == O && it.next_to(oxygen).any(|next| it.is_sp3(next) && it.carbons(next) == 3)
    })
}

/// Returns true if an amine reaches such an electrophile of its molecule in a ring of five or six.
fn reaches(it: &Facts, amine: u32, is_electrophile: impl Fn(u32) -> bool) -> bool {
    let near = it.distances(amine, 5);
    near.iter().any(|&(atom, distance)| {
        distance > 3 && is_electrophile(atom) && it.is_open_path(&near, atom, distance)
    })
}
