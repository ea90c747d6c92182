//! Routes of a grown graph: extracted cheapest first, ranked, grouped and written. [`reading`] runs the whole
//! pipeline. It depends on the graph and the steps; the search depends on it.

pub mod backbone;
pub mod choices;
pub mod collector;
pub mod extract;
pub mod group;
mod hash;
pub mod price;
pub mod rank;
