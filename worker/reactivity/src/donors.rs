//! Atoms and groups that a component cannot give, whatever the conditions.
//!
//! Sources: Smith, "March's Advanced Organic Chemistry", chapters 10, 11, 14 and 19, for what gives positive and negative halogen
//! and for oxidants; Hendrickson and Bergeron, Tetrahedron Lett. 1973, 14, 4607, for triflimides; Roughley and Jordan, J. Med. Chem.
//! 2011, 54, 3451, for how little a sulfonamide leaves; Yoshikawa, Kato and Takenishi, Tetrahedron Lett. 1967, 5065, for phosphorus
//! oxychloride in trimethyl phosphate, which is the solvent.

use chem::Order;

use crate::change::Step;
use crate::group::{Group, aromatic_positions};
use crate::queries::*;
use crate::refusal::Refusal;

type Verdict = Result<(), Refusal>;

/// Refuses new bonds to atoms that their molecule does not give.
///
/// # Errors
/// Fails with [`Refusal::NoLeavingGroup`].
pub fn check(step: &Step<'_>) -> Verdict {
    let is_wrong = |&(a, b, order): &(u32, u32, Order)| {
        [(a, b), (b, a)].into_iter().any(|(donor, acceptor)| match step.before.element(donor) {
            F | CL | BR | I => gives_wrong_halogen(step, donor, acceptor),
            O => gives_no_oxygen(step, donor, acceptor, order),
            S => gives_no_sulfonyl(step, donor, acceptor),
            P => gives_no_phosphoryl(step, donor, acceptor),
            N => gives_no_nitro(step, donor, acceptor),
            C => gives_no_trifluoromethyl(step, donor) || is_joined_halide(step, donor, acceptor),
            _ => false,
        })
    };
    let is_oxidised = |sulfur: u32| is_oxidised_sulfinyl_halide(step, sulfur);
    if step.change.made.iter().any(is_wrong) || step.atoms().any(is_oxidised) {
        Err(Refusal::NoLeavingGroup)
    } else {
        Ok(())
    }
}

/// Returns true for a halogen that would have to become a cation or an anion that its molecule does not give.
fn gives_wrong_halogen(step: &Step<'_>, halogen: u32, acceptor: u32) -> bool {
    let it = &step.before;
    if it.element(acceptor) != C || step.are_in_same_molecule(halogen, acceptor) {
        return false;
    }
    let replaces_hydrogen = step.loses_only_hydrogen(acceptor) && !is_activated_by_oxide(step, acceptor);
    let adds_hydrogen_halide = || {
        step.reordered(acceptor).any(|(partner, was, now)| {
            was > now && it.element(partner) == C && step.hydrogens_gained(partner) > 0
        })
    };
    let Some(source) = it.next_to(halogen).next() else {
        return replaces_hydrogen && it.is_sp3(acceptor);
    };
    match it.element(source) {
        F | CL | BR | I => displaces(step, halogen, acceptor) || adds_hydrogen_halide(),
        C if replaces_hydrogen => !gives_positive_halogen(step, source),
        C => displaces_oxygen(step, acceptor) && !gives_negative_halogen(step, source),
        P => replaces_hydrogen,
        S if it.count(source, C) > 0 => replaces_hydrogen && it.is_aromatic(acceptor),
        S => replaces_hydrogen && it.oxo(source) == 1,
        _ => false,
    }
}

/// Returns true for a position that the oxide of a ring's nitrogen or of sulfur beside it activates.
fn is_activated_by_oxide(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_oxide = |atom: u32| it.at(atom).charge == 1 && it.element(atom) == N;
    it.next_to(carbon).any(|next| it.element(next) == S && it.oxo(next) == 1)
        || it.is_aromatic(carbon)
            && aromatic_positions(&it.structure, carbon).iter().any(|&(atom, _)| is_oxide(atom))
}

