//! The fast path from a SMILES to RDKit's canonical SMILES, for ordinary molecules.
//!
//! Generated molecules and catalogue entries are nearly always one component of common elements. For these, RDKit's
//! whole pipeline (parser, sanitiser, stereo, ranks, writer) is followed here step by step on flat, reused arrays.
//! This is several times as fast as chematic's general port of the same code, which stays the authority. Strings that
//! are not ordinary, or are refused, are declined here and take the general path through chematic. The two paths are
//! tested against each other in `chem`, which is the only user of this package. The valences are here too, because both
//! paths count with them.

mod aromatic;
mod directions;
mod elements;
mod graph;
mod kekule;
mod layout;
mod limits;
mod parity;
mod parse;
mod priorities;
mod ranks;
mod rings;
mod sanitise;
mod stereo;
mod systems;
mod traversal;
mod valence;
mod workspace;
mod write;

pub use limits::Limits;
pub use parity::is_odd;
pub use valence::{implicit_hydrogens, is_kekulised_with_written_double_bond, is_valence_allowed, valences};
pub use workspace::{CanonicalResult, canonicalise};
