//! Outcomes of a reaction mixture: changes as features for models, and all products that a library of templates
//! gives.
//!
//! `sketch` is imported by `change`, both by `outcomes`. The folder imports `templates`, `molecules` and `graph`, and
//! no other module imports it.

pub(crate) mod change;
pub(crate) mod mixture_graph;
pub(crate) mod outcomes;
