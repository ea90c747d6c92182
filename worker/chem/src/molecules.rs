//! Molecules: parsing, sanitising, writing, and properties of a single molecule.
//!
//! `molecule` has the type, `key` its identity keys, and the others add computed properties. The folder imports
//! `smiles` and `graph`; `standardise`, `drawing`, `templates` and `mixture` depend on it.

#[cfg(test)]
mod both_paths;
pub(crate) mod bytes;
pub(crate) mod descriptors;
pub(crate) mod fingerprint;
pub(crate) mod key;
pub(crate) mod mapped;
pub(crate) mod molecule;
pub(crate) mod molfile;
mod morgan;
pub(crate) mod structure;
