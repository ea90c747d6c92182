//! Molecules: parsed, sanitised, written, and what is computed of one by itself.
//!
//! `molecule` has the type; `key` tells molecules apart, the others add what they compute to it. Imports `smiles`,
//! `graph` and `ordinary`; `standard`, `drawing`, `templates` and `flask` stand on it.

pub(crate) mod bytes;
pub(crate) mod descriptors;
pub(crate) mod fingerprint;
pub(crate) mod key;
pub(crate) mod mapped;
pub(crate) mod molecule;
pub(crate) mod molfile;
mod morgan;
pub(crate) mod structure;
