//! Retrosynthesis: from a target molecule to validated, priced routes from purchasable building blocks.
//!
//! [`RetroModel`] says which reaction templates are worth trying on a molecule, [`Stock`](catalogue::Stock) which
//! molecules can be bought. A [`Planner`] searches an AND/OR graph between the two until a [`Budget`] is spent. The
//! result is a [`SearchResult`]: validated routes, grouped by backbone. Everything here is synchronous, does no I/O except
//! for [`RetroModel::load`], and gives, on one core, the same result for the same inputs and number of expansions.
//!
//! A folder imports those above it, never those below:
//!
//! | | |
//! |---|---|
//! | `model/` | contents of a model directory: templates, the policy network, the plausibility model, precedents, records |
//! | `constraints.rs`, `priority.rs`, `task.rs`, `plan.rs`, `events.rs`, `route.rs`, `shared_graph.rs`, `cores.rs` | constraints on routes, the priority scheduler, the search task, the search result, progress events, a route as a graph, data shared by routes, and the cores |
//! | `graph/` | the AND/OR graph, template results of a molecule, propagation of costs |
//! | `steps/` | a single step: assessed, validated, explained |
//! | `routes/` | routes out of the graph: extraction, order, groups, prices |
//! | `search/` | the search: selection of the next molecule, and data shared by searches |

mod constraints;
mod cores;
mod events;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod graph;
mod model;
mod priority;
mod route;
mod routes;
mod search;
mod search_result;
mod shared_graph;
mod steps;
mod task;

pub use constraints::{
    ConstraintEffect, ConstraintKind, ConstraintRef, Constraints, ProtectingGroups, ResultWithout, TargetBond,
};
pub use events::{EventPacing, Listener, Progress, PublishedRoute, SearchEvent};
pub use model::RetroModel;
pub use model::error::ModelError;
pub use model::library::TemplateLibrary;
pub use model::plausibility::reference::ReferencePlausibilityModel;
pub use model::policy::ReferencePolicy;
pub use model::precedents::PrecedentSimilarity;
pub use model::reactants::ReactantCounts;
pub use model::records::RecordedReactions;
pub use priority::{SearchPriority, SearchUrgency};
pub use reactivity::{Category, ComponentRole, ReactionClass, StereoSource};
pub use route::RouteGraph;
pub use search::algorithm::{Algorithm, UnknownAlgorithm};
pub use search::batch::{BatchLimits, BatchResult};
pub use search::entry::plan;
pub use search::planner::{Planner, PlannerSettings};
pub use search_result::{
    BackboneGroup, Counts, Refusals, Route, RouteNode, RouteStep, SearchResult, Timings, Warning,
};
pub use shared_graph::SharedGraph;
pub use steps::explain::{ProposedBy, StepFault, explain};
pub use steps::forward::{ForwardFailure, ForwardProduct, KnownStep};
pub use steps::one_step::{Check, PrecursorSet};
pub use steps::order::SetFeatures;
pub use steps::proposals::{Precursors, proposals};
pub use task::{Budget, GroupOrder, Stop, TargetPurchase, Task};
