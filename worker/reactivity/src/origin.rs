//! Origin of the product's carbons, and their oxidation states.
//!
//! A template extracted from a badly mapped reaction may take a methyl group from carbonate or acetic acid. Two signs
//! reveal this: a carbon that changes by more oxidation states than its reaction can, and a carbon that its precursor
//! cannot provide.

use chem::Order;

use crate::change::{Facts, Step};
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Checks every carbon that is in both reaction mixture and product.
pub fn check(step: &Step<'_>) -> Result<(), Refusal> {
    // A template in which one aromatic ring breaks while another forms has confused the two. Amines may replace the
    // oxygen of pyranones and benzoxazinones, and do not replace that of furans.
    let is_furan = |oxygen: u32| {
        step.before.ring(oxygen) == 5
            && !step.before.next_to(oxygen).any(|next| {
                step.before.element(next) == N
                    || step
                        .before
                        .next_to(next)
                        .any(|far| step.before.element(far) == N && step.before.is_aromatic(far))
            })
    };
    let by_amine = |atom: u32, gone: u32| {
        step.before.element(gone) == O
            && !is_furan(gone)
            && step.gained(atom).any(|(other, _)| step.before.element(other) == N)
    };
    let ring_broken = step.change.broken.iter().any(|&(atom, gone, order)| {
        order == Order::Aromatic
            && !by_amine(atom, gone)
            && step.image(gone).is_none()
            && step.before.element(atom) == C
            && step.image(atom).is_some_and(|image| step.after.is_aromatic(image))
    });
    if ring_broken {
        return Err(Refusal::CarbonSource);
    }
    for atom in step.atoms().filter(|&atom| step.before.element(atom) == C) {
        let Some(image) = step.image(atom) else { continue };
        if step.is_untouched(atom) {
            continue;
        }
        oxidation(step, atom, image)?;
        source(step, atom, image)?;
    }
    Ok(())
}

/// Oxidation state of a carbon: bonds to more electronegative atoms less bonds to less electronegative ones.
fn state(it: &Facts, carbon: u32) -> i32 {
    let bonds = it.around(carbon).iter().map(|bond| {
        let order = match bond.order {
            Order::Single | Order::Aromatic => 1,
            Order::Double => 2,
            Order::Triple => 3,
        };
        match it.element(bond.to) {
            N | O | F | S | CL | BR | SE | I => order,
            C => 0,
            _ => -order,
        }
    });
    bonds.sum::<i32>() - i32::from(it.hydrogens(carbon)) + i32::from(it.at(carbon).charge)
}

fn oxidation(step: &Step<'_>, atom: u32, image: u32) -> Result<(), Refusal> {
    let (before, after) = (&step.before, &step.after);
    if before.is_aromatic(atom) != after.is_aromatic(image) {
        return Ok(());
    }
    // Aluminium hydride reduces carbamates to N-methyl groups.
    if before.group(atom) == Group::Carbamate && after.hydrogens(image) == 3 && after.count(image, N) == 1 {
        return Ok(());
    }
    let change = state(after, image) - state(before, atom);
    let helped = before.is_benzylic_or_allylic(atom) || before.is_alpha(atom);
    let was_saturated = before.is_saturated(atom);
    let plain = was_saturated && before.next_to(atom).all(|next| before.element(next) == C);
    let allowed = match change {
        ..=-5 => false,
        // Hydride reduces acids, esters, amides and nitriles to the alcohol or amine. A ketone becomes CH2 only
        // beside an arene, or by hydrazine, where no other carbonyl group is left.
        -4 => {
            let deoxygenated = matches!(before.group(atom), Group::Ketone | Group::Aldehyde)
                && after.next_to(image).all(|next| after.element(next) == C);
            let methyl = after.hydrogens(image) == 3 && !deoxygenated;
            let other_carbonyl = step.atoms().any(|other| {
                other != atom
                    && step.is_untouched(other)
                    && matches!(before.group(other), Group::Ketone | Group::Aldehyde)
            });
            !(methyl && (before.group(atom) != Group::Amide || after.count(image, N) == 0))
                && !(deoxygenated && other_carbonyl)
        }
        -3..=3 => true,
        4..=6 => !plain || helped,
        _ => false,
    };
    if allowed { Ok(()) } else { Err(Refusal::OxidationState) }
}

/// Refuses carbons that their precursor cannot provide in this form.
fn source(step: &Step<'_>, atom: u32, image: u32) -> Result<(), Refusal> {
    let (before, after) = (&step.before, &step.after);
    let saturated = after.is_saturated(image) && !after.is_aromatic(image);
    let gains = step.forms_bond(atom);
    let hydrogens = step.hydrogens_gained(atom);
    let is_carbon_on = |element: u8| before.count(atom, element) > 0;
    let refused = match before.group(atom) {
        // An acyl carbon that gains a bond and becomes CH2 or CH3 in one step.
        Group::Acid
        | Group::Ester
        | Group::Carbonate
        | Group::Carbamate
        | Group::Urea
        | Group::Anhydride
        | Group::AcylHalide
        | Group::CarbonDioxide => gains && saturated && hydrogens > 0,
        Group::Amide | Group::Weinreb => gains && saturated && hydrogens > 1,
        Group::Nitrile | Group::Isocyanate => {
            (saturated && after.count(image, N) == 0 && hydrogens > 1)
                || (gains && is_carbon_on(B) && saturated)
        }
        Group::Organoboron => before.is_cyano(atom) && saturated,
        // A methyl group that leaves without a reason.
        _ => false,
    };
    if refused { Err(Refusal::CarbonSource) } else { Ok(()) }
}
