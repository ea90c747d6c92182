//! Order of acids before a carbanion or an organometal forms: the most acidic proton goes first.
//!
//! Acidities are those in DMSO of Bordwell, Acc. Chem. Res. 1988, 21, 456: thiols 10, acids 12, nitroalkanes 17, phenols 18, terminal alkynes 29, amino
//! azines 26 to 28, amides 35 and nitriles 31 by their α-carbon, esters 30, alkylbenzenes 40, toluate esters 34. Sources for metals: Bailey and
//! Patricia, J. Organomet. Chem. 1988, 352, 1, for butyllithium, which exchanges bromine and iodine before it takes a proton; Parham and
//! Bradsher, Acc. Chem. Res. 1982, 15, 300, for the groups beside which aryllithiums last; Mongin and Quéguiner, Tetrahedron 2001, 57, 4059,
//! for the lone pair of azines, which keeps a base from the carbon beside it.

use crate::change::{Facts, Step};
use crate::electrophile;
use crate::event::Event;
use crate::group::{Group, aromatic_positions, has_conjugated_nitro};
use crate::queries::*;
use crate::refusal::Refusal;

type Verdict = Result<(), Refusal>;

/// Difference of pKa from which a proton goes first.
const MARGIN: i32 = 4;

/// Refuses carbanions that a stronger acid of the mixture quenches, and bases that find another site.
///
/// # Errors
/// Fails with [`Refusal::CompetingGroup`] or [`Refusal::Incompatible`].
pub fn check(step: &Step<'_>, events: &[Event]) -> Verdict {
    let it = &step.before;
    for event in events {
        match *event {
            Event::Alkylation { nucleophile, .. } | Event::Aldol { nucleophile, .. }
                if is_weak_carbon_acid(step, nucleophile)
                    && leaves_stronger_acid(step, nucleophile)
                    && !is_perkin(step, event) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Acylation { nucleophile, carbon }
                if it.is_sp3(nucleophile)
                    && !step.are_in_same_molecule(nucleophile, carbon)
                    && is_ester_of_acidic_carbon(step, carbon) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Acylation { nucleophile, .. }
                if is_weak_carbon_acid(step, nucleophile)
                    && step.atoms().any(|atom| {
                        is_push_pull(it, atom)
                            && it.hydrogens(atom) > 0
                            && it.element(atom) == N
                            && step.is_untouched(atom)
                    }) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::Acylation { nucleophile, .. }
                if it.is_sp3(nucleophile)
                    && step
                        .atoms()
                        .any(|atom| step.is_kept_acid(atom) || is_activated_nitroarene(step, atom)) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            Event::AromaticSubstitution { carbon, electrophile: Some(other), element } => {
                refuse_exchange(step, carbon, other, element)?;
            }
            Event::Arylation { nucleophile, carbon, .. }
                if is_alkoxide_by_copper(it, nucleophile, carbon) && keeps_acidic_ketone(step) =>
            {
                return Err(Refusal::CompetingGroup);
            }
            _ => {}
        }
    }
    if step.joined().any(|(aryl, carbon)| is_metalated_indole(step, aryl, carbon)) {
        return Err(Refusal::Incompatible);
    }
    refuse_lithium_beside_acid(step)?;
    refuse_lithium_beside_nitrile(step)
}

/// pKa of a carbon acid that only an amide base deprotonates; `None` for other carbons.
fn carbon_acidity(it: &Facts, carbon: u32) -> Option<i32> {
    if !it.is_sp3(carbon) || it.hydrogens(carbon) == 0 {
        return None;
    }
    let mut acceptors = it.next_to(carbon).filter(|&next| it.is_acceptor(next));
    let first = acceptors.next();
    if acceptors.next().is_some() {
        return None;
    }
    let is_benzylic = it.next_to(carbon).any(|next| it.is_aromatic(next) && !it.is_acceptor(next));
    let own = match first.map(|next| it.group(next)) {
        Some(Group::Ester | Group::Thioester) => 30,
        Some(Group::Amide | Group::Weinreb) => 35,
        Some(Group::Acid) => 34,
        Some(Group::Nitrile) => 31,
        Some(_) => return None,
        None if is_benzylic => 36,
        None => return None,
    };
    Some(if first.is_some() && is_benzylic { own - 8 } else { own })
}

