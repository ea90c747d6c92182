//! Checks of strings before they are molecules: their size, and the syntax of SMILES.
//!
//! No chemistry here. Imports the error types alone.

pub(crate) mod extension;
pub(crate) mod skeleton;
pub(crate) mod syntax;
pub(crate) mod tokens;
