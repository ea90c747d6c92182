//! Strings before they are molecules: how large they may be, and whether they have the form of a SMILES.
//!
//! Nothing here knows chemistry. Imports the errors alone.

pub(crate) mod limits;
pub(crate) mod symbols;
pub(crate) mod syntax;
pub(crate) mod written;
