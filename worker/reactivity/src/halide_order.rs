//! Order of aryl halides: the one that palladium or an exchange takes first, by leaving group and by position.
//!
//! Sources: Fitzgerald and others (J. Am. Chem. Soc. 2005, on oxidative addition); Almond-Thynne and others (Chem. Sci. 2017, on
//! polyhalogenated azines); Schröter, Stock and Bach, Tetrahedron 2005, 61, 2245, and Fairlamb, Chem. Soc. Rev. 2007, 36, 1036, on
//! heteroarenes with several halogens.

use chem::Order;

use crate::change::Facts;
use crate::group::aromatic_positions;
use crate::leaving_group::leaving_ranks;
use crate::queries::*;

/// Most points that a position adds to the leaving group in couplings: bromides stay below iodides, chlorides below bromides.
const MOST_HELP: i32 = 30;

/// Rank of a carbon with a halogen or triflate in couplings with palladium, nickel or copper; 0 for none.
pub fn coupling(facts: &Facts, carbon: u32) -> i32 {
    let sp2 = facts.is_aromatic(carbon) || facts.doubly(carbon, |next| facts.element(next) == C).is_some();
    let best = facts.next_to(carbon).filter_map(|next| coupling_leaving(facts, next)).max();
    let Some(best) = best.filter(|_| sp2 && facts.element(carbon) == C) else { return 0 };
    best + coupling_position(facts, carbon).min(MOST_HELP) - crowding(facts, carbon)
}

/// Ease of oxidative addition at a position of a ring.
fn coupling_position(facts: &Facts, carbon: u32) -> i32 {
    let positions = aromatic_positions(facts.structure(), carbon);
    let beside_acceptor =
        |atom: u32| facts.next_to(atom).any(|next| facts.is_acceptor(next) && !facts.is_aromatic(next));
    let acceptors =
        positions.iter().filter(|&&(atom, distance)| distance != 2 && beside_acceptor(atom)).count();
    let is_pyridine =
        |atom: u32| facts.element(atom) == N && facts.degree(atom) == 2 && facts.hydrogens(atom) == 0;
    let beside_nitrogen =
        positions.iter().filter(|&&(atom, distance)| distance == 1 && is_pyridine(atom)).count();
    let across = positions.iter().any(|&(atom, distance)| distance == 3 && is_pyridine(atom));
    let ring = match () {
        () if facts.ring(carbon) == 5 => azole_position(facts, carbon),
        () if across && beside_nitrogen > 0 => 16 + 9 * beside_nitrogen as i32,
        // 2,4-dihaloquinolines couple at C2 (Nolan and Comins, J. Org. Chem. 2003, 68, 3736).
        () if across && facts.next_to(carbon).any(|next| facts.is_shared_by_aromatic_rings(next)) => 0,
        () => 9 * beside_nitrogen as i32 + if across { 12 } else { 0 },
    };
    ring + 2 * acceptors as i32
}

/// Ease of oxidative addition at a position of a ring of five: between two heteroatoms, then beside one that gives electrons,
/// then beside nitrogen (Schröter, Stock and Bach, Tetrahedron 2005, 61, 2245; Fairlamb, Chem. Soc. Rev. 2007, 36, 1036). The N–H of
/// an azole moves, so it counts as the other nitrogen does.
pub fn azole_position(facts: &Facts, carbon: u32) -> i32 {
    let in_ring = facts.around(carbon).iter().filter(|bond| bond.ring == 5 && bond.order == Order::Aromatic);
    let beside: Vec<u32> = in_ring.map(|bond| bond.to).filter(|&atom| facts.element(atom) != C).collect();
    let gives = |atom: u32| facts.element(atom) != N || facts.degree(atom) == 3;
    let has_proton = |atom: u32| facts.hydrogens(atom) > 0;
    match beside[..] {
        [a, b] if gives(a) || gives(b) || has_proton(a) || has_proton(b) => 16,
        [_, _] => 8,
        [atom] if gives(atom) || has_proton(atom) && !is_azole(facts, atom) => 8,
        [_] => 2,
        _ => 0,
    }
}

/// Returns true if another nitrogen is in the ring of an aromatic nitrogen.
fn is_azole(facts: &Facts, nitrogen: u32) -> bool {
    let is_other = |&(atom, distance): &(u32, u32)| {
        distance > 0 && facts.element(atom) == N && facts.is_aromatic(atom) && facts.ring(atom) == 5
    };
    facts.distances(nitrogen, 2).iter().any(is_other)
}

/// Points that a carbon loses by alkyl and aryl groups beside it.
pub fn crowding(facts: &Facts, carbon: u32) -> i32 {
    let is_crowded = |&(atom, distance): &(u32, u32)| {
        distance == 1
            && facts.ring(atom) == 6
            && facts.around(atom).iter().any(|bond| {
                bond.order == Order::Single
                    && facts.element(bond.to) == C
                    && !facts.is_acceptor(bond.to)
                    && !facts.is_trifluoromethyl(bond.to)
            })
    };
    6 * i32::from(aromatic_positions(facts.structure(), carbon).iter().any(is_crowded))
}

fn coupling_leaving(facts: &Facts, leaving: u32) -> Option<i32> {
    leaving_ranks(facts, leaving)?.coupling
}

/// Returns true if `leaving` leaves in couplings.
pub fn leaves_in_couplings(facts: &Facts, leaving: u32) -> bool {
    coupling_leaving(facts, leaving).is_some()
}
