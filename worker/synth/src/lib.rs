//! Retrosynthesis: from a target molecule to validated, priced-out routes of purchasable building blocks.
//!
//! [`RetroModel`] says which reaction templates are worth trying on a molecule, [`Catalogue`] which molecules
//! can be bought, and a [`Planner`] searches an AND/OR graph between the two until a [`Budget`] is spent. The
//! answer is a [`Plan`]: validated routes, grouped by backbone. Everything here is synchronous, does no I/O
//! but for [`RetroModel::load`], and gives, on one core, the same plan for the same inputs and number of
//! expansions.

mod algorithm;
mod assess;
mod backbone;
mod catalogue;
mod cores;
mod dense;
mod error;
mod expander;
mod explain;
mod extract;
mod graph;
mod group;
mod hash;
mod library;
mod model;
mod nearest;
mod plan;
mod planner;
mod plausibility;
mod policy;
mod precedents;
mod price;
mod proposals;
mod rank;
mod reading;
mod records;
mod reference;
mod search;
mod task;
mod tensors;
mod update;
mod validate;

pub use algorithm::{Algorithm, UnknownAlgorithm};
pub use catalogue::{BlockIndex, Catalogue, CatalogueRow, Masks, REGIONS, Region};
pub use error::ModelError;
pub use explain::{ProposedBy, StepFault, explain};
pub use library::Library;
pub use model::RetroModel;
pub use plan::{BackboneGroup, Counts, Plan, Refusals, Route, RouteNode, Step, Timings, Warning};
pub use planner::{Planner, Settings};
pub use policy::ReferencePolicy;
pub use proposals::{Precursors, proposals};
pub use reactivity::{Category, ReactionClass};
pub use records::{Records, Role};
pub use reference::ReferenceJudge;
pub use search::plan;
pub use task::{Budget, GroupOrder, Stop, Task, Trivial};