/// Returns true for a Perkin reaction (Johnson, Org. React. 1942, 1, 210): acetic anhydride makes the anhydride of the arylacetic acid, and the
/// ester of a phenol, which the work-up hydrolyses.
fn is_perkin(step: &Step<'_>, event: &Event) -> bool {
    let it = &step.before;
    let Event::Aldol { nucleophile, carbon } = *event else { return false };
    it.group(carbon) == Group::Aldehyde
        && it.next_to(carbon).any(|next| it.is_aromatic(next))
        && it.next_to(nucleophile).any(|next| it.group(next) == Group::Acid)
        && it.next_to(nucleophile).any(|next| it.is_aromatic(next))
        && step.lost(carbon).any(|(gone, _)| it.element(gone) == O)
}

/// Returns true for a carbon acid of the step that is on the scale.
fn is_weak_carbon_acid(step: &Step<'_>, carbon: u32) -> bool {
    step.hydrogens_gained(carbon) < 0 && carbon_acidity(&step.before, carbon).is_some()
}

/// Returns true if the step leaves an acid that is stronger than its own carbon acid by more than the margin. Alcohols and amides are left to
/// other rules: their dianions are in use.
fn leaves_stronger_acid(step: &Step<'_>, own: u32) -> bool {
    let it = &step.before;
    let Some(own_acidity) = carbon_acidity(it, own) else { return false };
    step.atoms().any(|atom| {
        acidity(it, atom).is_some_and(|other| other <= own_acidity - MARGIN)
            && step.is_untouched(atom)
            && !it.next_to(own).any(|acid| it.is_acceptor(acid) && it.bond(acid, atom).is_some())
    })
}

/// pKa of an O–H, N–H, alkyne C–H or nitroalkane; `None` for groups that another rule compares.
fn acidity(it: &Facts, atom: u32) -> Option<i32> {
    if it.hydrogens(atom) == 0 {
        return None;
    }
    if it.is_sp3(atom) && it.next_to(atom).any(|next| it.is_nitro(next)) {
        return Some(17);
    }
    Some(match it.group(atom) {
        Group::Phenol => 18,
        Group::Thiol | Group::Thiophenol => 14,
        Group::AcidOxygen => 12,
        Group::TerminalAlkyne => 29,
        Group::PoorAniline => 27,
        Group::Enamine if is_push_pull(it, atom) => 24,
        _ => return None,
    })
}

/// Returns true for the nitrogen of an enamine with an acceptor at the other end of its double bond.
fn is_push_pull(it: &Facts, nitrogen: u32) -> bool {
    it.next_to(nitrogen).any(|near| it.doubly(near, |far| it.element(far) == C && it.is_alpha(far)).is_some())
}

/// Returns true for a halide of a nitroarene that stays, which carbanions displace before they take an ester (Miller, "Aromatic Nucleophilic Substitution",
/// 1968).
fn is_activated_nitroarene(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    it.is_aromatic_carbon(carbon)
        && it.count(carbon, F) + it.count(carbon, CL) > 0
        && step.is_untouched(carbon)
        && has_conjugated_nitro(&it.structure, carbon)
}

/// Returns true for an ester whose α-carbon has a second acceptor and a hydrogen: the carbanion of the other component takes it, and the
/// enolate is no electrophile.
fn is_ester_of_acidic_carbon(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    it.group(carbon) == Group::Ester
        && it.next_to(carbon).any(|alpha| {
            it.is_sp3(alpha)
                && it.hydrogens(alpha) > 0
                && step.is_untouched(alpha)
                && it.next_to(alpha).filter(|&next| it.is_acceptor(next)).count() > 1
        })
}

/// Refuses a lithiation beside a bromide or iodide that butyllithium takes, beside the nitrogen of an azine, and the iodination of a thiophene by
/// way of its lithium compound beside an enolisable ketone.
fn refuse_exchange(step: &Step<'_>, carbon: u32, other: u32, element: u8) -> Verdict {
    let it = &step.before;
    let is_carbonyl = matches!(
        it.group(other),
        Group::Aldehyde | Group::Ketone | Group::Amide | Group::Weinreb | Group::Ester
    );
    let is_thiophene =
        it.ring(carbon) == 5 && it.next_to(carbon).any(|next| it.element(next) == S && it.is_aromatic(next));
    let is_iodine = element == I && it.next_to(other).all(|next| it.element(next) == I);
    let is_trapped = is_carbonyl && element == C || is_iodine;
    if is_trapped && is_azine_alpha(it, carbon) && is_beside_heavy_halide(it, carbon) {
        return Err(Refusal::Position);
    }
    if is_thiophene && is_iodine && keeps_acidic_ketone(step) {
        return Err(Refusal::CompetingGroup);
    }
    Ok(())
}

