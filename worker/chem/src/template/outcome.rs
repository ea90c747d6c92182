//! What a template gives.

use std::sync::Arc;

use super::site::Site;
use crate::molecule::Molecule;

/// One way to make the product: the precursors, in the order of their keys.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The molecules needed, in the order of their keys.
    pub precursors: Vec<Precursor>,
    /// Where the template does that, as far as it is known: matches that make the same edit are looked at once.
    pub sites: Vec<Site>,
}

/// A molecule that a template makes of others.
#[derive(Debug, Clone)]
pub struct Precursor {
    /// The molecule, its atoms in no particular order.
    pub molecule: Molecule,
    /// For each atom of [`Self::molecule`], the atom it was before; `None` for an atom the template adds.
    pub sources: Arc<[Option<u32>]>,
}