/// Returns true if an element's halogen takes the place of oxygen or halogen. With a phosphine it takes that of a hydroxyl
/// group, which iodine does in no other way.
fn displaces(step: &Step<'_>, halogen: u32, acceptor: u32) -> bool {
    let it = &step.before;
    let has_phosphine = || step.atoms().any(|atom| it.element(atom) == P);
    let mut lost = step.lost(acceptor).map(|(gone, _)| gone);
    lost.any(|gone| match it.element(gone) {
        O if it.is_sp3(acceptor) && it.hydrogens(gone) > 0 => it.element(halogen) != I && !has_phosphine(),
        O => true,
        // An aryl halide exchanges its halogen by way of the lithium reagent.
        F | CL | BR | I => it.is_sp3(acceptor),
        _ => false,
    })
}

fn displaces_oxygen(step: &Step<'_>, acceptor: u32) -> bool {
    step.lost(acceptor).any(|(gone, _)| step.before.element(gone) == O)
}

/// Returns true for a carbon with three halogens, with an acceptor, or beside another that bears halogen.
fn gives_positive_halogen(step: &Step<'_>, source: u32) -> bool {
    let it = &step.before;
    let halogens = |atom: u32| it.next_to(atom).filter(|&next| is_halogen(it.element(next))).count();
    it.is_sp3(source)
        && (halogens(source) > 2
            || it.is_alpha(source)
            || it.next_to(source).any(|next| it.is_sp3(next) && halogens(next) > 0))
}

/// Returns true for a carbon with three halogens, for oxalyl chloride and phosgene, and for a halide that nitrogen activates.
fn gives_negative_halogen(step: &Step<'_>, source: u32) -> bool {
    let it = &step.before;
    let halogens = it.next_to(source).filter(|&next| is_halogen(it.element(next))).count();
    let is_doubled = || it.next_to(source).any(|next| it.group(next) == Group::AcylHalide);
    halogens > 2
        || it.count(source, N) > 0
        || it.is_carbonyl(source) && (halogens > 1 || is_doubled() || it.count(source, O) > 1)
}

/// Returns true if water is to oxidise, or if a sulfoxide is to give its oxygen to an arene.
fn gives_no_oxygen(step: &Step<'_>, oxygen: u32, acceptor: u32, order: Order) -> bool {
    let it = &step.before;
    if it.group(oxygen) == Group::Water {
        let is_epoxide =
            || step.gained(oxygen).filter(|&(other, _)| it.group(other) == Group::Alkene).count() == 2;
        return match it.element(acceptor) {
            C => step.loses_only_hydrogen(acceptor) || is_epoxide(),
            S => order == Order::Double && step.lost(acceptor).next().is_none(),
            N => step.lost(acceptor).next().is_none(),
            _ => false,
        };
    }
    // An aldehyde that leaves its oxygen to another one has no part in the step.
    let is_spectator = |next: u32| it.group(next) == Group::Aldehyde && step.image(next).is_none();
    it.next_to(oxygen).any(|next| it.group(next) == Group::Sulfoxide) && it.is_aromatic(acceptor)
        || it.group(acceptor) == Group::Aldehyde && it.next_to(oxygen).any(is_spectator)
}

/// Returns true for a sulfonamide or sulfonanilide that is to pass on its sulfonyl group. Sulfonimides and sulfonylazoles do: the former to
/// nitrogen and to phenols and enols alone.
fn gives_no_sulfonyl(step: &Step<'_>, sulfur: u32, acceptor: u32) -> bool {
    let it = &step.before;
    if it.oxo(sulfur) != 2 || !matches!(it.element(acceptor), N | O) {
        return false;
    }
    step.lost(sulfur).filter(|&(gone, _)| it.element(gone) == N).any(|(nitrogen, _)| {
        let is_imide = it.group(nitrogen) == Group::ImideNitrogen;
        let is_alcohol = matches!(
            it.group(acceptor),
            Group::PrimaryAlcohol | Group::SecondaryAlcohol | Group::TertiaryAlcohol
        );
        let leaves = is_imide && !is_alcohol || it.is_aromatic(nitrogen) || it.at(nitrogen).charge > 0;
        !leaves
    })
}

