//! Retrosynthesis: from a target molecule to validated, priced routes from purchasable building blocks.
//!
//! [`RetroModel`] says which reaction templates are worth trying on a molecule, [`Stock`](catalogue::Stock) which
//! molecules can be bought. A [`Planner`] searches an AND/OR graph between the two until a [`Budget`] is spent. The
//! result is a [`Plan`]: validated routes, grouped by backbone. Everything here is synchronous, does no I/O except
//! for [`RetroModel::load`], and gives, on one core, the same result for the same inputs and number of expansions.
//!
//! A folder imports those above it, never those below:
//!
//! | | |
//! |---|---|
//! | `model/` | contents of a model directory: templates, the policy network, the plausibility model, precedents, records |
//! | `constraints.rs`, `turns.rs`, `task.rs`, `plan.rs`, `news.rs`, `route.rs`, `shared.rs`, `cores.rs` | constraints on routes, the priority scheduler, the search task, the search result, progress events, a route as a graph, data shared by routes, and the cores |
//! | `graph/` | the AND/OR graph, template results of a molecule, propagation of costs |
//! | `steps/` | a single step: assessed, validated, explained |
//! | `routes/` | routes out of the graph: extraction, order, groups, prices |
//! | `search/` | the search: selection of the next molecule, and data shared by searches |

mod constraints;
mod cores;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod graph;
mod model;
mod news;
mod plan;
mod route;
mod routes;
mod search;
mod shared;
mod steps;
mod task;
mod turns;

pub use constraints::{Alone, Constraints, Kind, ProtectingGroups, Rule, TargetBond, Verdict};
pub use model::RetroModel;
pub use model::error::ModelError;
pub use model::judge::reference::ReferenceJudge;
pub use model::library::Library;
pub use model::policy::ReferencePolicy;
pub use model::precedents::Nearness;
pub use model::records::{Records, Role};
pub use news::{FoundRoute, Listener, News, Pace, Progress};
pub use plan::{BackboneGroup, Counts, Plan, Refusals, Route, RouteNode, Step, Timings, Warning};
pub use reactivity::{Category, ReactionClass};
pub use route::RouteGraph;
pub use search::algorithm::{Algorithm, UnknownAlgorithm};
pub use search::entry::plan;
pub use search::many::{Allowance, Done};
pub use search::planner::{Planner, Settings};
pub use shared::SharedGraph;
pub use steps::explain::{ProposedBy, StepFault, explain};
pub use steps::forwards::{KnownStep, Made, NotMade};
pub use steps::one_step::{Check, PrecursorSet};
pub use steps::proposals::{Precursors, proposals};
pub use task::{Budget, GroupOrder, Stop, Task, Trivial};
pub use turns::{Turn, Urgency};
