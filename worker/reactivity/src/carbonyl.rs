//! Additions to carbonyl groups and to activated double bonds.

use crate::alkylation::is_acidic;
use crate::change::{Facts, Step};
use crate::competition::{
    check_unreacted_acyl_electrophiles, closed_ring_size, gains_ring_bond, nucleophiles,
};
use crate::electrophile;
use crate::event::Event;
use crate::group::Group;
use crate::new_organometal::leaves_half_of_glyoxal;
use crate::queries::*;
use crate::reagent::Reagent;
use crate::refusal::Refusal;
use crate::stability::is_bridgehead;

type Verdict = Result<(), Refusal>;

/// Refuses a step at a carbonyl group while a more reactive one is left unreacted, or at a carbon that is no reactive
/// carbonyl.
pub fn carbonyl_electrophile(step: &Step<'_>, carbon: u32, aldol: bool) -> Verdict {
    let before = &step.before;
    let own = electrophile::carbonyl(before, carbon);
    if own == 0 {
        let other = matches!(before.group(carbon), Group::ImineCarbon | Group::Nitrile | Group::Imide);
        let anhydride =
            matches!(before.group(carbon), Group::Anhydride | Group::OtherCarbonyl | Group::Isocyanate);
        return if other || anhydride || aldol || before.is_aromatic(carbon) {
            Ok(())
        } else {
            Err(Refusal::Unreactive)
        };
    }
    // An aldehyde without an enol accepts the enolate of another, which is added slowly to both.
    let waits = aldol && !is_enolisable(before, carbon);
    let donor = |facts: &Facts, atom: u32| {
        if waits && is_enolised(step, atom) { 0 } else { electrophile::carbonyl(facts, atom) }
    };
    match electrophile::competing_site(step, carbon, own, donor) {
        Some(_) => Err(Refusal::CompetingGroup),
        None => Ok(()),
    }
}

/// Returns true if a carbonyl group has hydrogen beside it.
fn is_enolisable(facts: &Facts, carbonyl: u32) -> bool {
    facts.next_to(carbonyl).any(|next| facts.is_sp3(next) && facts.hydrogens(next) > 0)
}

/// Returns true if the step takes hydrogen from beside a carbonyl group for a new bond.
fn is_enolised(step: &Step<'_>, carbonyl: u32) -> bool {
    step.before.next_to(carbonyl).any(|next| step.before.is_sp3(next) && step.forms_bond(next))
}

pub fn imination(step: &Step<'_>, events: &[Event], nitrogen: u32, carbon: u32) -> Verdict {
    let before = &step.before;
    if is_amide_in_chain(step, nitrogen, carbon) {
        return Err(Refusal::Unreactive);
    }
    let own = electrophile::carbonyl(before, carbon);
    if own > 0 && closed_ring_size(step, nitrogen, carbon).is_none() {
        if electrophile::competing_site(step, carbon, own, electrophile::carbonyl).is_some() {
            return Err(Refusal::CompetingGroup);
        }
        nucleophiles(step, events, nitrogen, carbon, Reagent::Carbonyl)?;
    }
    check_unreacted_acyl_electrophiles(step, carbon, 60)
}

/// Returns true for the nitrogen of an amide or carbamate that closes no ring, or takes two aldehydes: it gives aldehydes the bisamide, and the acylimine takes water (March, chapter 16).
/// Chemists go by way of the sulfone.
fn is_amide_in_chain(step: &Step<'_>, nitrogen: u32, carbon: u32) -> bool {
    let is_imine = || !gains_ring_bond(step, nitrogen) && step.hydrogens_gained(carbon) == 0;
    let is_taken_twice = || step.gained(nitrogen).count() > 1 && step.hydrogens_gained(carbon) > 0;
    matches!(step.before.group(nitrogen), Group::AmideNitrogen | Group::CarbamateNitrogen)
        && (is_imine() || is_taken_twice())
}

pub fn metal_addition(step: &Step<'_>, metal: u32, carbon: u32) -> Verdict {
    let before = &step.before;
    let own = electrophile::organometal(before, carbon);
    let mild = !matches!(before.group(metal), Group::Organometal);
    if mild {
        return Ok(());
    }
    if own == 0 {
        return match before.group(carbon) {
            Group::Acid | Group::Amide | Group::ImineCarbon | Group::Other | Group::Alkyl => Ok(()),
            Group::Carbamate | Group::Urea | Group::Imide | Group::OtherCarbonyl => Ok(()),
            _ if before.is_aromatic(carbon) => Ok(()),
            _ => Err(Refusal::Unreactive),
        };
    }
    if stops_at_ketone(step, carbon) || leaves_half_of_glyoxal(step, carbon) {
        return Err(Refusal::CompetingGroup);
    }
    match electrophile::competing_site(step, carbon, own, electrophile::organometal) {
        Some(_) => Err(Refusal::CompetingGroup),
        None => Ok(()),
    }
}

/// Returns true if an ester gives a ketone, which would react with the reagent faster than the ester does. The
/// adducts of lactones, and of esters with fluorine or a carbonyl group beside them, last until the work-up.
fn stops_at_ketone(step: &Step<'_>, carbon: u32) -> bool {
    let before = &step.before;
    let is_ketone = || step.image(carbon).is_some_and(|image| step.after.group(image) == Group::Ketone);
    let lasts = |next: u32| before.count(next, F) > 1 || before.is_acceptor(next);
    before.group(carbon) == Group::Ester
        && before.ring(carbon) == 0
        && is_ketone()
        && !before.next_to(carbon).any(lasts)
}

