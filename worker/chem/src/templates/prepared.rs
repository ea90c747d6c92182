//! A molecule with what matching wants computed once.

use std::sync::{Arc, OnceLock};

use super::edit::parts::Parts;
use super::matching::target::Target;
use super::stereo::Stereo;
use crate::graph::colours::Colours;
use crate::molecules::molecule::Molecule;

/// A molecule prepared for having many templates applied to it; clones are cheap.
#[derive(Debug, Clone)]
pub struct PreparedMolecule(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    molecule: Molecule,
    target: Option<Target>,
    parts: Parts,
    stereo: OnceLock<Stereo>,
    colours: OnceLock<Colours>,
}

impl PreparedMolecule {
    /// Computes what matching needs.
    #[must_use]
    pub fn new(molecule: &Molecule) -> Self {
        Self(Arc::new(Inner {
            molecule: molecule.clone(),
            target: Target::new(&[molecule]),
            parts: Parts::default(),
            stereo: OnceLock::new(),
            colours: OnceLock::new(),
        }))
    }

    /// The molecule itself.
    #[must_use]
    pub fn molecule(&self) -> &Molecule {
        &self.0.molecule
    }

    /// Forgets what templates have made of it and nobody holds, and says about how many bytes it takes with what is left.
    #[must_use]
    pub fn tidy(&self) -> usize {
        /// The molecule for matching and the colours, for each atom.
        const EACH_ATOM: usize = 96;
        let molecule = self.0.molecule.bytes() + self.0.molecule.atoms() * EACH_ATOM;
        size_of::<Inner>() + molecule + self.0.parts.tidy()
    }

    /// The molecule for matching, where masks say enough of it.
    pub(crate) fn target(&self) -> Option<&Target> {
        self.0.target.as_ref()
    }

    /// What templates have made of it.
    pub(crate) fn parts(&self) -> &Parts {
        &self.0.parts
    }

    /// The stereo the molecule states.
    pub(crate) fn stereo(&self) -> &Stereo {
        self.0.stereo.get_or_init(|| Stereo::of(&self.0.molecule))
    }

    /// Its atoms, told apart by their constitution alone.
    pub(crate) fn colours(&self) -> &Colours {
        self.0.colours.get_or_init(|| Colours::new(self.0.molecule.graph()))
    }
}
