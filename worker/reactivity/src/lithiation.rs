//! Lithiation of arenes: the aromatic proton that a strong base takes.
//!
//! Sources: Gschwend and Rodriguez, Org. React. 1979, 26, 1 (directing groups, five-membered rings); Mongin and Quéguiner, Tetrahedron
//! 2001, 57, 4059 (azines); Jones and Sliskovic, Adv. Heterocycl. Chem. 1983, 34, 79 (azoles fused to pyridine).

use crate::base_labile::is_ester_of_alcohol;
use crate::change::{Facts, Step};
use crate::group::{Group, aromatic_positions};
use crate::queries::*;

/// Returns true if a strong base takes this aromatic proton, and no other in the reaction mixture first.
pub fn is_lithiated(step: &Step<'_>, carbon: u32) -> bool {
    let before = &step.before;
    // Beside the heteroatom of a five-membered ring that gives two electrons, whose proton is the more acidic one.
    let gives = |atom: u32| {
        matches!(before.element(atom), O | S) || before.element(atom) == N && before.degree(atom) == 3
    };
    let alpha =
        before.next_to(carbon).any(|next| before.is_aromatic(next) && before.ring(next) == 5 && gives(next));
    if step.atoms().any(|atom| {
        let is_first = is_acid(before, atom)
            || is_beside_sulfonyl(before, atom)
            || !alpha && is_picolyl(before, atom)
            || is_attacked(before, atom);
        step.is_untouched(atom) && is_first
    }) {
        return false;
    }
    if step.atoms().any(|atom| is_of_anthracene(before, atom) && before.shares_arene(atom, carbon)) {
        return false;
    }
    // Beside the bridgehead nitrogen of an azole fused to pyridine with N–N, as C5 of [1,2,4]triazolo[1,5-a]pyridine.
    let bridgehead = |atom: u32| before.next_to(atom).any(|next| is_bridgehead(before, next));
    let is_six = |atom: u32| before.ring(atom) == 6;
    let first = step.atoms().find(|&atom| {
        before.is_aromatic_carbon(atom) && before.hydrogens(atom) > 0 && is_six(atom) && bridgehead(atom)
    });
    if let Some(first) = first.filter(|&first| step.are_in_same_molecule(first, carbon)) {
        return step.are_equivalent(first, carbon);
    }
    let is_first = |atom: u32| step.is_untouched(atom) && is_between_heteroatoms(before, atom);
    if !is_between_heteroatoms(before, carbon) && step.atoms().any(is_first) {
        return false;
    }
    let is_rival = |atom: u32| step.is_untouched(atom) && is_between_directors(before, atom);
    if !alpha && !is_between_directors(before, carbon) && step.atoms().any(is_rival) {
        return false;
    }
    if !alpha && needs_butyllithium(before, carbon) && step.atoms().any(|atom| is_exchanged(step, atom)) {
        return false;
    }
    alpha
        || before
            .next_to(carbon)
            .any(|next| directs(step, next, carbon) && !has_freer_side(step, next, carbon))
}

/// Returns true for the C–H between two fused rings of an anthracene or acridine, which butyllithium adds to (Gschwend and Rodriguez 1979).
fn is_of_anthracene(before: &Facts, carbon: u32) -> bool {
    before.is_aromatic_carbon(carbon)
        && before.hydrogens(carbon) > 0
        && before.ring(carbon) == 6
        && before
            .next_to(carbon)
            .all(|next| before.is_shared_by_aromatic_rings(next) && before.ring(next) == 6)
}

/// Returns true for a C–H of a ring of six between two directing groups, one of them a halogen or both ethers, the first to be lithiated (Gschwend and Rodriguez 1979; Schlosser 2005).
fn is_between_directors(before: &Facts, carbon: u32) -> bool {
    let has = |atom: u32, wanted: &dyn Fn(u8) -> bool| {
        before.next_to(atom).any(|group| !before.is_aromatic(group) && wanted(before.element(group)))
    };
    let directors = || {
        before.next_to(carbon).filter(|&atom| before.is_aromatic_carbon(atom) && is_directing(before, atom))
    };
    before.is_aromatic_carbon(carbon)
        && before.hydrogens(carbon) > 0
        && before.ring(carbon) == 6
        && directors().count() == 2
        && (directors().any(|atom| has(atom, &is_halogen))
            || directors().all(|atom| has(atom, &|it| it == O)))
}

