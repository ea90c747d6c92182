//! Grignard and lithium reagents that a step makes from a halide and uses at once.
//!
//! Three questions decide: is there an O–H or N–H that quenches the reagent, is there a halide that the metal takes first, and does the
//! halide's own molecule bear the metal?
//! Sources: Smith, "March's Advanced Organic Chemistry", for the acids; Knochel and others, Angew. Chem. Int. Ed. 2003, 42, 4302, and
//! Schröter, Stock and Bach, Tetrahedron 2005, 61, 2245, for the order of exchange: iodine, bromine, and among bromides of one ring the
//! carbon between two heteroatoms, then that beside sulfur, oxygen or a substituted nitrogen; Sapountzis and Knochel, Angew. Chem. Int.
//! Ed. 2002, 41, 1610, for nitroaryl Grignard reagents, which only iodides give; March also for dihalides, which close to rings or react at
//! both ends.

use crate::base_labile::closes_to_lactone;
use crate::change::{Facts, Step};
use crate::group::Group;
use crate::halide_order::azole_position;
use crate::queries::*;
use crate::reagent::TIE_MARGIN;
use crate::refusal::Refusal;

type Verdict = Result<(), Refusal>;

/// Checks the halides of a step that become Grignard or lithium reagents.
///
/// # Errors
/// Fails with [`Refusal::Incompatible`] beside an acid or a nitro group, with [`Refusal::CompetingGroup`] beside a better halide, and
/// with [`Refusal::SelfReacting`] for an alkyl dihalide.
pub fn check(step: &Step<'_>) -> Verdict {
    for (carbon, other) in step.joined() {
        if is_made_metal(step, carbon) && is_acryloyl_halide(&step.before, other) {
            return Err(Refusal::CompetingGroup);
        }
        let loses_halogen = || step.lost(carbon).any(|(gone, _)| is_heavy_halogen(step.before.element(gone)));
        if takes_metal(step, other) && closes_to_lactone(step, other) && loses_halogen() {
            return Err(Refusal::SelfReacting);
        }
        if is_made_metal(step, carbon) && takes_metal(step, other) {
            refuse_acids(step, carbon)?;
            refuse_better_halide(step, carbon)?;
            refuse_own_groups(step, carbon)?;
            if leaves_half_of_glyoxal(step, other)
                || is_beside_ketone(step, other)
                || is_enolised_dione(step, other)
            {
                return Err(Refusal::CompetingGroup);
            }
        }
    }
    Ok(())
}

/// Returns true for the acyl carbon of an α,β-unsaturated acyl halide: the enone that forms takes the metal at either end (March, chapter 10). Weinreb amides stop.
fn is_acryloyl_halide(it: &Facts, acyl: u32) -> bool {
    it.group(acyl) == Group::AcylHalide && it.next_to(acyl).any(|alpha| it.group(alpha) == Group::Alkene)
}

/// Returns true for the aldehyde of glyoxal or methylglyoxal whose other carbonyl group stays: their hydrates and polymers take a metal at both (March, chapter 16).
pub fn leaves_half_of_glyoxal(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_other = |other: u32| {
        matches!(it.group(other), Group::Aldehyde | Group::Ketone)
            && it.carbons(other) < 3
            && it.aryls(other) == 0
            && step.is_untouched(other)
    };
    it.group(carbon) == Group::Aldehyde && it.next_to(carbon).any(is_other)
}

/// Returns true for the carbon of an aryl, vinyl or plain alkyl halide that loses its halogen. Allyl and α-halo carbonyl compounds react
/// with zinc or indium in water.
fn is_made_metal(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    step.lost(carbon).any(|(gone, _)| is_heavy_halogen(it.element(gone)))
        && (it.is_aromatic_carbon(carbon)
            || it.group(carbon) == Group::Alkene
            || it.is_sp3(carbon) && !it.is_benzylic_or_allylic(carbon) && !it.is_alpha(carbon))
}

/// Returns true for an electrophile that takes the carbon of such a reagent.
fn takes_metal(step: &Step<'_>, atom: u32) -> bool {
    let it = &step.before;
    let is_reduced = || step.reordered(atom).any(|(_, was, now)| was > now);
    // With the loss of water, or of ammonia in the work-up.
    let loses_hetero_atom = || step.lost(atom).any(|(gone, _)| matches!(it.element(gone), N | O));
    let is_opened = || step.lost(atom).any(|(gone, _)| it.element(gone) == O && it.ring(gone) == 3);
    match it.group(atom) {
        Group::Aldehyde | Group::Ketone | Group::Nitrile => is_reduced() || loses_hetero_atom(),
        Group::CarbonDioxide | Group::Weinreb | Group::Ester => true,
        Group::Amide => it.hydrogens(atom) > 0,
        Group::Alkyl => is_opened(),
        _ => it.element(atom) == B && it.count(atom, O) == 3,
    }
}

