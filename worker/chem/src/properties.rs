//! Properties of a molecule by which chemists choose, and structural alerts, as RDKit defines them.
//!
//! The numbers are those of chematic's ports, but for the synthetic accessibility score. The folder imports
//! `molecules`, `patterns` and `templates`; nothing else of this package imports it.

pub(crate) mod alerts;
pub(crate) mod descriptors;
mod fragment_scores;
pub(crate) mod property;
mod sa_score;
