//! Aromaticity perception.
//!
//! A port of `MolOps::setAromaticity` with RDKit's own model (`Aromaticity.cpp`). The order in which combinations of
//! fused rings are tried makes no difference, so rings are masks and their order is not kept.

use super::elements::{draws_more, outer_electrons};
use super::graph::{Atom, BondKind, Graph, bit, members};
use super::rings::Rings;
use super::systems::Ring;
use super::valence::valences;

/// Maximum size of a ring that is combined with fused rings (`maxFusedAromaticRingSize`).
const MAX_FUSED_SIZE: u32 = 24;
/// Maximum number of rings that are tried as one aromatic system.
const MAX_FUSED_RINGS: usize = 6;

/// An atom's contribution to a ring's pi electrons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Donor {
    Nothing,
    Vacant,
    One,
    Two,
}

/// Atoms by the number of electrons that they contribute.
#[derive(Debug, Clone, Copy, Default)]
struct Donors {
    one: u128,
    two: u128,
}

/// Marks aromatic atoms and bonds; `None` if the result would have an aromatic triple bond.
pub(super) fn perceive(graph: &mut Graph, rings: &Rings) -> Option<()> {
    let (mut seen, mut candidates) = (0_u128, 0_u128);
    let mut donors = Donors::default();
    let mut aromatic: Option<(usize, [Ring; 16])> = None;
    for ring in &rings.all {
        for at in members(ring.atoms & !seen) {
            let mut donor = donor(graph, rings, at)?;
            if ring.size() >= 9 && donor == Donor::Two && is_bridge(graph, at) {
                donor = Donor::Nothing;
            }
            match donor {
                Donor::One => donors.one |= bit(at),
                Donor::Two => donors.two |= bit(at),
                Donor::Nothing | Donor::Vacant => {}
            }
            if donor != Donor::Nothing && is_candidate(graph, at)? {
                candidates |= bit(at);
            }
        }
        seen |= ring.atoms;
        if ring.atoms & !candidates == 0 {
            let (count, list) = aromatic.get_or_insert((0, [*ring; 16]));
            *list.get_mut(*count)? = *ring;
            *count += 1;
        }
    }
    let Some((count, list)) = aromatic else { return Some(()) };
    fused(graph, &list[..count], donors)
}

/// Tries fused rings alone and in combinations.
fn fused(graph: &mut Graph, rings: &[Ring], donors: Donors) -> Option<()> {
    let mut around = [0_u32; 16];
    for (at, ring) in rings.iter().enumerate() {
        for (other, second) in rings.iter().enumerate() {
            let small = ring.size() <= MAX_FUSED_SIZE && second.size() <= MAX_FUSED_SIZE;
            if at != other && small && (ring.bonds & second.bonds).count_ones() == 1 {
                around[at] |= 1 << other;
            }
        }
    }
    let mut left: u32 = (1 << rings.len()) - 1;
    while left != 0 {
        let system = hanging_together(left & left.wrapping_neg(), u32::MAX, &around);
        left &= !system;
        let all = members(system.into()).fold(0, |bonds, ring| bonds | rings[ring].bonds);
        let mut done = 0_u128;
        for size in 1..=(system.count_ones() as usize).min(MAX_FUSED_RINGS) {
            if done == all {
                break;
            }
            let mut chosen = (1_u32 << size) - 1;
            while chosen < 1 << system.count_ones() {
                let combination = spread(chosen, system);
                let first = combination & combination.wrapping_neg();
                if size == 1 || hanging_together(first, combination, &around) == combination {
                    done |= try_rings(graph, rings, combination, donors)?;
                }
                // The next number with the same count of set bits (Gosper's hack).
                let low = chosen & chosen.wrapping_neg();
                let high = chosen + low;
                chosen = high | (((chosen ^ high) >> 2) / low);
            }
        }
    }
    Some(())
}

/// Returns the rings connected to `start` through rings of `within`.
fn hanging_together(start: u32, within: u32, around: &[u32; 16]) -> u32 {
    let mut reached = start;
    loop {
        let next = members(reached.into()).fold(reached, |set, ring| set | around[ring] & within);
        if next == reached {
            return reached;
        }
        reached = next;
    }
}

/// Maps the bits of `chosen` onto the members of `set`: bit `i` selects the `i`-th member.
fn spread(mut chosen: u32, set: u32) -> u32 {
    let mut result = 0;
    for member in members(set.into()) {
        result |= (chosen & 1) << member;
        chosen >>= 1;
    }
    result
}

