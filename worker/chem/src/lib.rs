//! Molecules, fingerprints, substructure patterns and reaction templates, compatible with RDKit.
//!
//! The main decision: the chemistry is `chematic`'s port of RDKit, and this crate adds what a service needs around
//! it. That is: strict input checks before any parser runs; errors with positions; matching cheap enough to try every
//! template on every molecule; template outcomes with the origin of each atom; and a fast path to the canonical
//! SMILES of ordinary molecules. No I/O, no async, and no global state except buffers that each thread reuses.
//!
//! Folders, each depending on those before it: `smiles`, `graph`, `molecules`, `patterns`, then `standardise` and `drawing`,
//! and `templates`, `mixture`, `properties`, `decoration`. The README beside `src` says which of two implementations is
//! authoritative for what.

mod decoration;
mod drawing;
mod error;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod graph;
mod mixture;
mod molecules;
mod patterns;
mod properties;
mod smiles;
mod standardise;
mod table;
mod templates;

pub use chem_fast::{Limits, is_odd, valences};
pub use decoration::{
    open::OpenMolecule,
    part::{Part, PartError},
};
pub use drawing::{Drawing, drawing, drawing_to_scale, molfile};
pub use error::{SmilesError, TemplateError};
pub use mixture::{
    change::{Change, ReactionMixture},
    outcomes::OutcomeIndex,
};
pub use molecules::{
    bytes::block,
    fingerprint::Fingerprint,
    key::{MoleculeKey, TautomerKey, TautomerSkeleton},
    mapped::{MappedMolecule, UnknownAtom},
    molecule::Molecule,
    molfile::{MolfileError, MolfileStructure, read_molfile, smiles_of_molfile},
    structure::{Atom, Bond, Centre, Order, Structure},
};
pub use properties::{
    alerts::AlertSet,
    descriptors::{Descriptors, scaffold},
    property::{Properties, Property},
};
pub use smiles::{
    extension::has_unknown_configuration,
    skeleton::{SkeletonBond, SmilesSkeleton},
    tokens::{Token, tokens},
};
pub use standardise::parent::Parent;
pub use table::{Table, TableError};
pub use templates::{
    edit::parts::Precursor,
    index::TemplateIndex,
    isotopes::IsotopeLabels,
    outcome::Outcome,
    pattern::Pattern,
    prepared::PreparedMolecule,
    site::{Match, Matches, Site},
    template::Template,
};
