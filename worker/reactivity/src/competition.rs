//! Competing sites of the reaction mixture, and ring closures, which happen before anything else reacts.

use crate::change::Step;
use crate::electrophile;
use crate::event::Event;
use crate::group::Group;
use crate::nucleophile;
use crate::queries::*;
use crate::reagent::Reagent;
use crate::refusal::Refusal;
use crate::site;

type Verdict = Result<(), Refusal>;

/// Refuses a step in which a better nucleophile than the reacting one is left unreacted.
pub fn nucleophiles(
    step: &Step<'_>,
    events: &[Event],
    own: u32,
    electrophile: u32,
    reagent: Reagent,
) -> Verdict {
    let mut rank = site::rank(&step.before, own, reagent);
    if rank == 0 {
        rank = unranked(step, own, reagent);
    }
    // Sulfonamides are acids: base deprotonates them, so they attack a coupled acid before an aniline does.
    if reagent == Reagent::Acyl && step.before.group(own) == Group::SulfonamideNitrogen {
        rank += 50;
    }
    if rank == 0 || forms_several_bonds(events, own) {
        return Ok(());
    }
    if builds_ring(step, own, electrophile) {
        return Ok(());
    }
    // Rings of three, five and six close before anything else reacts (Mandolini 1986).
    rank += match closed_ring_size(step, own, electrophile) {
        Some(3) => 60,
        Some(5 | 6) => 40,
        _ => 0,
    };
    let competing = nucleophile::competing_site(step, own, electrophile, rank, reagent).is_some();
    if competing || is_one_of_three(step, own, reagent) || is_of_polyol(step, own, electrophile, reagent) {
        Err(Refusal::CompetingGroup)
    } else {
        Ok(())
    }
}

/// Returns true if an amine reacts while two or more equivalent ones stay: an excess of a diamine gives the monosubstituted
/// product, of three and more amines nothing does.
fn is_one_of_three(step: &Step<'_>, own: u32, reagent: Reagent) -> bool {
    let before = &step.before;
    let is_amine = matches!(before.group(own), Group::PrimaryAmine | Group::SecondaryAmine);
    let is_same = |&atom: &u32| atom != own && step.is_untouched(atom) && step.are_equivalent(atom, own);
    is_amine
        && matches!(reagent, Reagent::Alkyl | Reagent::Acyl | Reagent::Sulfonyl)
        && step.atoms().filter(is_same).take(2).count() == 2
}

/// Returns true if an alcohol is alkylated while two or more others of its molecule stay: base takes them all alike. Trityl chloride needs none.
fn is_of_polyol(step: &Step<'_>, own: u32, electrophile: u32, reagent: Reagent) -> bool {
    let before = &step.before;
    let is_alcohol =
        |atom: u32| matches!(before.group(atom), Group::PrimaryAlcohol | Group::SecondaryAlcohol);
    let is_other = |&atom: &u32| {
        atom != own && is_alcohol(atom) && step.is_untouched(atom) && step.are_in_same_molecule(atom, own)
    };
    reagent == Reagent::Alkyl
        && is_alcohol(own)
        && step.atoms().filter(is_other).take(2).count() == 2
        && before.aryls(electrophile) < 2
}

/// Rank of a nucleophile that is not in the table: carbon acids and nucleophiles without a proton.
fn unranked(step: &Step<'_>, own: u32, reagent: Reagent) -> i32 {
    let before = &step.before;
    match (reagent, before.element(own)) {
        (Reagent::Alkyl, C) if before.is_sp3(own) => 37,
        _ => 0,
    }
}

/// Returns true if the nucleophile takes part in several bonds. A ring forms then, and a single rank does not decide.
pub fn forms_several_bonds(events: &[Event], own: u32) -> bool {
    let is_own = |event: &&Event| {
        matches!(**event,
            Event::Alkylation { nucleophile, .. }
            | Event::Acylation { nucleophile, .. }
            | Event::Arylation { nucleophile, .. }
            | Event::Vinylation { nucleophile, .. }
            | Event::ConjugateAddition { nucleophile, .. }
            | Event::Imination { nitrogen: nucleophile, .. }
            | Event::ReductiveAmination { nitrogen: nucleophile, .. } if nucleophile == own)
    };
    events.iter().filter(is_own).count() > 1
}

/// Size of the smallest ring of the product that contains the bond between two atoms of the reaction mixture.
pub fn product_ring_size(step: &Step<'_>, a: u32, b: u32) -> Option<u8> {
    let (a, b) = (step.image(a)?, step.image(b)?);
    step.after.bond(a, b).map(|bond| bond.ring).filter(|&ring| ring > 0)
}

/// Size of the smallest ring that contains the new bond between two atoms, if they belonged to one molecule before.
pub fn closed_ring_size(step: &Step<'_>, a: u32, b: u32) -> Option<u8> {
    product_ring_size(step, a, b).filter(|_| step.are_in_same_molecule(a, b))
}

/// Returns true if the new bond is one of several by which two molecules form a ring. The ring that forms then
/// decides which site reacts first.
pub fn builds_ring(step: &Step<'_>, a: u32, b: u32) -> bool {
    !step.are_in_same_molecule(a, b) && product_ring_size(step, a, b).is_some()
}

/// Returns true if a new bond of the atom is in a ring.
pub fn gains_ring_bond(step: &Step<'_>, atom: u32) -> bool {
    step.gained(atom).any(|(other, _)| product_ring_size(step, atom, other).is_some())
}

/// Refuses a step that leaves an electrophile that every free nucleophile attacks at once: acyl and sulfonyl halides,
/// isocyanates.
pub fn check_unreacted_acyl_electrophiles(step: &Step<'_>, own: u32, own_rank: i32) -> Verdict {
    let competing = electrophile::competing_site(step, own, own_rank.max(30), electrophile::acyl);
    if competing.is_some() { Err(Refusal::CompetingGroup) } else { Ok(()) }
}