/// Returns true for the sulfur of thionyl chloride or a sulfinyl chloride that would end with a second oxygen: it gives sulfites and sulfinates. The sulfites of diols are oxidised in the same flask (Gao and
/// Sharpless, J. Am. Chem. Soc. 1988, 110, 7538).
fn is_oxidised_sulfinyl_halide(step: &Step<'_>, sulfur: u32) -> bool {
    let it = &step.before;
    it.element(sulfur) == S
        && it.oxo(sulfur) == 1
        && step.lost(sulfur).any(|(gone, _)| is_halogen(it.element(gone)))
        && step.image(sulfur).is_some_and(|image| step.after.oxo(image) > 1 && !step.after.is_in_ring(image))
}

/// Returns true for a trialkyl phosphate that is to phosphorylate: it alkylates.
fn gives_no_phosphoryl(step: &Step<'_>, phosphorus: u32, acceptor: u32) -> bool {
    let it = &step.before;
    let is_alkoxy = |oxygen: u32| {
        it.element(oxygen) == O
            && it.carbons(oxygen) == 1
            && it.next_to(oxygen).all(|next| it.element(next) != C || it.is_sp3(next))
    };
    it.oxo(phosphorus) == 1
        && it.next_to(phosphorus).filter(|&next| is_alkoxy(next)).count() == 3
        && matches!(it.element(acceptor), N | O)
        && step.lost(phosphorus).any(|(gone, _)| is_alkoxy(gone))
}

/// Returns true for nitrite or a nitroalkane that is to nitrate a C–H of an arene.
fn gives_no_nitro(step: &Step<'_>, nitrogen: u32, acceptor: u32) -> bool {
    let it = &step.before;
    let is_nitrite =
        || it.count(nitrogen, O) == 2 && it.carbons(nitrogen) == 0 && it.at(nitrogen).charge == 0;
    let becomes_nitro = || step.image(nitrogen).is_some_and(|image| step.after.is_nitro(image));
    let is_nitroalkane = || it.is_nitro(nitrogen) && it.count(nitrogen, C) > 0;
    it.is_aromatic_carbon(acceptor)
        && step.loses_only_hydrogen(acceptor)
        && !step.is_cadogan_closure(nitrogen, acceptor)
        && (is_nitroalkane() || is_nitrite() && becomes_nitro())
}

/// Returns true for the trifluoromethyl group of a triflate, triflamide or triflimide. Sulfinates and sulfonyl chlorides lose sulfur
/// dioxide as radicals.
fn gives_no_trifluoromethyl(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_held = |sulfur: u32| {
        it.element(sulfur) == S
            && it.oxo(sulfur) == 2
            && it
                .next_to(sulfur)
                .any(|next| it.element(next) == N || it.element(next) == O && it.carbons(next) > 0)
    };
    it.is_trifluoromethyl(carbon) && step.lost(carbon).any(|(gone, _)| is_held(gone))
}

/// Returns true for a bond between two different sp2 carbons that both lose a halogen or triflate: one has to bear a metal first. Alkyl
/// halides form zinc reagents in place, and nickel couples them with aryl halides.
fn is_joined_halide(step: &Step<'_>, a: u32, b: u32) -> bool {
    let it = &step.before;
    let is_halide = |carbon: u32| {
        it.element(carbon) == C
            && !it.is_saturated(carbon)
            && !it.is_carbonyl(carbon)
            && !it.is_cyano(carbon)
            && step.lost(carbon).any(|(gone, _)| {
                is_heavy_halogen(it.element(gone)) || it.group(gone) == Group::SulfonateOxygen
            })
    };
    let size = |own: u32| step.atoms().filter(|&atom| step.are_in_same_molecule(atom, own)).count();
    let is_pair_of_one_kind = || step.are_equivalent(a, b) && size(a) == size(b);
    !step.are_in_same_molecule(a, b) && is_halide(a) && is_halide(b) && !is_pair_of_one_kind()
}
