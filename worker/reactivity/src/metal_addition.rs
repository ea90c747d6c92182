//! Additions of organometallic compounds: reagents and partners that do not last.
//!
//! Sources: Smith, "March's Advanced Organic Chemistry", chapter 12, for β-elimination from magnesium and lithium compounds with a heteroatom, chapter 16 for their additions; Clayden, Greeves and Warren, chapter 10, for imidates of hydroxynitriles.

use crate::change::Step;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses such additions.
///
/// # Errors
/// Fails with [`Refusal::Unstable`] for a β-hetero metal compound, with [`Refusal::Incompatible`] beside a quaternary ammonium salt, with [`Refusal::SelfReacting`] for an alkoxide that closes on a
/// nitrile.
pub fn check(step: &Step<'_>) -> Result<(), Refusal> {
    let it = &step.before;
    for (metal, carbonyl) in step.joined() {
        let becomes_alcohol = becomes_carbinol(step, carbonyl);
        if !is_carbon_of_metal(step, metal) || !(becomes_alcohol || it.is_carbonyl(carbonyl)) {
            continue;
        }
        if loses_beta_group(step, metal) {
            return Err(Refusal::Unstable);
        }
        if step.atoms().any(|atom| is_kept_ammonium(step, atom)) {
            return Err(Refusal::Incompatible);
        }
        if becomes_alcohol && closes_on_nitrile(step, carbonyl) {
            return Err(Refusal::SelfReacting);
        }
    }
    Ok(())
}

/// Returns true for a carbon that brings magnesium or lithium, that exchanges its halogen for one of them, or that is a terminal alkyne's.
fn is_carbon_of_metal(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_halide_of_metal = || {
        it.is_aromatic_carbon(carbon)
            || it.is_sp3(carbon) && !it.is_benzylic_or_allylic(carbon) && !it.is_alpha(carbon)
    };
    it.element(carbon) == C
        && (it.group(carbon) == Group::TerminalAlkyne
            || step.lost(carbon).any(|(gone, _)| match it.element(gone) {
                MG | LI => true,
                SI => it.triply(carbon).is_some(),
                element => is_heavy_halogen(element) && is_halide_of_metal(),
            }))
}

/// Returns true for an aldehyde or ketone that becomes an alcohol.
fn becomes_carbinol(step: &Step<'_>, carbonyl: u32) -> bool {
    matches!(step.before.group(carbonyl), Group::Aldehyde | Group::Ketone)
        && step.image(carbonyl).is_some_and(|image| {
            step.after.is_sp3(image) && step.after.next_to(image).any(|next| step.after.is_hydroxyl(next))
        })
}

/// Returns true for a saturated carbon whose neighbour bears an amino or alkoxy group or a halogen, which leaves as the alkene forms.
fn loses_beta_group(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let leaves = |next: u32| {
        next != carbon
            && (it.group(next) == Group::TertiaryAmine
                || matches!(it.group(next), Group::Ether | Group::ArylEther | Group::Acetal)
                || is_heavy_halogen(it.element(next)))
    };
    it.is_sp3(carbon)
        && !it.is_in_ring(carbon)
        && it.next_to(carbon).any(|beta| it.is_sp3(beta) && it.next_to(beta).any(leaves))
}

/// Returns true for the nitrogen of a quaternary ammonium salt, which ethers do not dissolve.
fn is_kept_ammonium(step: &Step<'_>, atom: u32) -> bool {
    step.before.is_onium(atom) && step.before.is_saturated(atom) && step.is_untouched(atom)
}

/// Returns true for a carbonyl group whose alkoxide closes on a nitrile at the ortho position of its ring, to the iminophthalan.
fn closes_on_nitrile(step: &Step<'_>, carbonyl: u32) -> bool {
    let after = step.after;
    let bears_nitrile =
        |ortho: u32| after.is_aromatic(ortho) && after.next_to(ortho).any(|next| after.is_cyano(next));
    step.image(carbonyl).is_some_and(|image| {
        after
            .next_to(image)
            .filter(|&ipso| after.is_aromatic_carbon(ipso))
            .any(|ipso| after.next_to(ipso).any(bears_nitrile))
    })
}
