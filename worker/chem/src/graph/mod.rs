//! What can be asked of any graph of atoms, without knowing where it came from.
//!
//! The graphs are chematic's; where a file is about numbers alone (valences, parity, refinement) it does not even ask for
//! those. Imports nothing of this package: everything else stands on it.

pub(crate) mod colours;
pub(crate) mod correspondence;
pub(crate) mod double_bonds;
pub(crate) mod index;
pub(crate) mod parity;
pub(crate) mod refinement;
pub(crate) mod rings;
pub(crate) mod valence;
