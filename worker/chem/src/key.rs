//! Telling molecules apart without writing them down.
//!
//! A molecule's key is a digest of its [refined colours](crate::colours), its stated stereo among them. One whose stated
//! stereo colours do not settle (a centre between like neighbours), or that is too symmetric for them (a
//! fullerene), is told by its canonical SMILES; whether that is so depends on the graph
//! alone, never on the order of its atoms.

use chematic::core::ez_markers::{self, EzFact};
use chematic::core::{BondOrder, Molecule as Graph};

use crate::colours::{Colours, mix};
use crate::rings;

/// A number that two molecules share if they are the same, and only then (but for a chance of 2^-64 a pair).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(u128);

/// A number that two molecules share if they are tautomers of each other, charged forms included, and only then (but
/// for a chance of 2^-64 a pair).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TautomerKey(pub(crate) Key);

/// A number that tautomers share, as do a few molecules that are none: to find out cheaply that a molecule is no
/// tautomer of any of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Skeleton(pub(crate) u64);

impl Key {
    /// The key of a text that says the same of a molecule.
    pub(crate) fn of_text(text: &str) -> Self {
        // Longer than any list of colours begins, so that a text is never taken for one.
        let fold = |seed: u64| {
            text.as_bytes().chunks(8).fold(mix(seed, u64::MAX), |hash, chunk| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                mix(hash, u64::from_le_bytes(word))
            })
        };
        Self::of_digest((fold(1), fold(2)))
    }

    /// The key of a digest of colours.
    pub(crate) fn of_digest((high, low): (u64, u64)) -> Self {
        Self(u128::from(high) << 64 | u128::from(low))
    }
}

/// The key of a graph whose aromaticity is perceived and whose stereo marks all mean something; `None` where it has
/// to be told by the canonical SMILES.
pub(crate) fn of_graph(graph: &Graph) -> Option<Key> {
    let double_bonds = double_bonds(graph)?;
    let mut colours = Colours::new(graph);
    if !colours.add_stereo(graph, &double_bonds) {
        return None;
    }
    colours.digest().map(Key::of_digest)
}

/// The double bonds whose configuration a graph states; `None` where its marks contradict each other or are in
/// places where only the canonical form can tell what they mean (aromatic bonds, small rings).
pub(crate) fn double_bonds(graph: &Graph) -> Option<Vec<EzFact>> {
    let is_mark = |order| matches!(order, BondOrder::Up | BondOrder::Down);
    if graph.has_bond_directions() {
        return None;
    }
    if !graph.bonds().any(|(_, bond)| is_mark(bond.order)) {
        return Some(Vec::new());
    }
    let (facts, conflict) = ez_markers::read_ez_facts(graph)?;
    let rings = rings::smallest_rings(graph);
    // RDKit knows no configuration in a ring of fewer than eight.
    let in_small_ring = |fact: &EzFact| (1..8).contains(&rings[fact.double.0 as usize]);
    (!conflict && !facts.iter().any(in_small_ring) && !share_an_end(graph, &facts)).then_some(facts)
}

/// Whether two of the double bonds hang on one end of another: their marks, depending on where they are written, may
/// say something of that one too (`C\C=C\C(=O)/C=C/C`).
fn share_an_end(graph: &Graph, facts: &[EzFact]) -> bool {
    let is_end = |atom| facts.iter().any(|fact| fact.ends.iter().any(|end| end.atom == atom));
    facts.len() > 1
        && graph.bonds().any(|(at, bond)| {
            let hangs =
                |atom| graph.neighbor_slice(atom).iter().filter(|&&(next, _)| is_end(next)).count() > 1;
            bond.order == BondOrder::Double
                && facts.iter().all(|fact| fact.double != at)
                && (hangs(bond.atom1) || hangs(bond.atom2))
        })
}
