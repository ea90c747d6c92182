//! The short way to apply a template: what it does to a match, carried out on flat arrays.
//!
//! A `script` is read once from the two sides; each match of it is written down as a `draft`, which `judge` gives its
//! hydrogens or refuses, and `build` makes molecules of it. Whatever that cannot tell for certain is left to chematic.

pub(crate) mod build;
mod digests;
pub(crate) mod draft;
pub(crate) mod judge;
pub(crate) mod parts;
pub(crate) mod run;
pub(crate) mod script;
mod script_stereo;
