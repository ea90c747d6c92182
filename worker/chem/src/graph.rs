//! Algorithms on any graph of atoms, independent of its source.
//!
//! The graphs are chematic's, but files about numbers only (valences, parity, refinement) do not even need those. The
//! folder imports nothing of this package; everything else depends on it.

pub(crate) mod colours;
pub(crate) mod correspondence;
pub(crate) mod double_bonds;
pub(crate) mod index;
pub(crate) mod parity;
pub(crate) mod refinement;
pub(crate) mod rings;
pub(crate) mod valence;
