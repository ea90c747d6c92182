//! Molecules: parsing, sanitising, writing, and properties of a single molecule.
//!
//! `molecule` has the type, `key` its identity keys, and the others add computed properties. The folder imports
//! `smiles` and `graph`; all folders after it depend on it.

#[cfg(test)]
mod both_paths;
pub(crate) mod bytes;
pub(crate) mod fingerprint;
pub(crate) mod key;
pub(crate) mod mapped;
pub(crate) mod molecule;
pub(crate) mod molfile;
pub(crate) mod morgan;
pub(crate) mod ring_set;
pub(crate) mod structure;
