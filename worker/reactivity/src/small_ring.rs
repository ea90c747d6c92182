//! Rings of three: the bond of a cyclopropane that a hydrogen halide opens, and the side on which another ring is fused.
//!
//! Sources: Reissig and Zimmer, Chem. Rev. 2003, 103, 1151: acid takes the acceptor's carbon, and the halide the neighbour that bears a cation best; Eliel and Wilen, "Stereochemistry of Organic
//! Compounds" (1994), chapter 11, for fused rings.

use crate::change::{Facts, Step};
use crate::queries::*;
use crate::refusal::Refusal;

/// Refuses a halide at the less substituted of two neighbours of the acceptor.
///
/// # Errors
/// Fails with [`Refusal::CompetingGroup`].
pub fn check(step: &Step<'_>) -> Result<(), Refusal> {
    let is_wrong = |(halide, carbon)| {
        is_heavy_halogen(step.before.element(halide))
            && step.before.degree(halide) == 0
            && opens_at_free_end(step, carbon)
    };
    if step.joined().any(is_wrong) { Err(Refusal::CompetingGroup) } else { Ok(()) }
}

/// Returns true for a carbon of a cyclopropane that leaves one with an acceptor, if the third one has more carbons on it.
fn opens_at_free_end(step: &Step<'_>, carbon: u32) -> bool {
    let it = &step.before;
    let is_better = |other: u32| {
        other != carbon
            && it.is_cyclopropane(other)
            && it.bond(other, carbon).is_some()
            && it.carbons(other) > it.carbons(carbon)
    };
    it.is_cyclopropane(carbon)
        && step.lost(carbon).any(|(alpha, _)| it.is_alpha(alpha) && it.next_to(alpha).any(is_better))
}

/// Largest ring that a ring of three can only be fused to on one side: eight atoms reach across, as in the epoxide of trans-cyclooctene.
const LARGEST_CIS_FUSED: usize = 7;

/// Returns true for an atom of an epoxide, aziridine or cyclopropane whose other ring leaves the bond that they share on opposite sides.
pub fn is_fused_across(it: &Facts, atom: u32) -> bool {
    it.at(atom).centre.is_some()
        && it.around(atom).iter().filter(|bond| bond.ring == 3).map(|bond| bond.to).any(|other| {
            it.next_to(atom)
                .find(|&apex| apex != other && it.bond(apex, other).is_some())
                .is_some_and(|apex| lie_across(it, [atom, other], apex))
        })
}

/// Returns true if the neighbours of two atoms in their other ring lie on opposite sides of the ring that the apex closes.
fn lie_across(it: &Facts, [one, other]: [u32; 2], apex: u32) -> bool {
    let Some([near, far]) = neighbours_in_other_ring(it, [one, other], apex) else { return false };
    let sides = it.handedness(one, [other, apex, near]).zip(it.handedness(other, [one, apex, far]));
    sides.is_some_and(|(one, other)| one == other)
}

/// The neighbours of two bonded atoms in the smallest ring through them that leaves out the apex.
fn neighbours_in_other_ring(it: &Facts, [one, other]: [u32; 2], apex: u32) -> Option<[u32; 2]> {
    let is_known = |ways: &[(u32, u32, usize)], atom: u32| ways.iter().any(|&(known, ..)| known == atom);
    let mut ways: Vec<(u32, u32, usize)> =
        it.next_to(one).filter(|&near| near != other && near != apex).map(|near| (near, near, 3)).collect();
    let mut next = 0;
    while let Some(&(at, near, size)) = ways.get(next) {
        next += 1;
        if size > LARGEST_CIS_FUSED {
            return None;
        }
        if at != near && it.bond(at, other).is_some() {
            return Some([near, at]);
        }
        for far in it.next_to(at).filter(|&far| far != one && far != other && far != apex) {
            if !is_known(&ways, far) {
                ways.push((far, near, size + 1));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_of_three_are_fused_on_one_side() {
        let is_trans = |smiles: &str| {
            let facts = Facts::of(&smiles.parse().unwrap());
            (0..facts.atoms() as u32).any(|atom| is_fused_across(&facts, atom))
        };

        assert!(!is_trans("C1CC[C@H]2[C@@H](C1)O2"));
        assert!(is_trans("C1CC[C@@H]2[C@@H](C1)O2"));
        assert!(!is_trans("C[C@H]1O[C@@H]1C"));
    }
}
