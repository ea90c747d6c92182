//! Identity keys of molecules, without writing their canonical SMILES.
//!
//! A molecule's key is a digest of its [refined colours](crate::graph::colours), including its stated stereo. If
//! colours cannot settle its stereo (a centre between like neighbours), or it is too symmetric (a fullerene), the key
//! is a hash of its canonical SMILES. Which case applies depends only on the graph, never on the order of its atoms.

use chematic::core::Molecule as Graph;

use crate::graph::colours::ColouredGraph;
use crate::graph::double_bonds;
use crate::graph::refinement::mix;

/// Identity key of a molecule: equal for the same molecule, and only then (up to a chance of 2^-64 per pair).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MoleculeKey(u128);

/// Key that is equal for tautomers of each other, charged forms included, and only then (up to a chance of 2^-64 per
/// pair).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TautomerKey(pub(crate) MoleculeKey);

/// Hash that tautomers share, and a few other molecules too. A cheap test that a molecule is not a tautomer of any in
/// a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TautomerSkeleton(pub(crate) u64);

impl MoleculeKey {
    /// Returns the key as a number, uniformly distributed.
    #[must_use]
    pub fn number(self) -> u128 {
        self.0
    }

    /// Hashes a text that represents a molecule.
    pub(crate) fn of_text(text: &str) -> Self {
        // Starts with a word that no list of colours has, so that a text never has the digest of one.
        let fold = |seed: u64| {
            text.as_bytes().chunks(8).fold(mix(seed, u64::MAX), |hash, chunk| {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                mix(hash, u64::from_le_bytes(word))
            })
        };
        Self::of_digest((fold(1), fold(2)))
    }

    /// Makes a key of a digest of colours.
    pub(crate) fn of_digest((high, low): (u64, u64)) -> Self {
        Self(u128::from(high) << 64 | u128::from(low))
    }
}

impl TautomerKey {
    /// Returns the key as a number, uniformly distributed.
    #[must_use]
    pub fn number(self) -> u128 {
        self.0.number()
    }
}

impl TautomerSkeleton {
    /// Returns the skeleton as a number, uniformly distributed.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0
    }
}

/// Returns the key of a graph whose aromaticity is perceived and whose stereo marks are all meaningful. `None` if the
/// canonical SMILES must decide.
pub(crate) fn of_graph(graph: &Graph) -> Option<MoleculeKey> {
    let double_bonds = double_bonds::stated(graph)?;
    let mut colours = ColouredGraph::new(graph);
    if !colours.add_stereo(graph, &double_bonds) {
        return None;
    }
    colours.digest().map(MoleculeKey::of_digest)
}
