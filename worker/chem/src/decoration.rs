//! Molecules with attachment points: scaffolds to decorate and fragments to link.
//!
//! `written` keeps a molecule as a SMILES writes it, `walk` writes it in another order, `open` joins such molecules at
//! their points, and `part` is what callers parse. The folder imports `smiles`, `molecules` and `templates`' patterns.

pub(crate) mod open;
pub(crate) mod part;
mod part_pattern;
mod walk;
mod written;