/// Returns true for an aromatic carbon that ethers alone direct a base to, which has to be butyllithium.
fn needs_butyllithium(before: &Facts, carbon: u32) -> bool {
    let is_ether = |atom: u32| {
        before.next_to(atom).any(|group| before.element(group) == O && !before.is_aromatic(group))
    };
    before.ring(carbon) == 6
        && before.next_to(carbon).filter(|&atom| is_directing(before, atom)).all(is_ether)
}

/// Returns true for the bromide or iodide of an arene that stays, which butyllithium exchanges before it takes a proton (Schlosser 2005).
fn is_exchanged(step: &Step<'_>, halogen: u32) -> bool {
    let before = &step.before;
    matches!(before.element(halogen), BR | I)
        && step.is_untouched(halogen)
        && before.next_to(halogen).any(|ipso| before.is_aromatic_carbon(ipso))
}

/// Returns true for a carbon whose group directs the base to `carbon` beside it. A trifluoromethyl group is large and the weakest director: a
/// halogen with a free side wins (Schlosser, Angew. Chem. Int. Ed. 2005, 44, 376).
fn directs(step: &Step<'_>, directing: u32, carbon: u32) -> bool {
    let before = &step.before;
    let is_free = |atom: u32| before.is_aromatic_carbon(atom) && before.hydrogens(atom) > 0;
    let is_better = |atom: u32| {
        before.next_to(atom).any(|group| matches!(before.element(group), F | CL | BR))
            && before.next_to(atom).any(|next| is_free(next) && !step.are_equivalent(next, carbon))
    };
    let is_weakest = before.next_to(directing).any(|group| before.is_trifluoromethyl(group));
    is_directing(before, directing)
        && !is_lone_bromide(before, directing)
        && !(is_weakest
            && aromatic_positions(&before.structure, directing).iter().any(|&(atom, _)| is_better(atom)))
}

/// Returns true for a carbon with bromine in a carbocycle without another group that withdraws electrons: butyllithium exchanges it, and amides are too weak for the proton beside
/// it (Schlosser, Angew. Chem. Int. Ed. 2005, 44, 376).
fn is_lone_bromide(before: &Facts, directing: u32) -> bool {
    before.count(directing, BR) > 0
        && before.ring(directing) == 6
        && aromatic_positions(&before.structure, directing).iter().all(|&(atom, _)| {
            before.element(atom) == C && !before.next_to(atom).any(|next| before.is_withdrawing(next))
        })
}

/// Returns true for a proton that a strong base takes before an aromatic one.
fn is_acid(before: &Facts, atom: u32) -> bool {
    before.hydrogens(atom) > 0
        && (matches!(before.element(atom), O | S)
            || matches!(
                before.group(atom),
                Group::PrimaryAmine
                    | Group::SecondaryAmine
                    | Group::Aniline
                    | Group::SecondaryAniline
                    | Group::Azole
                    | Group::Indole
                    | Group::Amidine
                    | Group::Hydrazine
            ))
}

/// Returns true for an alkyl carbon with hydrogen on C2 or C4 of an azine, which gives up its proton before the ring does (Fraser, Mansour and
/// Savard, J. Org. Chem. 1985, 50, 3232).
fn is_picolyl(before: &Facts, atom: u32) -> bool {
    let is_ring = |next: u32| before.is_aromatic_carbon(next) && before.has_conjugated_azine(next);
    before.is_sp3(atom)
        && before.element(atom) == C
        && before.hydrogens(atom) > 0
        && before.next_to(atom).all(|next| before.element(next) == C)
        && before.next_to(atom).any(is_ring)
}

