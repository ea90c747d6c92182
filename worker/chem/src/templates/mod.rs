//! Reaction templates, applied backwards (retrosynthesis) and forwards (validation).
//!
//! A template is written product side first, `product>>precursors`, as rdchiral extracts them. Both sides are
//! grouped in parentheses when applied: without that, a ring-opening disconnection is matched and split as if
//! its two halves were separate molecules.
//!
//! There are two ways to apply one, as there are to read a molecule: `edit` carries its script out on flat arrays, and
//! `engine` has chematic run it, which is the authority. `matching` finds where a side matches, `index` does so for many
//! templates at once. `matching` is imported by `edit`, both by the files here; the folder imports `molecules` and
//! `graph`.

mod apply;
mod demand;
mod duplicates;
pub(crate) mod edit;
mod engine;
mod forward;
pub(crate) mod index;
mod kept;
mod letters;
pub(crate) mod matching;
pub(crate) mod outcome;
pub(crate) mod pattern;
pub(crate) mod prepared;
pub(crate) mod screen;
pub(crate) mod site;
mod stereo;
pub(crate) mod template;
#[cfg(test)]
mod tests;
mod text;
