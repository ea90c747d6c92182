//! The fast path of applying a template: its edit of a match, carried out on flat arrays.
//!
//! A `script` is parsed once from the two sides. Each match is written as a `draft`. `validate` sets the hydrogens of
//! the draft or refuses it, and `build` makes molecules of it. Undecided cases are left to chematic.

pub(crate) mod build;
mod digests;
pub(crate) mod draft;
pub(crate) mod parts;
pub(crate) mod run;
pub(crate) mod script;
mod script_stereo;
pub(crate) mod validate;
