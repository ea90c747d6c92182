//! Properties of a molecule by which chemists choose, and structural alerts, as RDKit defines them.
//!
//! The folder imports `molecules` and `templates`; nothing else of this package imports it.

pub(crate) mod alerts;
pub(crate) mod property;