/// Marks the outline of a combination of rings if it has 4n + 2 electrons. Returns the bonds that it marked.
fn try_rings(graph: &mut Graph, rings: &[Ring], combination: u32, donors: Donors) -> Option<u128> {
    let (mut atoms, mut twice, mut thrice) = (0_u128, 0_u128, 0_u128);
    let (mut bonds, mut shared) = (0_u128, 0_u128);
    for ring in members(combination.into()) {
        let ring = rings[ring];
        thrice |= twice & ring.atoms;
        twice |= atoms & ring.atoms;
        atoms |= ring.atoms;
        shared |= bonds & ring.bonds;
        bonds |= ring.bonds;
    }
    let system = atoms & !thrice;
    let electrons = (donors.one & system).count_ones() + 2 * (donors.two & system).count_ones();
    if electrons % 4 != 2 {
        return Some(0);
    }
    let outline = bonds & !shared;
    for at in members(outline) {
        let bond = &mut graph.bonds[at];
        bond.aromatic = true;
        match bond.kind {
            BondKind::Single | BondKind::Double => {
                bond.kind = BondKind::Aromatic;
                let (begin, end) = (bond.begin, bond.end);
                graph.atoms[usize::from(begin)].aromatic = true;
                graph.atoms[usize::from(end)].aromatic = true;
            }
            BondKind::Triple => return None,
            BondKind::Aromatic => {}
        }
    }
    Some(outline)
}

/// Returns the number of electrons that an atom could contribute (`countAtomElec`); -1 if it cannot be part of an
/// aromatic ring.
pub(super) fn electrons(graph: &Graph, at: usize) -> Option<i16> {
    let atom = &graph.atoms[at];
    let least = i16::from(valences(atom.number)?[0]);
    let degree = i16::from(atom.total_degree());
    if least <= 1 || degree > 3 {
        return Some(-1);
    }
    let pairs = (i16::from(outer_electrons(atom.number)?) - least - i16::from(atom.charge)).max(0);
    let count = least - degree + pairs - i16::from(atom.radicals);
    Some(if count > 1 && unsaturations(atom) > 1 { 1 } else { count })
}

fn unsaturations(atom: &Atom) -> i16 {
    i16::from(atom.explicit) - i16::from(atom.degree)
}

/// Port of `getAtomDonorTypeArom`.
fn donor(graph: &Graph, rings: &Rings, at: usize) -> Option<Donor> {
    let atom = &graph.atoms[at];
    let multiple = |cyclic: bool| {
        let wanted = |bond: u8| (rings.bonds & bit(bond) != 0) == cyclic;
        let is_multiple = |kind| matches!(kind, BondKind::Double | BondKind::Triple);
        atom.edges().iter().find(|&&edge| wanted(edge.bond) && is_multiple(graph.kind(edge)))
    };
    let outside = multiple(false).map(|edge| graph.atoms[usize::from(edge.to)].number);
    Some(match electrons(graph, at)? {
        ..0 => Donor::Nothing,
        0 if outside.is_some() => Donor::Vacant,
        0 if multiple(true).is_some() => Donor::One,
        0 => Donor::Nothing,
        1 => match outside {
            Some(other) if draws_more(other, atom.number) => Donor::Vacant,
            Some(_) => Donor::One,
            None if atom.explicit != atom.degree + atom.hydrogens => Donor::One,
            None if atom.charge == 1 => Donor::Vacant,
            None => Donor::Nothing,
        },
        count => {
            let drawn = outside.is_some_and(|other| draws_more(other, atom.number));
            if (count - i16::from(drawn)) % 2 == 1 { Donor::One } else { Donor::Two }
        }
    })
}

/// Port of `isAtomCandForArom`, apart from the check of the donor type.
fn is_candidate(graph: &Graph, at: usize) -> Option<bool> {
    let atom = &graph.atoms[at];
    if atom.number > 18 && atom.number != 34 {
        return Some(false);
    }
    let like = atom.number.saturating_add_signed(atom.charge.saturating_neg());
    if atom.total_valence() > valences(like)?[0]
        || (atom.radicals != 0 && (atom.number != 6 || atom.charge != 0))
    {
        return Some(false);
    }
    let multiple =
        |&&edge: &&super::graph::Edge| matches!(graph.kind(edge), BondKind::Double | BondKind::Triple);
    Some(unsaturations(atom) <= 1 || atom.edges().iter().filter(multiple).count() <= 1)
}

/// Returns true if the atom is an O or S that RDKit treats as a bridge in large rings.
fn is_bridge(graph: &Graph, at: usize) -> bool {
    let atom = &graph.atoms[at];
    matches!(atom.number, 8 | 16)
        && atom.charge == 0
        && atom.degree == 2
        && atom.edges().iter().all(|&edge| !matches!(graph.kind(edge), BondKind::Double | BondKind::Triple))
}
