//! What becomes of a flask: changes as models see them, and all that a library of templates makes of what is in it.
//!
//! `sketch` is imported by `change`, both by `outcomes`; the folder imports `templates`, `molecules` and `graph`, and nobody
//! imports it.

pub(crate) mod change;
pub(crate) mod outcomes;
pub(crate) mod sketch;
