//! Score of an aromatic carbon for electrophiles: whether a ring takes one at all.
//!
//! The score is the sum of the effects of the ring and its substituents, by their distance. Scores are in the order of
//! partial rate factors (Stock and Brown, Adv. Phys. Org. Chem. 1963; Taylor, "Electrophilic Aromatic Substitution",
//! 1990) and of the positional selectivity of heteroarenes (Joule and Mills, "Heterocyclic Chemistry").

use chem::Order;

use crate::change::Facts;
use crate::group::{Group, aromatic_positions};
use crate::queries::*;

/// Score for electrophilic substitution of hydrogen on an aromatic carbon; benzene is 0.
pub fn score(facts: &Facts, carbon: u32) -> i32 {
    let five = facts.around(carbon).iter().any(|bond| bond.ring == 5 && bond.order == Order::Aromatic);
    let mut score = 0;
    let mut crowded = 0;
    let (mut best, mut worst) = (0, 0);
    for (atom, distance) in aromatic_positions(&facts.structure, carbon) {
        if five && distance > 2 && facts.ring(atom) != 5 {
            continue;
        }
        score += ring_atom(facts, carbon, atom, distance, five);
        for next in facts.next_to(atom).filter(|&next| !is_ring_bond(facts, atom, next)) {
            let effect = substituent(facts, atom, next, distance, five);
            (best, worst) = (best.max(effect), worst.min(effect));
            score += effect;
            crowded += i32::from(distance == 1);
        }
        crowded +=
            i32::from(distance == 1 && facts.degree(atom) == 3 && facts.hydrogens(atom) == 0 && !five) / 2;
    }
    // A carbonyl group withdraws less from a position to which an alkoxy group also donates.
    let eased = if best >= 26 && (-30..=-28).contains(&worst) { 9 } else { 0 };
    score + eased - [0, 3, 16][crowded.clamp(0, 2) as usize]
}

fn is_ring_bond(facts: &Facts, a: u32, b: u32) -> bool {
    facts.bond(a, b).is_some_and(|bond| bond.order == Order::Aromatic)
}

/// Effect of an atom of the ring system on a position.
fn ring_atom(facts: &Facts, carbon: u32, atom: u32, distance: u32, five: bool) -> i32 {
    let charge = facts.at(atom).charge;
    let lone_pair = facts.element(atom) == N && (facts.hydrogens(atom) > 0 || facts.degree(atom) == 3);
    let in_five = facts.ring(atom) == 5;
    match facts.element(atom) {
        C => 0,
        _ if charge > 0 => -45,
        N if lone_pair && in_five && five => {
            // Pyrrole reacts next to nitrogen, indole at C3.
            let fused = facts
                .next_to(carbon)
                .any(|next| facts.degree(next) == 3 && facts.is_shared_by_aromatic_rings(next))
                || facts.next_to(atom).any(|next| facts.is_shared_by_aromatic_rings(next));
            let azole = is_azole(facts, atom);
            match (distance, fused) {
                (1, _) if azole => 34,
                (1, true) => 36,
                (_, true) => 50,
                (1, false) => 54,
                _ => 44,
            }
        }
        N if lone_pair && in_five => [0, 14, 4, 12][distance as usize],
        N if lone_pair => [0, 4, 10, 4][distance as usize],
        N if five => [0, -30, -14, -14][distance as usize],
        N => [0, -44, -34, -42][distance as usize],
        O if five => [0, 42, 24, 0][distance as usize],
        S if five => [0, 32, 18, 0][distance as usize],
        O | S => [0, 8, 2, 6][distance as usize],
        _ => 0,
    }
}

/// Returns true if a five-membered ring has another nitrogen.
fn is_azole(facts: &Facts, nitrogen: u32) -> bool {
    facts.distances(nitrogen, 2).into_iter().any(|(atom, distance)| {
        distance > 0 && facts.element(atom) == N && facts.is_aromatic(atom) && facts.ring(atom) == 5
    })
}

/// Effect of a ring atom's substituent on a position at a distance from that atom.
fn substituent(facts: &Facts, atom: u32, next: u32, distance: u32, five: bool) -> i32 {
    let double = facts.bond(atom, next).is_some_and(|bond| bond.order == Order::Double);
    // In five-membered rings the 2-position is conjugated with the 3- and 5-positions.
    let conjugated = if five { distance == 1 || distance == 3 } else { distance != 2 };
    let pick = |near: i32, far: i32| if conjugated { near } else { far };
    let para = i32::from(distance == 3) * 2;
    match facts.element(next) {
        O if double => pick(20, -4),
        _ if facts.is_nitro(next) => pick(-44, -32),
        N => match facts.group(next) {
            Group::AmideNitrogen | Group::CarbamateNitrogen | Group::UreaNitrogen => pick(17, -1),
            Group::SulfonamideNitrogen | Group::ImideNitrogen => pick(9, -3),
            Group::Azine | Group::Azole | Group::OtherNitrogen => pick(-2, -6),
            _ if facts.at(next).charge > 0 => pick(-45, -34),
            _ if facts.is_saturated(next) => pick(34 + para, 2),
            _ => pick(4, -6),
        },
        O => match facts.group(next) {
            Group::EsterOxygen | Group::SulfonateOxygen => pick(8, -4),
            _ => pick(26 + para, -2),
        },
        S if facts.oxo(next) > 0 => pick(-34, -24),
        S => pick(14, -2),
        F | CL | BR | I => pick(-3, -13),
        C if facts.is_aromatic(next) => pick(8, -2),
        C if facts.is_trifluoromethyl(next) => pick(-29, -16),
        C if facts.is_cyano(next) => pick(-34, -24),
        C if facts.is_carbonyl(next) => pick(-28 - para, -18),
        C if facts.is_saturated(next) => {
            let draw = |far: u32| match facts.element(far) {
                F | CL | BR | O | N => 1,
                _ if facts.is_trifluoromethyl(far) || facts.element(far) == S && facts.oxo(far) == 2 => 2,
                _ => i32::from(facts.is_cyano(far)),
            };
            let drawn: i32 = facts.next_to(next).map(draw).sum();
            pick(11 - 3 * drawn, 1 - drawn)
        }
        C => pick(2, 0),
        SI | SN | B => pick(4, 0),
        _ => 0,
    }
}
