//! Acyl groups that an ester hands to an alcohol.
//!
//! Sources: Clayden, Greeves and Warren, "Organic Chemistry", chapter 10, for exchange in base, which is an equilibrium; Smith, "March's Advanced Organic Chemistry",
//! chapter 10, for crowded esters, and chapter 17 for the Hofmann elimination of ammonium ions.

use crate::change::{Facts, Step};
use crate::event::Event;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses an exchange, or a cleavage by base, that runs backwards, that is too crowded, or whose base takes an ammonium ion apart.
///
/// # Errors
/// Fails with [`Refusal::Unreactive`], [`Refusal::Hindered`], [`Refusal::SelfReacting`] or [`Refusal::Incompatible`].
pub fn check(step: &Step<'_>, events: &[Event]) -> Result<(), Refusal> {
    let it = &step.before;
    for event in events {
        if let Event::Cleavage { atom, root } = *event
            && is_behind_crowded_ester(step, atom, root)
        {
            return Err(Refusal::SelfReacting);
        }
        if is_fischer(it, event) && step.atoms().any(|atom| is_aryl_acetate(step, atom)) {
            return Err(Refusal::CompetingGroup);
        }
        let Event::Acylation { nucleophile: oxygen, carbon: acyl } = *event else { continue };
        let is_exchange = it.group(acyl) == Group::Ester && it.element(oxygen) == O;
        if !is_exchange {
            continue;
        }
        if is_uphill(step, oxygen, acyl)
            || !step.are_in_same_molecule(oxygen, acyl) && is_vinylogous_carbamate(it, acyl)
        {
            return Err(Refusal::Unreactive);
        }
        if it.group(oxygen) == Group::SecondaryAlcohol
            && !step.are_in_same_molecule(oxygen, acyl)
            && it.next_to(acyl).any(|alpha| is_crowded(it, alpha))
        {
            return Err(Refusal::Hindered);
        }
        let is_own_onium = |atom: u32| it.is_onium(atom) && step.are_in_same_molecule(atom, oxygen);
        if step.atoms().any(is_own_onium) {
            return Err(Refusal::Incompatible);
        }
    }
    Ok(())
}

/// Returns true for the ester of an acid and methanol or ethanol, by either of the bonds that templates name.
pub fn is_fischer(it: &Facts, event: &Event) -> bool {
    let is_small = |carbon: u32| it.is_sp3(carbon) && it.carbons(carbon) < 2;
    match *event {
        Event::Alkylation { nucleophile, carbon, leaving } => {
            it.next_to(nucleophile).any(|acyl| it.group(acyl) == Group::Acid)
                && it.is_hydroxyl(leaving)
                && is_small(carbon)
        }
        Event::Acylation { nucleophile, carbon } => {
            it.group(carbon) == Group::Acid
                && it.is_hydroxyl(nucleophile)
                && it.next_to(nucleophile).any(is_small)
        }
        _ => false,
    }
}

/// Returns true for the oxygen of a phenol's acetate that stays, though acid and an excess of methanol or ethanol, which make the ester of an acid, take it (Wuts and Greene, chapter 3).
fn is_aryl_acetate(step: &Step<'_>, oxygen: u32) -> bool {
    let it = &step.before;
    let is_acetyl =
        |acyl: u32| it.group(acyl) == Group::Ester && it.next_to(acyl).any(|next| it.hydrogens(next) == 3);
    it.group(oxygen) == Group::EsterOxygen
        && step.is_untouched(oxygen)
        && it.next_to(oxygen).any(|ipso| it.is_aromatic_carbon(ipso))
        && it.next_to(oxygen).any(is_acetyl)
}

/// Returns true for an acyl group that goes from a less to a more crowded alcohol of its molecule, against the equilibrium.
fn is_uphill(step: &Step<'_>, oxygen: u32, acyl: u32) -> bool {
    let it = &step.before;
    step.are_in_same_molecule(oxygen, acyl)
        && step.lost(acyl).any(|(freed, _)| {
            it.group(freed) == Group::EsterOxygen
                && step.image(freed).is_some()
                && crowding(it, freed) < crowding(it, oxygen)
        })
}

/// Returns true for the ester of an enamine, whose nitrogen fills the carbonyl group: dihydropyridines and aminocrotonates (Stout and Meyers, Chem. Rev. 1982, 82, 223).
fn is_vinylogous_carbamate(it: &Facts, acyl: u32) -> bool {
    let is_donor = |nitrogen: u32| {
        it.element(nitrogen) == N
            && it.is_saturated(nitrogen)
            && !it.next_to(nitrogen).any(|next| it.is_acceptor(next))
    };
    it.next_to(acyl).any(|alpha| {
        it.doubly(alpha, |beta| it.element(beta) == C && it.next_to(beta).any(is_donor)).is_some()
    })
}

/// Number of carbons on the saturated carbon of an alcohol or of its ester.
fn crowding(it: &Facts, oxygen: u32) -> usize {
    it.next_to(oxygen).find(|&next| it.is_sp3(next)).map_or(0, |alkyl| it.carbons(alkyl))
}

/// Returns true for the oxygen of a plain ester that base frees two or three carbons from the ester of a more crowded alcohol, whose acyl group its alkoxide takes. Formates and
/// haloacetates leave in a base too weak for that.
fn is_behind_crowded_ester(step: &Step<'_>, oxygen: u32, root: u32) -> bool {
    let it = &step.before;
    let is_ester = |atom: u32| it.group(atom) == Group::EsterOxygen;
    let is_fast = || {
        it.hydrogens(root) > 0
            || it.next_to(root).any(|next| it.next_to(next).any(|far| is_halogen(it.element(far))))
    };
    is_ester(oxygen)
        && it.group(root) == Group::Ester
        && !it.is_in_ring(oxygen)
        && !is_fast()
        && it.distances(oxygen, 4).into_iter().any(|(atom, distance)| {
            distance > 2
                && is_ester(atom)
                && step.is_untouched(atom)
                && crowding(it, atom) > crowding(it, oxygen)
        })
}

/// Returns true for a saturated carbon without hydrogen beside an ester. A hydroxyl group holds the alcohol's proton, and rings of three are open.
fn is_crowded(it: &Facts, alpha: u32) -> bool {
    it.is_sp3(alpha)
        && it.degree(alpha) == 4
        && it.ring(alpha) != 3
        && it.count(alpha, F) == 0
        && it.next_to(alpha).filter(|&next| it.is_acceptor(next)).count() == 1
        && !it.next_to(alpha).any(|next| it.is_hydroxyl(next))
}