/// Refuses free O–H and N–H and terminal alkynes. Aryl halides bear the N–H of amides and indoles, and of an azole in their own rings, which a hydride or a second
/// portion of butyllithium deprotonates (Moyer, Shiurba and Rapoport, J. Org. Chem. 1986, 51, 5106; Hahn and others, J. Heterocycl. Chem. 1991, 28, 1189).
fn refuse_acids(step: &Step<'_>, carbon: u32) -> Verdict {
    let it = &step.before;
    let is_acid = |atom: u32| {
        it.hydrogens(atom) > 0
            && step.is_untouched(atom)
            && match it.group(atom) {
                Group::AmideNitrogen
                | Group::CarbamateNitrogen
                | Group::UreaNitrogen
                | Group::SulfonamideNitrogen
                | Group::Indole => it.is_sp3(carbon),
                Group::Azole => !it.shares_arene(atom, carbon),
                Group::TerminalAlkyne => true,
                _ => matches!(it.element(atom), N | O | S),
            }
    };
    // One N–H takes a second portion of base; with two, the trianion holds the halide.
    let is_amide = |&atom: &u32| {
        it.element(atom) == N
            && it.hydrogens(atom) > 0
            && step.is_untouched(atom)
            && step.are_in_same_molecule(atom, carbon)
    };
    // Azides add the metal; nitro groups bear the reagents of aryl iodides alone.
    let is_iodide = step.lost(carbon).any(|(gone, _)| it.element(gone) == I);
    let is_oxidant = |atom: u32| match it.group(atom) {
        Group::Azide => true,
        Group::Nitro => !is_iodide || !it.is_aromatic(carbon),
        _ => false,
    };
    let is_refused = step.atoms().any(|atom| is_acid(atom) || step.is_untouched(atom) && is_oxidant(atom))
        || step.atoms().filter(is_amide).nth(1).is_some();
    if is_refused { Err(Refusal::Incompatible) } else { Ok(()) }
}

/// Refuses an aryl halide beside a heavier one, or beside the same halogen at a better position of its ring.
fn refuse_better_halide(step: &Step<'_>, carbon: u32) -> Verdict {
    let it = &step.before;
    let own = exchange(it, carbon);
    let is_better = |atom: u32| {
        step.is_untouched(atom) && !step.are_equivalent(atom, carbon) && exchange(it, atom) > own + TIE_MARGIN
    };
    if own > 0 && step.atoms().any(is_better) { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Refuses a halide whose molecule has a second alkyl halide, a nitro group, a ketone, an aldehyde, an imide or a thioamide, and an alkyl halide whose molecule has
/// an ester, amide or nitrile, which alkyl Grignard reagents do not spare as those of aryl iodides in the cold do.
fn refuse_own_groups(step: &Step<'_>, carbon: u32) -> Verdict {
    let it = &step.before;
    let has_halogen =
        |atom: u32, wanted: fn(u8) -> bool| it.next_to(atom).any(|next| wanted(it.element(next)));
    let own = || step.atoms().filter(|&atom| step.are_in_same_molecule(atom, carbon));
    let is_second = |atom: u32| atom != carbon && it.is_alkyl_halide(atom);
    if it.is_sp3(carbon) && own().any(is_second) {
        return Err(Refusal::SelfReacting);
    }
    let is_attacked = |atom: u32| {
        step.is_untouched(atom)
            && match it.group(atom) {
                Group::Ketone
                | Group::Aldehyde
                | Group::Imide
                | Group::AcylHalide
                | Group::ThiocarbonylSulfur => true,
                Group::Ester | Group::Nitrile | Group::Anhydride | Group::Amide => it.is_sp3(carbon),
                _ => false,
            }
    };
    // A vinyl metal with a halide on the next carbon is an allene at once.
    let is_allylic_halide = |next: u32| it.is_sp3(next) && it.is_alkyl_halide(next);
    let becomes_allene = it.group(carbon) == Group::Alkene && it.next_to(carbon).any(is_allylic_halide);
    if becomes_allene || own().any(is_attacked) {
        return Err(Refusal::SelfReacting);
    }
    let is_iodide = has_halogen(carbon, |element| element == I);
    let has_nitro = || own().any(|atom| it.group(atom) == Group::Nitro);
    if !is_iodide && has_nitro() { Err(Refusal::Incompatible) } else { Ok(()) }
}

/// Rank of an aryl halide in exchange; 0 for none. Positions of rings of six are left to the solvent and the base: 2,5-dibromopyridine
/// exchanges at either (Wang and others, Tetrahedron Lett. 2000, 41, 4335).
fn exchange(it: &Facts, carbon: u32) -> i32 {
    let halogen = it.next_to(carbon).map(|next| it.element(next)).find(|&element| is_heavy_halogen(element));
    let Some(halogen) = halogen.filter(|_| it.is_aromatic_carbon(carbon)) else { return 0 };
    let base = match halogen {
        I => 150,
        BR => 110,
        _ => 44,
    };
    base + if it.ring(carbon) == 5 { azole_position(it, carbon) } else { 0 }
}

/// Returns true for a carbonyl group of a ring whose neighbour is another that stays: such diones are enols, which take the metal's place on carbon (Clayden, Greeves and
/// Warren, chapter 20).
fn is_enolised_dione(step: &Step<'_>, ketone: u32) -> bool {
    let it = &step.before;
    let is_enolisable =
        |ketone: u32| it.next_to(ketone).any(|alpha| it.is_sp3(alpha) && it.hydrogens(alpha) > 0);
    it.group(ketone) == Group::Ketone
        && it.is_in_ring(ketone)
        && it.next_to(ketone).any(|next| {
            it.group(next) == Group::Ketone
                && it.is_in_ring(next)
                && step.is_untouched(next)
                && (is_enolisable(ketone) || is_enolisable(next))
        })
}

/// Returns true for an ester whose neighbour is a ketone or aldehyde that stays, which takes the metal first (Clayden, Greeves and Warren, chapter 9).
fn is_beside_ketone(step: &Step<'_>, ester: u32) -> bool {
    let it = &step.before;
    it.group(ester) == Group::Ester
        && it
            .next_to(ester)
            .any(|next| matches!(it.group(next), Group::Ketone | Group::Aldehyde) && step.is_untouched(next))
}