/// Returns true for a carbon beside the nitrogen of an azine.
fn is_azine_alpha(it: &Facts, carbon: u32) -> bool {
    it.ring(carbon) == 6
        && it.next_to(carbon).any(|next| it.group(next) == Group::Azine && it.ring(next) == 6)
}

fn is_beside_heavy_halide(it: &Facts, carbon: u32) -> bool {
    aromatic_positions(&it.structure, carbon).iter().any(|&(atom, distance)| {
        distance == 1 && it.next_to(atom).any(|next| matches!(it.element(next), BR | I))
    })
}

/// Returns true for the alkoxide of an Ullmann reaction.
fn is_alkoxide_by_copper(it: &Facts, nucleophile: u32, carbon: u32) -> bool {
    matches!(it.group(nucleophile), Group::PrimaryAlcohol | Group::SecondaryAlcohol)
        && it.next_to(carbon).any(|next| matches!(it.element(next), BR | I))
        && electrophile::activation(it, carbon) < electrophile::ACTIVATED
}

/// Returns true if the step keeps a ketone whose α C–H has an aryl group or a nitrogen on it as well (pKa 18 to 22).
fn keeps_acidic_ketone(step: &Step<'_>) -> bool {
    let it = &step.before;
    step.atoms().any(|alpha| {
        it.is_sp3(alpha)
            && it.hydrogens(alpha) > 0
            && it.next_to(alpha).any(|next| it.group(next) == Group::Ketone)
            && it.next_to(alpha).any(|next| it.is_aromatic(next) || it.element(next) == N)
            && step.is_untouched(alpha)
    })
}

/// Returns true for the bromide or iodide of a pyrrole's own ring beside its N–H that is to become a lithium compound and take a carbonyl group: the base takes the N–H, and the dianion is not
/// made there, as it is on the benzene ring of an indole (Joule and Mills 2010, chapters 16 and 20).
fn is_metalated_indole(step: &Step<'_>, aryl: u32, carbon: u32) -> bool {
    let it = &step.before;
    it.is_aromatic_carbon(aryl)
        && it.ring(aryl) == 5
        && step.lost(aryl).any(|(gone, _)| matches!(it.element(gone), BR | I))
        && it.is_carbonyl(carbon)
        && it
            .azole_nitrogens(aryl)
            .any(|nitrogen| it.group(nitrogen) == Group::Indole && it.hydrogens(nitrogen) > 0)
}

/// Refuses an aryl bromide or iodide that butyllithium exchanges for an isocyanate, beside an N–H or O–H, which takes the organometal.
fn refuse_lithium_beside_acid(step: &Step<'_>) -> Verdict {
    let it = &step.before;
    let loses = |carbon: u32| step.lost(carbon).any(|(gone, _)| matches!(it.element(gone), BR | I));
    let is_addition = step.joined().any(|(aryl, carbon)| {
        it.is_aromatic_carbon(aryl) && loses(aryl) && it.group(carbon) == Group::Isocyanate
    });
    let is_acid =
        |atom: u32| matches!(it.element(atom), N | O) && it.hydrogens(atom) > 0 && step.is_untouched(atom);
    if is_addition && step.atoms().any(is_acid) { Err(Refusal::Incompatible) } else { Ok(()) }
}

/// Refuses an aryl bromide or chloride that becomes a lithium compound for a borate beside a nitrile, ketone or ester, which the lithium
/// reagents attack. Iodides exchange with magnesium at −20 °C.
fn refuse_lithium_beside_nitrile(step: &Step<'_>) -> Verdict {
    let it = &step.before;
    let is_borate = |boron: u32| it.element(boron) == B && it.count(boron, O) == 3;
    let loses = |carbon: u32| step.lost(carbon).any(|(gone, _)| matches!(it.element(gone), BR | CL));
    let is_borylation = step
        .joined()
        .any(|(carbon, boron)| it.is_aromatic_carbon(carbon) && is_borate(boron) && loses(carbon));
    let is_attacked =
        |atom: u32| matches!(it.group(atom), Group::Nitrile | Group::Ketone | Group::Aldehyde | Group::Ester);
    if is_borylation && step.atoms().any(|atom| is_attacked(atom) && step.is_untouched(atom)) {
        return Err(Refusal::Incompatible);
    }
    Ok(())
}
