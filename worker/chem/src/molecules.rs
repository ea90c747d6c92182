//! Molecules: parsing, sanitising, writing, and properties of a single molecule.
//!
//! `molecule` has the type, `key` its identity keys, and the others add computed properties. The folder imports
//! `smiles`, `graph` and `ordinary`; `standard`, `drawing`, `templates` and `flask` depend on it.

pub(crate) mod bytes;
pub(crate) mod descriptors;
pub(crate) mod fingerprint;
pub(crate) mod key;
pub(crate) mod mapped;
pub(crate) mod molecule;
pub(crate) mod molfile;
mod morgan;
pub(crate) mod structure;
