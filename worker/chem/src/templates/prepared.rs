//! A molecule with precomputed data for matching.

use std::sync::{Arc, OnceLock};

use super::edit::parts::Parts;
use super::matching::target::MatchTarget;
use super::stereo::Stereo;
use crate::graph::colours::ColouredGraph;
use crate::molecules::molecule::Molecule;

/// A molecule prepared for the application of many templates; clones are cheap.
#[derive(Debug, Clone)]
pub struct PreparedMolecule(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    molecule: Molecule,
    target: Option<MatchTarget>,
    parts: Parts,
    stereo: OnceLock<Stereo>,
    colours: OnceLock<ColouredGraph>,
}

impl PreparedMolecule {
    /// Prepares a molecule; the data for matching is computed once.
    #[must_use]
    pub fn new(molecule: &Molecule) -> Self {
        Self(Arc::new(Inner {
            molecule: molecule.clone(),
            target: MatchTarget::new(&[molecule]),
            parts: Parts::default(),
            stereo: OnceLock::new(),
            colours: OnceLock::new(),
        }))
    }

    /// Returns the molecule.
    #[must_use]
    pub fn molecule(&self) -> &Molecule {
        &self.0.molecule
    }

    /// Drops template results without other owners, and returns the approximate bytes of the molecule with the rest.
    #[must_use]
    pub fn tidy(&self) -> usize {
        /// Bytes for each atom: the molecule for matching, and the colours.
        const EACH_ATOM: usize = 96;
        let molecule = self.0.molecule.bytes() + self.0.molecule.atoms() * EACH_ATOM;
        size_of::<Inner>() + molecule + self.0.parts.tidy()
    }

    /// Returns the molecule in the matcher's form, if masks can express it.
    pub(crate) fn target(&self) -> Option<&MatchTarget> {
        self.0.target.as_ref()
    }

    /// Returns the parts that templates have made of it.
    pub(crate) fn parts(&self) -> &Parts {
        &self.0.parts
    }

    /// Returns the stereo that the molecule states.
    pub(crate) fn stereo(&self) -> &Stereo {
        self.0.stereo.get_or_init(|| Stereo::of(&self.0.molecule))
    }

    /// Returns its atom colours, by constitution alone.
    pub(crate) fn colours(&self) -> &ColouredGraph {
        self.0.colours.get_or_init(|| ColouredGraph::new(self.0.molecule.graph()))
    }
}