/// Returns true for an alkyl carbon with hydrogen on the sulfur of a sulfone or sulfonamide, a stronger acid than an arene (Gschwend and Rodriguez 1979).
fn is_beside_sulfonyl(before: &Facts, atom: u32) -> bool {
    before.is_sp3(atom)
        && before.hydrogens(atom) > 0
        && before.next_to(atom).any(|next| before.element(next) == S && before.oxo(next) == 2)
}

/// Returns true for the C–H between the heteroatoms of an azole with a substituent or sulfur or oxygen there, the most acidic of its rings (Gschwend and Rodriguez 1979;
/// Grimmett, "Imidazole and Benzimidazole Synthesis", 1997).
fn is_between_heteroatoms(before: &Facts, atom: u32) -> bool {
    let is_hetero = |next: u32| before.is_aromatic(next) && matches!(before.element(next), N | O | S);
    before.is_aromatic_carbon(atom)
        && before.hydrogens(atom) > 0
        && before.ring(atom) == 5
        && before.next_to(atom).filter(|&next| is_hetero(next)).count() == 2
}

/// Returns true for the carbonyl carbon of an aromatic lactone: an oxadiazolone, a coumarin, which organolithiums open.
fn is_ring_lactone(before: &Facts, atom: u32) -> bool {
    let is_ring_oxygen = |next: u32| before.element(next) == O && before.is_aromatic(next);
    before.is_aromatic(atom) && before.is_carbonyl(atom) && before.next_to(atom).any(is_ring_oxygen)
}

/// Returns true for an electrophile that an organolithium attacks.
fn is_attacked(before: &Facts, atom: u32) -> bool {
    if is_ring_lactone(before, atom) {
        return true;
    }
    match before.group(atom) {
        Group::Aldehyde
        | Group::Ketone
        | Group::AcylHalide
        | Group::Nitro
        | Group::Anhydride
        | Group::Azide => true,
        Group::Ester => is_ester_of_alcohol(before, atom, 1),
        // Trifluoroacetamides.
        Group::Amide => before.next_to(atom).any(|next| before.is_trifluoromethyl(next)),
        Group::Alkyl => before.is_alkyl_halide(atom) && before.hydrogens(atom) > 0,
        _ => false,
    }
}

/// Returns true for the nitrogen that an azole and a pyridine ring share, with another nitrogen beside it.
fn is_bridgehead(before: &Facts, atom: u32) -> bool {
    before.element(atom) == N
        && before.is_aromatic(atom)
        && before.degree(atom) == 3
        && before.around(atom).iter().all(|bond| bond.ring > 0 && before.is_aromatic(bond.to))
        && before.count(atom, N) > 0
}

/// Returns true for an aromatic carbon whose group directs the base to the next carbon.
fn is_directing(before: &Facts, atom: u32) -> bool {
    before.is_aromatic(atom)
        && before.next_to(atom).any(|group| match before.element(group) {
            _ if before.is_aromatic(group) => false,
            F | CL | BR => true,
            O => matches!(before.group(group), Group::ArylEther | Group::Acetal | Group::EsterOxygen),
            N => matches!(before.group(group), Group::CarbamateNitrogen | Group::AmideNitrogen),
            C => before.is_trifluoromethyl(group) || matches!(before.group(group), Group::Amide),
            S => before.oxo(group) == 2,
            _ => false,
        })
}

/// Returns true for a carbon beside the nitrogen of an azine, if the other one beside its directing halogen is free:
/// 3-halopyridines are lithiated at C4, away from the lone pair.
fn has_freer_side(step: &Step<'_>, directing: u32, carbon: u32) -> bool {
    let before = &step.before;
    let beside_nitrogen = |atom: u32| before.next_to(atom).any(|next| before.group(next) == Group::Azine);
    beside_nitrogen(carbon)
        && before.next_to(directing).any(|group| is_halogen(before.element(group)))
        && aromatic_positions(&before.structure, directing).iter().any(|&(other, distance)| {
            distance == 1
                && other != carbon
                && before.is_aromatic_carbon(other)
                && before.hydrogens(other) > 0
                && !beside_nitrogen(other)
        })
}