pub fn conjugate_addition(
    step: &Step<'_>,
    events: &[Event],
    nucleophile: u32,
    carbon: u32,
    partner: u32,
) -> Verdict {
    let before = &step.before;
    // A second bond to the partner is a cycloaddition; metals and strong acids add to plain alkenes.
    if step.forms_bond(partner)
        || before.is_aromatic(carbon)
        || matches!(before.element(nucleophile), B | SI | SN)
    {
        return Ok(());
    }
    if matches!(before.group(nucleophile), Group::Organometal) {
        let aldehyde = before
            .next_to(partner)
            .any(|next| before.group(next) == Group::Aldehyde && step.is_untouched(next));
        return if aldehyde { Err(Refusal::CompetingGroup) } else { Ok(()) };
    }
    let is_acceptor = |atom: u32| {
        before.is_alpha(atom)
            || before.is_acceptor(atom)
            || before.next_to(atom).any(|next| {
                before.is_aromatic(next) && electrophile::activation(before, next) >= electrophile::ACTIVATED
            })
            || before.doubly(atom, |far| before.element(far) == C && before.is_alpha(far)).is_some()
    };
    let ring = closed_ring_size(step, nucleophile, carbon);
    if matches!(ring, Some(3..=5))
        && before.element(nucleophile) == N
        && is_endo(step, nucleophile, carbon, partner)
    {
        return Err(Refusal::Strained);
    }
    let internal = ring.is_some();
    // Water goes to the inner carbon of a terminal alkyne (Hintermann and Labonne, Synthesis 2007, 1121).
    let is_alkyne_hydration = before.group(nucleophile) == Group::Water
        && before.group(partner) == Group::TerminalAlkyne
        && before.triply(carbon) == Some(partner);
    if is_alkyne_hydration {
        return Ok(());
    }
    let acid_catalysed = matches!(
        before.group(nucleophile),
        Group::AcidOxygen
            | Group::PrimaryAlcohol
            | Group::Phenol
            | Group::Thiol
            | Group::Thiophenol
            | Group::Water
    ) && (before.carbons(carbon) >= 3 || before.element(nucleophile) == S)
        || before.count(carbon, O) > 0;
    if !is_acceptor(partner) {
        return if acid_catalysed || internal { Ok(()) } else { Err(Refusal::NotActivated) };
    }
    if before.element(nucleophile) == C && !is_acidic(before, nucleophile) {
        return Err(Refusal::Unreactive);
    }
    let is_slow = is_crotonamide(before, carbon, partner)
        && is_slow_amine(before, nucleophile)
        && !matches!(ring, Some(5 | 6));
    if is_slow || closes_bridge(step, nucleophile, carbon) {
        return Err(Refusal::Unreactive);
    }
    nucleophiles(step, events, nucleophile, carbon, Reagent::Acceptor)
}

/// Returns true for the β-carbon of an acrylamide with a chain there and no second acceptor (Mayr and Ofial, Acc. Chem. Res. 2016, 49, 952).
fn is_crotonamide(it: &Facts, beta: u32, alpha: u32) -> bool {
    let acceptors = || it.next_to(alpha).filter(|&next| it.is_acceptor(next));
    it.carbons(beta) > 1
        && it.hydrogens(beta) == 1
        && !it.next_to(beta).any(|next| it.is_acceptor(next) || it.is_trifluoromethyl(next))
        && acceptors().count() == 1
        && acceptors().all(|next| it.group(next) == Group::Amide)
}

/// Returns true for a secondary amine of an open chain without a methyl group, and for an aniline.
fn is_slow_amine(it: &Facts, nitrogen: u32) -> bool {
    match it.group(nitrogen) {
        Group::SecondaryAmine => {
            !it.is_in_ring(nitrogen) && it.next_to(nitrogen).all(|next| it.hydrogens(next) < 3)
        }
        Group::Aniline | Group::SecondaryAniline | Group::PoorAniline => true,
        _ => false,
    }
}

/// Returns true for a carbon that becomes a bridgehead with a tertiary ether: the addition is reversible, and the open chain the more stable side (Clayden, Greeves and Warren, chapter 22).
fn closes_bridge(step: &Step<'_>, oxygen: u32, carbon: u32) -> bool {
    step.before.is_hydroxyl(oxygen)
        && step.before.carbons(carbon) > 2
        && step.image(carbon).is_some_and(|image| is_bridgehead(step.after, image))
}

/// Returns true if the attacked double bond ends up inside the closing ring (Baldwin's endo). With trigonal carbon
/// that requires six atoms or more.
fn is_endo(step: &Step<'_>, nucleophile: u32, carbon: u32, partner: u32) -> bool {
    let images = [nucleophile, carbon, partner].map(|atom| step.image(atom));
    let [Some(nucleophile), Some(carbon), Some(partner)] = images else { return false };
    step.after.smallest_cycle(nucleophile, carbon).is_some_and(|ring| ring.contains(&partner))
}
