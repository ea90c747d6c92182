//! A molecule with what matching wants computed once.

use crate::molecule::Molecule;

/// A molecule prepared for having many templates applied to it.
#[derive(Debug, Clone)]
pub struct PreparedMolecule {
    molecule: Molecule,
}

impl PreparedMolecule {
    /// Computes what matching needs.
    #[must_use]
    pub fn new(molecule: &Molecule) -> Self {
        Self { molecule: molecule.clone() }
    }

    /// The molecule itself.
    #[must_use]
    pub fn molecule(&self) -> &Molecule {
        &self.molecule
    }
}
