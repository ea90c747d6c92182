//! Worker process: takes jobs from the queue, computes, stores outcomes.
//!
//! The resources of a job (models, templates, the catalogue) are loaded once and shared; a job does not change them.
//! Compute runs on blocking threads and knows neither queue nor database. A handler maps (job, resources, budget) to
//! an outcome, and `retort-worker replay` runs the same functions by hand. An idle sampler draws molecules ahead,
//! into the reservoir; an idle searcher finds those that can be made.

mod annotations;
mod answer;
mod async_samples;
mod bulk_queries;
mod catalogue;
mod compute;
mod conditions;
pub mod connections;
mod constraints;
mod event_publisher;
mod feed;
mod handlers;
mod makeable;
mod makeable_refill;
pub mod makeable_reservoir;
mod metrics;
mod model_registry;
mod molecule_details;
mod own_blocks;
mod plans;
mod ready_counts;
mod refill;
mod refill_retries;
mod replay;
pub mod reservoir;
mod reservoir_filter;
mod resources;
mod rounding;
mod route_parts;
mod samples;
mod settings;
mod shopping;
mod store;
#[cfg(test)]
mod toy;
mod unoffered_models;

pub use self::catalogue::{CatalogueView, LISTENER, SnapshotLocations};
pub use annotations::Annotation;
pub use answer::{OfferAnnotation, result};
pub use async_samples::feed_orders;
pub use compute::compute;
pub use conditions::{ConditionError, DrawConditions, ExcludedMolecules};
pub use handlers::{
    AsyncSampleHandler, BulkQueryHandler, ComputationOutcome, LikelihoodHandler, PlanHandler, SampleHandler,
    SearchHandler, draw, search,
};
pub use makeable::{RouteChecker, SEARCH_QUEUE_CONNECTIONS};
pub use makeable_refill::{MakeableLevels, refill_makeable};
pub use metrics::{observe_sampler, observe_searcher};
pub use model_registry::ModelRegistry;
pub use plans::feed_plans;
pub use ready_counts::ReadyCounts;
pub use refill::{RunningJobs, refill};
pub use replay::replay;
pub use reservoir_filter::{FilterRequest, ReadyMolecules, lease_filtered};
pub use resources::{ComputeDevice, LoadedModel, Models, load_planner};
pub use samples::CompletedSample;
pub use settings::{Role, WorkerSettings};
pub use store::{SnapshotStore, StoreError};
pub use unoffered_models::forget_orphans;
