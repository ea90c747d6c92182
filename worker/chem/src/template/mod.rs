//! Reaction templates, applied backwards (retrosynthesis) and forwards (validation).
//!
//! A template is written product side first, `product>>precursors`, as rdchiral extracts them. Both sides are
//! grouped in parentheses when applied: without that, a ring-opening disconnection is matched and split as if
//! its two halves were separate molecules.

mod apply;
mod demand;
mod digests;
mod draft;
mod duplicates;
mod engine;
mod fast;
mod forward;
mod graph;
mod index;
mod judge;
mod masks;
mod matcher;
mod outcome;
mod outcomes;
mod parts;
mod query;
mod screen;
mod script;
mod script_stereo;
mod site;
mod target;
mod template;
#[cfg(test)]
mod tests;
mod text;
mod valence;

pub(crate) use draft::Draft;
pub use index::TemplateIndex;
pub(crate) use masks::{AROMATIC_BOND, Atom, SINGLE};
pub(crate) use matcher::matches;
pub use outcome::{Outcome, Precursor};
pub use outcomes::OutcomeIndex;
pub(crate) use parts::Parts;
pub(crate) use query::Query;
pub use site::{Match, Matches, Site};
pub(crate) use target::Target;
pub use template::Template;
