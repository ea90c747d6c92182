//! Groups of a reaction mixture that take a halogen before a position of an arene does.

use crate::change::{Facts, Step};
use crate::group::{Group, aromatic_positions};
use crate::queries::*;
use crate::refusal::Refusal;

/// Source of a halogen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Bromine, iodine and other elements.
    Element,
    /// N-halosuccinimide and other reagents.
    Other,
}

/// Refuses halogenations of an arene beside a group that takes the halogen or is oxidised first.
pub fn halogen(step: &Step<'_>, carbon: u32, electrophile: Option<u32>) -> Result<(), Refusal> {
    let source = source(step, electrophile);
    let is_first =
        |atom: u32| is_benzocyclanone_of(&step.before, atom, carbon) || is_richer_pyrrole(step, atom, carbon);
    if step.atoms().any(is_first) {
        return Err(Refusal::Position);
    }
    if step.atoms().any(|atom| step.is_untouched(atom) && enolises_first(step, atom, carbon, source)) {
        return Err(Refusal::CompetingGroup);
    }
    let oxidised = step.atoms().any(|atom| {
        step.is_untouched(atom)
            && (is_oxidised_arene(step, atom, source) || is_oxidised_indole(&step.before, atom, carbon))
    });
    if oxidised {
        return Err(Refusal::Incompatible);
    }
    let is_iodine = step.gained(carbon).any(|(halogen, _)| step.before.element(halogen) == I);
    if !is_iodine && takes_more(&step.before, carbon, source) { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Returns true for a ring that does not stop at one bromine or chlorine: with two hydroxyl or amino groups that activate the same positions, or
/// with one amino group and the element (Clayden, Greeves and Warren, chapter 21: aniline gives 2,4,6-tribromoaniline). An acceptor on the ring
/// slows it down.
fn takes_more(before: &Facts, carbon: u32, source: Source) -> bool {
    let is_donor = |group: u32| {
        before.hydrogens(group) > 0
            && matches!(before.group(group), Group::Phenol | Group::Aniline | Group::SecondaryAniline)
    };
    let donors = |at: u32| -> Vec<u32> {
        let conjugated =
            aromatic_positions(&before.structure, at).into_iter().filter(|&(_, distance)| distance != 2);
        conjugated.flat_map(|(atom, _)| before.next_to(atom).filter(|&group| is_donor(group))).collect()
    };
    let own = donors(carbon);
    let is_free = |atom: u32, least: usize| {
        atom != carbon
            && before.is_aromatic_carbon(atom)
            && before.hydrogens(atom) > 0
            && donors(atom).len() >= least
    };
    let positions = aromatic_positions(&before.structure, carbon);
    let free = |least: usize| positions.iter().filter(|&&(atom, _)| is_free(atom, least)).count();
    let is_doubled = own.len() > 1 && free(2) > 0;
    let is_amine =
        own.len() == 1 && source == Source::Element && before.group(own[0]) == Group::Aniline && free(1) > 1;
    let ring_atom = || own.first().and_then(|&donor| before.next_to(donor).next());
    (is_doubled || is_amine) && ring_atom().is_some_and(|ring_atom| !has_acceptor(before, ring_atom))
}

/// Returns true if an acceptor is on the ring, at another of its atoms.
fn has_acceptor(before: &Facts, ring_atom: u32) -> bool {
    aromatic_positions(&before.structure, ring_atom).iter().any(|&(other, _)| {
        before.group(other) == Group::Azine
            || before.next_to(other).any(|group| {
                !before.is_aromatic(group) && (before.is_acceptor(group) || before.is_trifluoromethyl(group))
            })
    })
}

fn source(step: &Step<'_>, electrophile: Option<u32>) -> Source {
    let before = &step.before;
    let is_element = |atom: u32| before.next_to(atom).all(|next| is_halogen(before.element(next)));
    if electrophile.is_some_and(is_element) { Source::Element } else { Source::Other }
}

/// Returns true for a ketone or aldehyde that enolises, unless the position is one that reacts before the enol.
///
/// Such are positions that a hydroxyl or amino group activates, for N-halo reagents an alkoxy group too (Carreño and others, J. Org. Chem. 1995, 60, 5328), those of rings of five, and those of an aryl ketone
/// that an excess of aluminium chloride binds (Pearson, Pope and Hargrove, Org. Synth. 1960, 40, 7). Otherwise the α carbon reacts
/// (Clayden, chapter 20).
fn enolises_first(step: &Step<'_>, carbonyl: u32, carbon: u32, source: Source) -> bool {
    let before = &step.before;
    matches!(before.group(carbonyl), Group::Ketone | Group::Aldehyde)
        && !before.is_aromatic(carbonyl)
        && before.next_to(carbonyl).any(|alpha| before.is_sp3(alpha) && before.hydrogens(alpha) > 0)
        && match source {
            Source::Other => !is_activated(before, carbon),
            Source::Element if is_halogenated_first(before, carbon) => false,
            Source::Element => is_activated(before, carbon) || !is_aryl_ketone_of(before, carbonyl, carbon),
        }
}

/// Returns true for a position of a ring of five, or one that a hydroxyl or amino group activates, which bromine and chlorine take before an enol.
fn is_halogenated_first(before: &Facts, carbon: u32) -> bool {
    let is_strong_donor = |next: u32| before.group(next) == Group::Phenol || before.is_arylamine(next);
    before.ring(carbon) == 5
        || aromatic_positions(&before.structure, carbon).iter().any(|&(atom, distance)| {
            distance != 2 && (before.is_carbonyl(atom) || before.next_to(atom).any(is_strong_donor))
        })
}

/// Returns true for the ketone of an indanone or tetralone on the ring of this carbon, if no donor is beside or across: it enolises, and aluminium chloride gives
/// the two isomers meta to it (Cornelius and Combs, Synth. Commun. 1994, 24, 2777).
fn is_benzocyclanone_of(before: &Facts, carbonyl: u32, carbon: u32) -> bool {
    before.group(carbonyl) == Group::Ketone
        && before.is_in_ring(carbonyl)
        && before.next_to(carbonyl).any(|alpha| before.is_sp3(alpha))
        && is_aryl_ketone_of(before, carbonyl, carbon)
        && !is_activated(before, carbon)
}

/// Returns true if the carbonyl group is on the ring of this carbon, two bonds from it.
fn is_aryl_ketone_of(before: &Facts, carbonyl: u32, carbon: u32) -> bool {
    aromatic_positions(&before.structure, carbon)
        .iter()
        .any(|&(atom, distance)| distance == 2 && before.bond(atom, carbonyl).is_some())
}

/// Returns true if a donor is ortho or para to the position, or if it is part of a ring of five. The carbonyl group and the
/// saturated nitrogen of a pyridone are donors.
pub fn is_activated(before: &Facts, carbon: u32) -> bool {
    let is_donor = |atom: u32| {
        matches!(
            before.group(atom),
            Group::Phenol
                | Group::ArylEther
                | Group::Acetal
                | Group::Aniline
                | Group::SecondaryAniline
                | Group::TertiaryAniline
                | Group::PoorAniline
                | Group::Diarylamine
                | Group::AmideNitrogen
                | Group::CarbamateNitrogen
                | Group::UreaNitrogen
                | Group::Hydrazine
                | Group::Sulfide
        )
    };
    let is_pyridone = |atom: u32| before.is_carbonyl(atom);
    before.ring(carbon) == 5
        || aromatic_positions(&before.structure, carbon).iter().any(|&(atom, distance)| {
            distance != 2 && (is_pyridone(atom) || before.next_to(atom).any(is_donor))
        })
}

/// Returns true for an amino group ortho or para to another on a benzene ring without acceptors, which is oxidised to
/// the quinone imine; N-halo reagents oxidise catechols and hydroquinones as well (March, reactions 19-4 and 19-5).
fn is_oxidised_arene(step: &Step<'_>, atom: u32, source: Source) -> bool {
    let before = &step.before;
    let is_oxidised = |atom: u32| match before.group(atom) {
        Group::Aniline | Group::SecondaryAniline => true,
        Group::Phenol => source == Source::Other && before.hydrogens(atom) > 0,
        _ => false,
    };
    if !is_oxidised(atom) {
        return false;
    }
    let Some(ring_atom) = before.next_to(atom).find(|&next| before.is_aromatic(next)) else { return false };
    let positions = aromatic_positions(&before.structure, ring_atom);
    !has_acceptor(before, ring_atom)
        && positions.iter().any(|&(other, distance)| {
            distance != 2 && before.next_to(other).any(|group| is_oxidised(group) && step.is_untouched(group))
        })
}

/// Returns true for C3 of an indole or pyrrole with alkyl groups on C2 and C3, and no acyl group on nitrogen. The halogen adds
/// there, and the halogenoindolenine loses HX to a benzylic cation (Hinman and Bauman, J. Org. Chem. 1964, 29, 2431).
fn is_oxidised_indole(before: &Facts, atom: u32, carbon: u32) -> bool {
    let has_alkyl = |atom: u32| {
        before
            .next_to(atom)
            .any(|next| before.is_sp3(next) && before.hydrogens(next) > 0 && !before.is_acceptor(next))
    };
    let is_free_amine = |atom: u32| {
        before.element(atom) == N
            && before.is_aromatic(atom)
            && (before.hydrogens(atom) > 0 || before.next_to(atom).any(|next| before.is_sp3(next)))
    };
    let in_five = |atom: u32| before.is_aromatic_carbon(atom) && before.ring(atom) == 5;
    let is_fused =
        |atom: u32| before.around(atom).iter().filter(|bond| before.is_aromatic(bond.to)).count() > 2;
    in_five(atom)
        && before.ring(carbon) == 6
        && has_alkyl(atom)
        && before
            .next_to(atom)
            .any(|next| in_five(next) && is_fused(next) && !before.next_to(next).any(is_free_amine))
        && before.next_to(atom).any(|alpha| {
            in_five(alpha)
                && before.hydrogens(alpha) == 0
                && !before.next_to(alpha).any(|group| before.is_acceptor(group))
                && before.next_to(alpha).any(is_free_amine)
        })
}

/// Returns true for a free position of a pyrrole that shares its system with the lactam ring of `carbon`, an enamide, which is slower (Joule and Mills 2010, chapters 16
/// and 20).
fn is_richer_pyrrole(step: &Step<'_>, atom: u32, carbon: u32) -> bool {
    let it = &step.before;
    let in_lactam = || aromatic_positions(&it.structure, carbon).iter().any(|&(far, _)| it.is_carbonyl(far));
    let is_poor = || aromatic_positions(&it.structure, atom).iter().any(|&(far, _)| it.bears_acceptor(far));
    it.ring(carbon) == 6
        && it.is_aromatic_carbon(atom)
        && it.ring(atom) == 5
        && it.hydrogens(atom) > 0
        && step.is_untouched(atom)
        && it.azole_nitrogens(atom).count() == 1
        && it.shares_arene(atom, carbon)
        && in_lactam()
        && !is_poor()
}
