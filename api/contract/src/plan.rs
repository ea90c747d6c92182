//! Bodies of the asynchronous tree searches: plans, and batches of them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    EngineAnswer, RouteFigures, RouteGraph, TreeSearchRequest, TreeSearchResult, sample::ListObject,
};

/// The most targets of one batch.
pub const MAX_BATCH: usize = 100_000;

/// Body of `POST /synth-batches/v1/plans`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanRequest {
    /// What is searched for, and by which engine.
    pub parameters: PlanParameters,
    /// Optional name of the plan.
    #[schema(max_length = 255, pattern = r"^[^\x00]*$", nullable)]
    pub name: Option<String>,
    /// Optional description of the plan.
    #[schema(max_length = 4000, pattern = r"^[^\x00]*$", nullable)]
    pub description: Option<String>,
    /// Id of a search that the account asked for as a stream, as its `Content-Location` has it, with just these parameters: what it found
    /// is the plan's result, and nothing is searched for again. Good until some minutes after the search's end.
    #[schema(min_length = 1, max_length = 255, pattern = r"^\w+$", nullable)]
    pub search_id: Option<String>,
}

/// A tree search request, and the engine that is to do it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PlanParameters {
    /// As for a tree search that is waited for; `max_seconds` are the search's own, however long it stands aside for others.
    #[serde(flatten)]
    pub request: TreeSearchRequest,
    /// The engine, one of those that live searchers serve; by default the first of them.
    #[schema(pattern = r"^\w+$", required = false)]
    pub engine: String,
}

/// How a plan stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// It waits for its turn.
    Pending,
    /// A searcher works on it.
    Processing,
    /// There is a result.
    Completed,
    /// There is none, and will be none; `error` says why.
    Failed,
    /// Somebody cancelled it.
    Cancelled,
    /// Its batch was deleted; no plan is shown any more then.
    Archived,
}

/// A tree search that nobody waits for.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Plan {
    /// Unique resource identifier.
    #[schema(pattern = r"^\w+$")]
    pub id: String,
    /// Resource type: `plan`.
    #[schema(value_type = String, pattern = r"^\w+$")]
    pub object: PlanObject,
    /// When it was asked for.
    pub created_at: DateTime<Utc>,
    /// When it last changed.
    pub updated_at: DateTime<Utc>,
    /// The batch that it belongs to, if any.
    pub batch_id: Option<String>,
    /// How it stands.
    pub status: PlanStatus,
    /// What is searched for.
    pub parameters: PlanParameters,
    /// Its name.
    pub name: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// What was found, once it is completed; null in lists.
    pub result: Option<EngineAnswer>,
    /// What the result is like, in lists too; null until it is completed, and where an earlier release completed it.
    pub figures: Option<PlanFigures>,
    /// Why there is no result, where it failed.
    pub error: Option<String>,
}

/// What came of a plan, in figures: those of its best route, null where there is none or where they are not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlanFigures {
    /// How many routes its result has.
    pub routes: u32,
    /// The reactions of the best one.
    pub steps: Option<u32>,
    /// US dollars for what it orders.
    pub price_usd: Option<f64>,
    /// Days until all of its blocks are there.
    pub lead_time_days: Option<f64>,
    /// The product of its steps' plausibilities.
    #[schema(minimum = 0, maximum = 1)]
    pub plausibility: Option<f64>,
}

impl PlanFigures {
    /// The figures of `result`.
    #[must_use]
    pub fn of(result: &TreeSearchResult) -> Self {
        let routes = result.route_hierarchy.values().flat_map(|groups| groups.values()).flatten().flatten();
        let rank = |route: &&RouteGraph| route.graph.as_ref().map_or(u32::MAX, |standing| standing.rank);
        let best = routes.clone().min_by_key(rank).map(RouteFigures::of);
        Self {
            routes: u32::try_from(routes.count()).unwrap_or(u32::MAX),
            steps: best.map(|best| best.steps),
            price_usd: best.and_then(|best| best.price_usd),
            lead_time_days: best.and_then(|best| best.lead_time_days),
            plausibility: best.and_then(|best| best.plausibility),
        }
    }

