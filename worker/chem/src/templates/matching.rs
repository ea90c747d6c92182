//! Matching of template sides: patterns and molecules as bit masks, and the search.
//!
//! `masks` is imported by `query` (patterns) and `target` (molecules), these by `matcher`. Nothing here knows what a
//! template does to its match.

pub(crate) mod masks;
pub(crate) mod matcher;
pub(crate) mod query;
pub(crate) mod target;
