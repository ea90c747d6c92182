//! The synthetic accessibility score of Ertl and Schuffenhauer (J. Cheminform. 2009, 1, 8).
//!
//! A port of RDKit's `Contrib/SA_Score/sascorer.py`, whose two changes against the paper it keeps: the penalty of
//! macrocycles, and the correction for symmetric molecules.

use std::collections::BTreeMap;

use chematic::chem::num_stereocenters;
use chematic::core::{AtomIdx, Molecule as Graph};
use chematic::fp::{RdkitMorganConfig, rdkit_morgan_fingerprint};

use super::fragment_scores::FragmentScores;
use crate::molecules::morgan::environment_hashes;
use crate::molecules::ring_set::RingSet;

/// Rings of more atoms are macrocycles.
const LARGEST_RING: usize = 8;

/// Computes the score, from 1, easy, to 10, hard.
pub(super) fn sa_score(graph: &Graph, rings: &RingSet) -> f64 {
    let environments = environments(graph);
    let total: u32 = environments.values().sum();
    if total == 0 {
        return 1.0;
    }
    let table = FragmentScores::published();
    let sum: f64 =
        environments.iter().map(|(&environment, &count)| table.of(environment) * f64::from(count)).sum();
    let fragments = sum / f64::from(total);

    let atoms = graph.atom_count() as f64;
    let penalty = |count: usize| ((count + 1) as f64).log10();
    let size = atoms.powf(1.005) - atoms;
    let has_macrocycle = rings.rings().iter().any(|ring| ring.len() > LARGEST_RING);
    let complexity = size
        + penalty(num_stereocenters(graph))
        + penalty(spiro_atoms(rings.rings()))
        + penalty(bridgeheads(rings.rings()))
        + penalty(usize::from(has_macrocycle));

    let different = environments.len() as f64;
    let symmetry = if atoms > different { (atoms / different).ln() * 0.5 } else { 0.0 };

    scale(fragments - complexity + symmetry)
}

/// Maps the raw score, from -4 to 2.5, to the scale from 10 to 1.
fn scale(raw: f64) -> f64 {
    let scaled = 11.0 - (raw + 5.0) / 6.5 * 9.0;
    let smooth = if scaled > 8.0 { 8.0 + (scaled - 8.0).ln() } else { scaled };
    smooth.clamp(1.0, 10.0)
}

/// Counts each Morgan environment of radius 0, 1 and 2.
fn environments(graph: &Graph) -> BTreeMap<u32, u32> {
    let mut counts = BTreeMap::new();
    if let Some(hashes) = environment_hashes(graph) {
        for hash in hashes {
            *counts.entry(hash).or_default() += 1;
        }
    } else if let Ok(found) = rdkit_morgan_fingerprint(graph, &RdkitMorganConfig::default()) {
        counts.extend(found.sparse_counts);
    }
    counts
}

/// Counts the atoms that two rings have in common, and no other.
fn spiro_atoms(rings: &[Vec<AtomIdx>]) -> usize {
    let mut found: Vec<AtomIdx> = Vec::new();
    for (at, ring) in rings.iter().enumerate() {
        for other in &rings[..at] {
            let mut shared = ring.iter().filter(|atom| other.contains(atom));
            if let (Some(&atom), None) = (shared.next(), shared.next()) {
                found.push(atom);
            }
        }
    }
    distinct(found)
}

/// Counts the atoms at the ends of the bonds that two rings have in common, if these are two or more.
fn bridgeheads(rings: &[Vec<AtomIdx>]) -> usize {
    let mut found: Vec<AtomIdx> = Vec::new();
    for (at, ring) in rings.iter().enumerate() {
        for other in &rings[..at] {
            let mut ends: Vec<AtomIdx> = Vec::new();
            for (a, b) in
                bonds(ring).filter(|&(a, b)| bonds(other).any(|bond| bond == (a, b) || bond == (b, a)))
            {
                ends.extend([a, b]);
            }
            if ends.len() > 2 {
                let is_single = |atom: &&AtomIdx| ends.iter().filter(|end| end == atom).count() == 1;
                found.extend(ends.iter().filter(is_single));
            }
        }
    }
    distinct(found)
}

/// Iterates over the bonds of a ring.
fn bonds(ring: &[AtomIdx]) -> impl Iterator<Item = (AtomIdx, AtomIdx)> {
    ring.iter().copied().zip(ring.iter().copied().cycle().skip(1))
}

fn distinct(mut atoms: Vec<AtomIdx>) -> usize {
    atoms.sort_unstable();
    atoms.dedup();
    atoms.len()
}
