//! Telling molecules apart without writing them down.
//!
//! A molecule's key is a digest of its [refined colours](crate::graph::colours), its stated stereo among them. One whose stated
//! stereo colours do not settle (a centre between like neighbours), or that is too symmetric for them (a
//! fullerene), is told by its canonical SMILES; whether that is so depends on the graph
//! alone, never on the order of its atoms.

use chematic::core::Molecule as Graph;

use crate::graph::colours::Colours;
use crate::graph::double_bonds;
use crate::graph::refinement::mix;

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
    /// The key as a number, spread evenly over all there are.
    #[must_use]
    pub fn number(self) -> u128 {
        self.0
    }

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

impl TautomerKey {
    /// The key as a number, spread evenly over all there are.
    #[must_use]
    pub fn number(self) -> u128 {
        self.0.number()
    }
}

impl Skeleton {
    /// The skeleton as a number, spread evenly over all there are.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0
    }
}

/// The key of a graph whose aromaticity is perceived and whose stereo marks all mean something; `None` where it has
/// to be told by the canonical SMILES.
pub(crate) fn of_graph(graph: &Graph) -> Option<Key> {
    let double_bonds = double_bonds::stated(graph)?;
    let mut colours = Colours::new(graph);
    if !colours.add_stereo(graph, &double_bonds) {
        return None;
    }
    colours.digest().map(Key::of_digest)
}
