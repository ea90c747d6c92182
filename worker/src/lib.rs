//! Worker process: takes jobs from the queue, computes, stores outcomes.
//!
//! The resources of a job (models, templates, the catalogue) are loaded once and shared; a job does not change them.
//! Compute runs on blocking threads and knows neither queue nor database. A handler maps (job, resources, budget) to
//! an outcome, and `retort-worker replay` runs the same functions by hand. An idle sampler draws molecules ahead,
//! into the reservoir.

mod answer;
mod catalogue;
mod compute;
pub mod connections;
mod constraints;
mod feed;
mod handlers;
mod looks;
mod metrics;
mod offers;
mod orders;
mod orphans;
mod own;
mod plans;
mod ready;
mod refill;
mod replay;
pub mod reservoir;
mod resources;
mod rounding;
mod samples;
mod settings;
mod shelf;
mod shopping;
mod store;
mod telling;
#[cfg(test)]
mod toy;
mod vendors;

pub use self::catalogue::{CatalogueView, LISTENER, Snapshots};
pub use answer::{Annotation, result};
pub use compute::compute;
pub use handlers::{Ended, Looks, Orders, Plans, Sampling, Search, draw, search};
pub use metrics::{observe_sampler, observe_searcher};
pub use offers::{Offers, OwnStock, offers_for};
pub use orders::feed_orders;
pub use orphans::forget_orphans;
pub use plans::feed_plans;
pub use ready::Ready;
pub use refill::{Activity, refill};
pub use replay::replay;
pub use resources::{Machine, Model, Models, load_planner};
pub use samples::Drawn;
pub use settings::{Role, Settings};
pub use shelf::Shelf;
pub use store::{Store, StoreError};
pub use vendors::{VendorTerms, terms};
