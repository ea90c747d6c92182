//! Partners that cannot form the bond that is drawn: azines that are no bases, alkenes too poor for a carbenoid or a peracid, sulfur dioxide without a source of chlorine, lactols beside diazo
//! ketones, tertiary alcohols with nitriles, isothioureas with plain aryl halides.
//!
//! Sources: Joule and Mills 2010, chapters 4 and 14, for the amination of azine nitrogens, which takes a base;
//! Smith, "March's Advanced Organic Chemistry", chapters 12 and 16, for carbenoids and lactols, which are aldehydes too, and for imidates, which tertiary alcohols do not make: they ionise to the amide.

use crate::change::{Facts, Step};
use crate::electrophile;
use crate::group::Group;
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses such steps.
///
/// # Errors
/// Fails with [`Refusal::Unreactive`] for a partner without the needed lone pair or atom, with [`Refusal::CompetingGroup`] for a lactol,
/// with [`Refusal::Incompatible`] for an isothiourea.
pub fn check(step: &Step<'_>) -> Result<(), Refusal> {
    let it = &step.before;
    for (from, to) in step.joined() {
        let either = |wanted: &dyn Fn(u32, u32) -> bool| wanted(from, to) || wanted(to, from);
        if either(&|nitrogen, azine| is_aminating(it, nitrogen) && is_weak_azine(it, azine))
            || either(&|sulfur, ring| is_chlorine_missing(step, sulfur, ring))
            || either(&|methylene, alkene| it.count(methylene, I) == 2 && is_poor_alkene(it, alkene))
            || either(&|oxygen, carbon| is_phosphite_oxygen(it, oxygen) && it.is_alkyl_halide(carbon))
            || either(&|oxygen, alkene| {
                is_peracid_oxygen(it, oxygen) && is_poor_alkene(it, alkene) && is_terminal(it, alkene)
            })
        {
            return Err(Refusal::Unreactive);
        }
        if either(&|nitrogen, aryl| is_isothiourea_on_plain_halide(step, nitrogen, aryl)) {
            return Err(Refusal::Incompatible);
        }
        if either(&|oxygen, nitrile| {
            it.group(oxygen) == Group::TertiaryAlcohol
                && it.group(nitrile) == Group::Nitrile
                && !step.are_in_same_molecule(oxygen, nitrile)
                && step.image(oxygen).is_some_and(|image| step.after.degree(image) == 2)
        }) {
            return Err(Refusal::Unreactive);
        }
        if either(&|oxygen, carbon| it.group(oxygen) == Group::Hemiacetal && it.is_diazo(carbon)) {
            return Err(Refusal::CompetingGroup);
        }
    }
    Ok(())
}

/// Returns true for the nitrogen of a sulfonyloxyamine.
fn is_aminating(it: &Facts, nitrogen: u32) -> bool {
    let is_sulfonate =
        |oxygen: u32| it.element(oxygen) == O && it.next_to(oxygen).any(|next| it.element(next) == S);
    it.element(nitrogen) == N && it.hydrogens(nitrogen) == 2 && it.next_to(nitrogen).any(is_sulfonate)
}

/// Returns true for a ring nitrogen beside a carbon with a halogen.
fn is_weak_azine(it: &Facts, nitrogen: u32) -> bool {
    it.element(nitrogen) == N
        && it.is_aromatic(nitrogen)
        && it.ring(nitrogen) == 6
        && it.next_to(nitrogen).any(|ring| it.next_to(ring).any(|next| is_halogen(it.element(next))))
}

/// Returns true for the sulfur of sulfur dioxide that joins a ring as sulfonyl chloride though no partner gives chlorine.
fn is_chlorine_missing(step: &Step<'_>, sulfur: u32, ring: u32) -> bool {
    let it = &step.before;
    it.element(sulfur) == S
        && it.degree(sulfur) == 2
        && it.count(sulfur, O) == 2
        && it.is_aromatic(ring)
        && it.next_to(ring).any(|next| is_heavy_halogen(it.element(next)))
        && step.image(sulfur).is_some_and(|image| step.after.count(image, CL) > 0)
        && !step.gained(sulfur).any(|(other, _)| it.element(other) == CL)
}

/// Returns true for a carbon of a double bond with an acceptor on either end, which zinc carbenoids and peracids leave: chemists take sulfur ylides and hydroperoxide.
fn is_poor_alkene(it: &Facts, carbon: u32) -> bool {
    !it.is_aromatic(carbon)
        && it
            .doubly(carbon, |far| {
                it.element(far) == C && !it.is_aromatic(far) && (it.is_alpha(carbon) || it.is_alpha(far))
            })
            .is_some()
}

/// Returns true for a carbon of a double bond with a methylene group as either end.
fn is_terminal(it: &Facts, carbon: u32) -> bool {
    it.has_methylene(carbon) || it.hydrogens(carbon) == 2
}

/// Returns true for an oxygen of a peracid, any of which a template may take for the one that is given.
fn is_peracid_oxygen(it: &Facts, oxygen: u32) -> bool {
    let is_peroxide = |next: u32| it.element(next) == O && it.count(next, O) > 0;
    let is_acyl = |atom: u32| it.is_carbonyl(atom) && it.next_to(atom).any(is_peroxide);
    it.element(oxygen) == O && it.distances(oxygen, 2).into_iter().any(|(atom, _)| is_acyl(atom))
}

/// Returns true for the hydroxyl group of a hydrogen phosphonate, drawn as the phosphite: its anion takes an alkyl halide at phosphorus (Michaelis and Becker; Corbridge, "Phosphorus", 2013, chapter 6).
fn is_phosphite_oxygen(it: &Facts, oxygen: u32) -> bool {
    it.is_hydroxyl(oxygen) && it.next_to(oxygen).any(|next| it.element(next) == P && it.oxo(next) == 0)
}

/// Returns true for the N–H of an isothiourea or dithiocarbonimidate and an aryl halide that nothing activates: base takes the thiolate off to the cyanamide or thiocyanate, which binds palladium.
fn is_isothiourea_on_plain_halide(step: &Step<'_>, nitrogen: u32, aryl: u32) -> bool {
    let it = &step.before;
    let is_sulfide = |next: u32| it.element(next) == S && it.degree(next) == 2;
    it.element(nitrogen) == N
        && it.hydrogens(nitrogen) == 1
        && it.doubly(nitrogen, |carbon| it.next_to(carbon).any(is_sulfide)).is_some()
        && it.is_aromatic_carbon(aryl)
        && step.lost(aryl).any(|(gone, _)| is_heavy_halogen(it.element(gone)))
        && electrophile::activation(it, aryl) < electrophile::ACTIVATED
}
