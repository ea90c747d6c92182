//! Alcohols and alkoxides that close a lactone of five with a carboxyl group of their molecule: above all benzylic ones beside an acid or ester, which give the phthalide.
//!
//! Sources: Clayden, Greeves and Warren, "Organic Chemistry", chapter 10 (alkoxides of esters close to lactones); Smith, "March's Advanced Organic Chemistry", chapter 10
//! (neighbouring groups). The tert-butyl ester of the acid holds, and amines open the phthalide itself.

use crate::base_labile::is_ester_of_alcohol;
use crate::bifunctional::lost_halogen;
use crate::change::Step;
use crate::event::Event;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses steps that leave such a group open.
///
/// # Errors
/// Fails with [`Refusal::SelfReacting`].
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    let closes = events.iter().any(|event| match *event {
        Event::CarbonylReduction { carbon } => {
            it.next_to(carbon).any(|next| is_beside_carboxyl(step, next) || is_of_enoic_acid(step, next))
        }
        Event::Acylation { nucleophile, carbon } => {
            acylates_its_alcohol(step, carbon)
                || is_gamma_hydroxy_acid(step, carbon)
                || is_beside_cis_acid(step, nucleophile, carbon)
        }
        Event::Deoxyhalogenation { carbon, .. } => is_beside_benzamide(step, carbon),
        Event::Alkylation { nucleophile, carbon, leaving } => {
            it.is_hydroxyl(leaving)
                && !step.are_in_same_molecule(nucleophile, carbon)
                && is_beside_benzamide(step, carbon)
        }
        _ => false,
    });
    let by_new_metal = || step.joined().any(|(aryl, carbon)| closes_to_phthalide(step, aryl, carbon));
    if closes || by_new_metal() { Err(Refusal::SelfReacting) } else { Ok(()) }
}

/// Returns true for an aromatic carbon beside one with an acid, or the ester of a primary alcohol, that the step keeps: an alkoxide on its side chain closes the phthalide
/// (Clayden, Greeves and Warren, chapter 10).
fn is_beside_carboxyl(step: &Step<'_>, ipso: u32) -> bool {
    let it = &step.before;
    let closes = |acyl: u32| {
        (it.group(acyl) == Group::Acid || is_ester_of_alcohol(it, acyl, 1)) && step.is_untouched(acyl)
    };
    it.is_aromatic_carbon(ipso)
        && it.next_to(ipso).any(|ortho| it.is_aromatic_carbon(ortho) && it.next_to(ortho).any(closes))
}

/// Returns true for an aryl halide beside such an ester whose metal adds to an aldehyde or ketone.
fn closes_to_phthalide(step: &Step<'_>, aryl: u32, carbon: u32) -> bool {
    matches!(step.before.group(carbon), Group::Aldehyde | Group::Ketone)
        && !step.lost_oxo(carbon)
        && lost_halogen(step, aryl).is_some()
        && is_beside_carboxyl(step, aryl)
}

/// Returns true for a benzoic acid that is to acylate although a free benzylic hydroxyl group beside it closes the phthalide (Clayden, Greeves and Warren, chapter 10).
fn acylates_its_alcohol(step: &Step<'_>, acyl: u32) -> bool {
    let it = &step.before;
    let is_carbinol = |carbon: u32| {
        it.is_sp3(carbon)
            && it.next_to(carbon).any(|oxygen| it.is_hydroxyl(oxygen) && step.is_untouched(oxygen))
    };
    let bears_carbinol = |ortho: u32| it.is_aromatic_carbon(ortho) && it.next_to(ortho).any(is_carbinol);
    it.group(acyl) == Group::Acid
        && it.next_to(acyl).any(|ipso| it.is_aromatic_carbon(ipso) && it.next_to(ipso).any(bears_carbinol))
}

/// Returns true for the carbon of a benzylic alcohol beside a benzamide: activated, it takes the oxygen of the amide, and the iminophthalan gives the phthalide (March, chapter 10).
fn is_beside_benzamide(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_amide =
        |acyl: u32| it.group(acyl) == Group::Amide && !it.is_in_ring(acyl) && step.is_untouched(acyl);
    let bears_amide = |ortho: u32| it.is_aromatic_carbon(ortho) && it.next_to(ortho).any(is_amide);
    it.is_sp3(carbon)
        && it.next_to(carbon).any(|ipso| it.is_aromatic_carbon(ipso) && it.next_to(ipso).any(bears_amide))
}

/// Returns true for an alcohol that an anhydride or acyl halide is to take, with a free acid across a double bond or benzene ring: the mixed anhydride of the acid closes the lactone.
fn is_beside_cis_acid(step: &Step<'_>, oxygen: u32, acyl: u32) -> bool {
    let it = &step.before;
    let is_acid =
        |next: u32| it.group(next) == Group::Acid && it.next_to(next).any(|far| step.is_kept_acid(far));
    let is_held = |inner: u32, outer: u32| {
        let is_ring = it.bond(inner, outer).is_some_and(|bond| bond.ring > 0);
        is_ring
            && (it.is_aromatic(inner) && it.is_aromatic(outer)
                || it.doubly(inner, |far| far == outer).is_some())
    };
    let closes = |carbinol: u32| {
        it.is_sp3(carbinol)
            && it.next_to(carbinol).any(|inner| {
                it.next_to(inner).any(|outer| is_held(inner, outer) && it.next_to(outer).any(is_acid))
            })
    };
    it.is_hydroxyl(oxygen)
        && matches!(it.group(acyl), Group::Anhydride | Group::AcylHalide)
        && it.next_to(oxygen).any(closes)
}

/// Returns true for the alkene carbon beside a carbonyl group whose alcohol closes the butenolide with the acid at the double bond's other end, unless that is written as trans.
fn is_of_enoic_acid(step: &Step<'_>, near: u32) -> bool {
    let it = &step.before;
    let is_acid = |next: u32| it.group(next) == Group::Acid && step.is_untouched(next);
    it.doubly(near, |far| it.element(far) == C && it.next_to(far).any(is_acid)).is_some()
        && !step.after.has_trans_alkene()
}

/// Returns true for an acid of an open chain with a free hydroxyl group at its γ-carbon, which a coupling reagent closes to the lactone: amines open the lactone itself.
fn is_gamma_hydroxy_acid(step: &Step<'_>, acyl: u32) -> bool {
    let it = &step.before;
    let is_chain = |atom: u32| it.is_sp3(atom) && !it.is_in_ring(atom);
    let is_carbinol = |gamma: u32| {
        is_chain(gamma) && it.next_to(gamma).any(|next| it.is_hydroxyl(next) && step.is_untouched(next))
    };
    it.group(acyl) == Group::Acid
        && it.next_to(acyl).filter(|&alpha| is_chain(alpha)).any(|alpha| {
            it.next_to(alpha)
                .filter(|&beta| beta != acyl && is_chain(beta))
                .any(|beta| it.next_to(beta).any(|gamma| gamma != alpha && is_carbinol(gamma)))
        })
}
