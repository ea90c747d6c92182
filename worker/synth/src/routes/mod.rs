//! Routes out of a graph that has grown: taken out cheapest first, weighed, put in order, sorted into groups and written
//! down. [`reading`] goes through all of it; it stands on the graph and the steps, and the search stands on it.

pub mod backbone;
pub mod choices;
pub mod extract;
pub mod group;
mod hash;
pub mod price;
pub mod rank;
pub mod reading;