    /// The same without what rests on offers.
    #[must_use]
    pub const fn without_offers(self) -> Self {
        Self { price_usd: None, lead_time_days: None, ..self }
    }
}

/// The word `plan`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanObject {
    /// The only value.
    #[default]
    Plan,
}

/// Body of `POST /synth-batches/v1/batches`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchRequest {
    /// SMILES of the targets, each as for a tree search. Those that are the same molecule are searched for once.
    #[schema(min_items = 1, max_items = 100_000)]
    pub smiles: Vec<String>,
    /// What each of the targets is called, in their order, null for one that has no name; each is the `name` of its plan.
    #[schema(min_items = 1, max_items = 100_000, value_type = Option<Vec<Option<String>>>, nullable)]
    pub names: Option<Vec<Option<String>>>,
    /// What each is searched for with.
    pub parameters: BatchParameters,
    /// Optional name of the batch.
    #[schema(max_length = 255, pattern = r"^[^\x00]*$", nullable)]
    pub name: Option<String>,
    /// Optional description of the batch.
    #[schema(max_length = 4000, pattern = r"^[^\x00]*$", nullable)]
    pub description: Option<String>,
}

/// A tree search request without its target, and the engine that is to do it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct BatchParameters {
    /// As for a tree search.
    #[serde(flatten)]
    pub request: TreeSearchRequest,
    /// The engine, one of those that live searchers serve; by default the first of them.
    #[schema(pattern = r"^\w+$", required = false)]
    pub engine: String,
}

/// Targets that were asked for together, each with a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Batch {
    /// Unique resource identifier.
    #[schema(pattern = r"^\w+$")]
    pub id: String,
    /// Resource type: `batch`.
    #[schema(value_type = String, pattern = r"^\w+$")]
    pub object: BatchObject,
    /// When it was asked for.
    pub created_at: DateTime<Utc>,
    /// When it, or a plan of it, last changed.
    pub updated_at: DateTime<Utc>,
    /// Its name.
    pub name: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// How many plans it has, one a target.
    #[schema(minimum = 1, maximum = 100_000)]
    pub plan_count: i32,
    /// Whether all of its plans are stored: always true.
    pub plans_created: bool,
    /// How far it has come; absent in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<BatchProgress>,
}

/// How many plans of a batch stand how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BatchProgress {
    /// Plans that wait for their turn.
    pub pending: i64,
    /// Plans that searchers work on.
    pub processing: i64,
    /// Plans with a result.
    pub completed: i64,
    /// Plans without one.
    pub failed: i64,
    /// Plans that were cancelled.
    pub cancelled: i64,
    /// Seconds until the last plan has ended, at the pace since the first ended; null where none has.
    pub seconds_left: Option<f64>,
}

/// The word `batch`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum BatchObject {
    /// The only value.
    #[default]
    Batch,
}

/// A resource that is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Deleted {
    /// What it was called.
    #[schema(pattern = r"^\w+$")]
    pub id: String,
    /// What it was, such as `plan` or `batch`.
    #[schema(value_type = String, pattern = r"^\w+$")]
    pub object: &'static str,
    /// Always true.
    pub deleted: bool,
}

/// One page of a list, the newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Page<T> {
    /// Resource type: `list`.
    #[schema(value_type = String, pattern = r"^\w+$")]
    pub object: ListObject,
    /// The page; may hold fewer items than `limit` when fewer exist.
    pub items: Vec<T>,
    /// Whether there are older ones.
    pub has_next: bool,
    /// Whether there are newer ones.
    pub has_previous: bool,
}

/// An engine: a retrosynthesis model that live searchers serve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Engine {
    /// Its name.
    pub name: String,
    /// Plans of all accounts that wait for it or are being worked on.
    #[schema(minimum = 0)]
    pub queue_length: i64,
}

/// A library of building blocks: a vendor whose offers searches of the account may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Library {
    /// Its name.
    pub name: String,
}

/// The version that answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Version {
    /// As `retort --version` has it.
    pub version: &'static str,
}
