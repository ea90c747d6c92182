//! The Morgan fingerprint of an ordinary molecule, with RDKit's numbers.
//!
//! RDKit hashes atoms, then their environments one and two bonds away. Of environments with the same bonds it keeps
//! only the one with the smallest hash (`MorganGenerator.cpp` and `FingerprintUtil.cpp` of release 2026_03_4). This
//! module does the same for graphs that are already perceived, whose bonds fit a 128-bit mask and whose atoms are no
//! isotopes; chematic handles the others.

use chematic::core::{BondOrder, Element, Molecule as Graph};

use super::fingerprint::Fingerprint;
use super::molecule::Molecule;
use crate::graph::index::index;
use crate::graph::rings::ring_bonds;

/// Radius of the environments, in bonds.
const RADIUS: u32 = 2;

impl Molecule {
    /// Computes the Morgan fingerprint: radius 2, 2,048 bits, no chirality, the same bits as RDKit.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let perceived = self.perceived();
        let perceived = perceived.as_ref().unwrap_or(self);
        if perceived.is_perceived()
            && let Some(hashes) = environment_hashes(perceived.graph())
        {
            return Fingerprint::from_on_bits(hashes.into_iter().map(bit));
        }
        // A sanitised molecule always has a fingerprint. If chematic still fails, an empty one is the honest answer.
        match chematic::fp::rdkit_morgan_ecfp4_bitvec(perceived.graph()) {
            Ok(bits) => Fingerprint::from_on_bits((0..Fingerprint::BITS).filter(|&bit| bits.get(bit.into()))),
            Err(_) => Fingerprint::from_on_bits([]),
        }
    }

    /// Returns the hashes of the Morgan environments of radius 0, 1, 2 and 3 of each atom, without chirality, in
    /// [`Structure`](crate::Structure)'s atom order.
    #[must_use]
    pub fn environments(&self) -> Vec<[u32; 4]> {
        environments(self.graph())
    }
}

/// Returns the hash of each environment of radius 0, 1 and 2 of a perceived graph, once for each place where RDKit
/// counts it; `None` if the graph is not ordinary.
pub(crate) fn environment_hashes(graph: &Graph) -> Option<Vec<u32>> {
    let ordinary =
        graph.atoms().all(|(_, atom)| !atom.wildcard && atom.isotope.is_none() && atom.element != Element::H);
    if !ordinary || graph.bond_count() > 128 {
        return None;
    }
    let bonds: Vec<u32> = graph.bonds().map(|(_, bond)| bond_type(bond.order)).collect::<Option<_>>()?;
    let count = graph.atom_count();
    let mut hashes = atom_invariants(graph);
    let mut found = hashes.clone();

    let mut dead = vec![false; count];
    let mut reach = vec![0_u128; count];
    let mut seen: Vec<u128> = Vec::with_capacity(2 * count);
    let mut groups: Vec<(u128, u32, usize)> = Vec::with_capacity(count);
    let mut around: Vec<(u32, u32)> = Vec::with_capacity(8);
    for layer in 0..RADIUS {
        let mut next = vec![0; count];
        let mut further = reach.clone();
        groups.clear();
        for at in 0..count {
            if dead[at] {
                continue;
            }
            around.clear();
            let mut environment = 0;
            for &(neighbour, bond) in graph.neighbor_slice(index(at)) {
                let (neighbour, bond) = (neighbour.0 as usize, bond.0 as usize);
                environment |= 1 << bond | reach[neighbour];
                around.push((bonds[bond], hashes[neighbour]));
            }
            if around.is_empty() {
                dead[at] = true;
                continue;
            }
            around.sort_unstable();
            next[at] = widen_hash(layer, hashes[at], &around);
            further[at] = environment;
            groups.push((environment, next[at], at));
        }
        groups.sort_unstable();
        for same in groups.chunk_by(|a, b| a.0 == b.0) {
            let (environment, hash, _) = same[0];
            let new = !seen.contains(&environment);
            if new {
                found.push(hash);
                seen.push(environment);
            }
            same[usize::from(new)..].iter().for_each(|&(_, _, at)| dead[at] = true);
        }
        (hashes, reach) = (next, further);
    }
    Some(found)
}

/// Largest radius that [`environments`] computes, in bonds.
const MAX_RADIUS: usize = 3;

/// Returns the hash of each atom and of its environments one, two and three bonds away: RDKit's numbers, without
/// removing duplicates. A bond of a kind that fingerprints do not know counts as 0.
fn environments(graph: &Graph) -> Vec<[u32; MAX_RADIUS + 1]> {
    let bonds: Vec<u32> = graph.bonds().map(|(_, bond)| bond_type(bond.order).unwrap_or(0)).collect();
    let mut all: Vec<[u32; MAX_RADIUS + 1]> =
        atom_invariants(graph).into_iter().map(|hash| [hash, 0, 0, 0]).collect();
    let mut around: Vec<(u32, u32)> = Vec::with_capacity(8);
    for layer in 0..MAX_RADIUS {
        for at in 0..all.len() {
            around.clear();
            around.extend(
                graph
                    .neighbor_slice(index(at))
                    .iter()
                    .map(|&(neighbour, bond)| (bonds[bond.0 as usize], all[neighbour.0 as usize][layer])),
            );
            around.sort_unstable();
            all[at][layer + 1] = widen_hash(layer as u32, all[at][layer], &around);
        }
    }
    all
}

/// Hashes an atom's environment one bond wider than `own`. `around` holds each bond and the neighbour's hash,
/// ascending.
fn widen_hash(layer: u32, own: u32, around: &[(u32, u32)]) -> u32 {
    around.iter().fold(combine(layer, own), |hash, &(bond, neighbour)| {
        combine(hash, combine(combine(0, bond), neighbour))
    })
}

/// Computes the radius-0 hash of every atom.
fn atom_invariants(graph: &Graph) -> Vec<u32> {
    let cyclic = ring_bonds(graph);
    let hash = |at: usize| {
        let (atom, hydrogens) = (graph.atom(index(at)), u32::from(graph.implicit_hydrogen_count(index(at))));
        let around = graph.neighbor_slice(index(at));
        // Neighbour counts are far below the limits.
        let degree = around.len() as u32 + hydrogens;
        let charge = i32::from(atom.charge).cast_unsigned();
        let facts = [u32::from(atom.element.atomic_number()), degree, hydrogens, charge, 0];
        let hash = facts.into_iter().fold(0, combine);
        if around.iter().any(|&(_, bond)| cyclic[bond.0 as usize]) { combine(hash, 1) } else { hash }
    };
    (0..graph.atom_count()).map(hash).collect()
}

/// Returns RDKit's number for a kind of bond.
fn bond_type(order: BondOrder) -> Option<u32> {
    match order {
        BondOrder::Single | BondOrder::Up | BondOrder::Down => Some(1),
        BondOrder::Double => Some(2),
        BondOrder::Triple => Some(3),
        BondOrder::Aromatic => Some(12),
        _ => None,
    }
}

fn bit(hash: u32) -> u16 {
    // Below 2,048.
    (hash % u32::from(Fingerprint::BITS)) as u16
}

/// `boost::hash_combine` in 32 bits.
fn combine(seed: u32, value: u32) -> u32 {
    seed ^ value.wrapping_add(0x9e37_79b9).wrapping_add(seed << 6).wrapping_add(seed >> 2)
}
