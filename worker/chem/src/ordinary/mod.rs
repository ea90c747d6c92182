//! The short way from a SMILES to RDKit's canonical one, for ordinary molecules.
//!
//! What generators write and catalogues list is one component of common elements nearly always. For those the whole
//! of RDKit's way (parser, sanitiser, stereo, ranks, writer) is followed here step by step on flat arrays whose
//! room is used again, several times as fast as chematic's general port of the same code, which stays the authority:
//! what is not ordinary, and every string that is refused, is declined here and goes the long way. The two are
//! tested against each other.

mod aromatic;
mod directions;
mod elements;
mod graph;
mod kekule;
mod layout;
mod parse;
mod priorities;
mod ranks;
mod rings;
mod sanitise;
mod stereo;
mod systems;
mod walk;
mod workspace;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use workspace::{Ordinary, canonicalise};
