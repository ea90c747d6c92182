//! Algorithms on any graph of atoms, independent of its source.
//!
//! The graphs are chematic's, but `refinement` is about numbers only. The folder imports nothing of this package;
//! everything else depends on it.

pub(crate) mod colours;
pub(crate) mod correspondence;
pub(crate) mod double_bonds;
pub(crate) mod index;
pub(crate) mod refinement;
pub(crate) mod rings;
