//! Where a side of a template matches: patterns and molecules as masks of bits, and the search.
//!
//! `masks` is imported by `query` (patterns) and `target` (molecules), these by `matcher`; nothing here knows what a
//! template does to its match.

pub(crate) mod masks;
pub(crate) mod matcher;
pub(crate) mod query;
pub(crate) mod target;
