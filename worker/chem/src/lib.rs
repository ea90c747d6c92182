//! Molecules, fingerprints, substructure patterns and reaction templates, as RDKit has them.
//!
//! The decision that matters: the chemistry is `chematic`'s port of RDKit, and what this crate adds is what a
//! service needs around it: strict input checks before any parser runs, errors that carry positions, matching
//! that is cheap enough to try every template on every molecule, template outcomes that say where each atom came
//! from, and a short way to the canonical SMILES of ordinary molecules. No I/O, no async, and nothing global but
//! room that each thread uses again.

mod change;
mod colours;
mod correspondence;
mod descriptors;
mod drawing;
mod error;
mod fingerprint;
mod index;
mod key;
mod limits;
mod molecule;
mod morgan;
mod neutral;
mod ordinary;
mod parent;
mod parity;
mod pattern;
mod prepared;
mod rings;
mod sketch;
mod stereo;
mod structure;
mod syntax;
mod tautomer;
mod template;

pub use change::{Change, Flask};
pub use descriptors::{Descriptors, scaffold};
pub use drawing::drawing;
pub use error::{SmilesError, TemplateError};
pub use fingerprint::Fingerprint;
pub use key::{Key, Skeleton, TautomerKey};
pub use limits::Limits;
pub use molecule::Molecule;
pub use parent::Parent;
pub use parity::is_odd;
pub use pattern::Pattern;
pub use prepared::PreparedMolecule;
pub use structure::{Atom, Bond, Centre, Order, Structure};
pub use template::{Match, Matches, Outcome, OutcomeIndex, Precursor, Site, Template, TemplateIndex};
