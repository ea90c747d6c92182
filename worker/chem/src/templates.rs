//! Reaction templates, applied backwards (retrosynthesis) and forwards (validation).
//!
//! A template is written product side first, `product>>precursors`, as rdchiral extracts them. Both sides are grouped
//! in parentheses when applied: without that, a ring-opening disconnection is matched and split as if its two halves
//! were separate molecules.
//!
//! As with parsing molecules, there are two ways to apply a template. `edit` carries out its script on flat arrays
//! (the fast path). `engine` lets chematic run it (the general path), which is the authority. `matching` finds where
//! a side matches, and `index` does so for many templates at once. `matching` is imported by `edit`, and both by the
//! files here. The folder imports `molecules` and `graph`.

mod apply;
mod duplicates;
pub(crate) mod edit;
mod engine;
mod forward;
pub(crate) mod index;
pub(crate) mod isotopes;
mod lazy_slot;
mod letter_screen;
pub(crate) mod matching;
pub(crate) mod outcome;
pub(crate) mod pattern;
pub(crate) mod prepared;
pub(crate) mod screen;
pub(crate) mod site;
mod stereo;
mod stereo_conditions;
pub(crate) mod template;
#[cfg(test)]
mod tests;
mod text;
