//! Bodies of asynchronous tree searches: plans, and batches of them.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    EngineAnswer, RouteFigures, RouteGraph, ShapedResult, TreeSearchRequest, TreeSearchResult,
    sample::ListObject,
};

/// Maximum number of targets of one batch.
pub const MAX_BATCH: usize = 100_000;

/// Body of `POST /synth-batches/v1/plans`.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PlanRequest {
    /// Search request and engine.
    pub parameters: PlanParameters,
    /// Optional name of the plan.
    #[schema(max_length = 255, pattern = r"^[^\x00]*$", nullable)]
    pub name: Option<String>,
    /// Optional description of the plan.
    #[schema(max_length = 4000, pattern = r"^[^\x00]*$", nullable)]
    pub description: Option<String>,
    /// Id of a streamed search that the account ran with exactly these parameters, as in its `Content-Location`. Its
    /// result becomes the plan's result, without another search. Valid until some minutes after the end of the
    /// search.
    #[schema(min_length = 1, max_length = 255, pattern = r"^\w+$", nullable)]
    pub search_id: Option<String>,
}

/// A tree search request and the engine that runs it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct PlanParameters {
    /// The search request, as for a synchronous tree search. `max_seconds` counts search time only, not time for
    /// which others preempt the search.
    #[serde(flatten)]
    pub request: TreeSearchRequest,
    /// The engine, one of those that live searchers serve; by default the first of them.
    #[schema(pattern = r"^\w+$", required = false)]
    pub engine: String,
}

/// Status of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
    /// The plan waits in the queue.
    Pending,
    /// A searcher is working on the plan.
    Processing,
    /// There is a result.
    Completed,
    /// There is no result and there will be none; `error` gives the reason.
    Failed,
    /// A user or an operator cancelled the plan.
    Cancelled,
    /// The plan's batch was deleted. Such a plan is no longer shown.
    Archived,
}

/// An asynchronous tree search.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Plan {
    /// Unique resource identifier.
    #[schema(pattern = r"^\w+$")]
    pub id: String,
    /// Resource type: `plan`.
    #[schema(value_type = String, pattern = r"^\w+$")]
    pub object: PlanObject,
    /// Time of the request.
    pub created_at: DateTime<Utc>,
    /// Time of the last change.
    pub updated_at: DateTime<Utc>,
    /// Batch of the plan, if any.
    pub batch_id: Option<String>,
    /// Status of the plan.
    pub status: PlanStatus,
    /// Search request and engine.
    pub parameters: PlanParameters,
    /// Name of the plan.
    pub name: Option<String>,
    /// Description of the plan.
    pub description: Option<String>,
    /// Result of the search, once completed; null in lists.
    #[schema(value_type = Option<EngineAnswer>)]
    pub result: Option<ShapedResult>,
    /// Key figures of the result, in lists too; null until completed, and where an earlier release completed it.
    pub figures: Option<PlanFigures>,
    /// Reason of a failure.
    pub error: Option<String>,
}

/// Key figures of a plan's result and its best route; null where there is no route or a figure is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PlanFigures {
    /// Number of routes in the result.
    pub routes: u32,
    /// Number of reactions of the best route.
    pub steps: Option<u32>,
    /// Price of its orders in USD.
    pub price_usd: Option<f64>,
    /// Days until all its building blocks have arrived.
    pub lead_time_days: Option<f64>,
    /// Product of the plausibilities of its steps.
    #[schema(minimum = 0, maximum = 1)]
    pub plausibility: Option<f64>,
}

impl PlanFigures {
    /// Computes the figures of `result`.
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

    /// Returns the figures without those that depend on offers.
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
    /// SMILES of the targets, each as for a tree search. Targets that are the same molecule share one search.
    #[schema(min_items = 1, max_items = 100_000)]
    pub smiles: Vec<String>,
    /// Names of the targets, in their order, null for one without a name; each becomes the `name` of its plan.
    #[schema(min_items = 1, max_items = 100_000, value_type = Option<Vec<Option<String>>>, nullable)]
    pub names: Option<Vec<Option<String>>>,
    /// Search parameters of all targets.
    pub parameters: BatchParameters,
    /// Optional name of the batch.
    #[schema(max_length = 255, pattern = r"^[^\x00]*$", nullable)]
    pub name: Option<String>,
    /// Optional description of the batch.
    #[schema(max_length = 4000, pattern = r"^[^\x00]*$", nullable)]
    pub description: Option<String>,
}

/// A tree search request without its target, and the engine that runs it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct BatchParameters {
    /// As for a tree search.
    #[serde(flatten)]
    pub request: TreeSearchRequest,
    /// The engine, one of those that live searchers serve; by default the first of them.
    #[schema(pattern = r"^\w+$", required = false)]
    pub engine: String,
}

/// Targets that were submitted together, each with a plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Batch {
    /// Unique resource identifier.
    #[schema(pattern = r"^\w+$")]
    pub id: String,
    /// Resource type: `batch`.
    #[schema(value_type = String, pattern = r"^\w+$")]
    pub object: BatchObject,
    /// Time of the request.
    pub created_at: DateTime<Utc>,
    /// Time of the last change of the batch or one of its plans.
    pub updated_at: DateTime<Utc>,
    /// Name of the batch.
    pub name: Option<String>,
    /// Description of the batch.
    pub description: Option<String>,
    /// Number of plans, one a target.
    #[schema(minimum = 1, maximum = 100_000)]
    pub plan_count: i32,
    /// True if all plans are stored: always true.
    pub plans_created: bool,
    /// Progress of the batch; absent in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<BatchProgress>,
}

/// Number of plans of a batch in each status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct BatchProgress {
    /// Plans that wait in the queue.
    pub pending: i64,
    /// Plans that searchers work on.
    pub processing: i64,
    /// Plans with a result.
    pub completed: i64,
    /// Plans that failed.
    pub failed: i64,
    /// Plans that were cancelled.
    pub cancelled: i64,
    /// Estimated seconds until the last plan ends, at the pace since the first one ended; null where none has.
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

/// Confirmation of a deletion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Deleted {
    /// Id of the deleted resource.
    #[schema(pattern = r"^\w+$")]
    pub id: String,
    /// Type of the deleted resource, such as `plan` or `batch`.
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
    /// True if there are older items.
    pub has_next: bool,
    /// True if there are newer items.
    pub has_previous: bool,
}

/// An engine: a retrosynthesis model that live searchers serve.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Engine {
    /// Name of the engine.
    pub name: String,
    /// Plans of all accounts that wait for the engine or that it is working on.
    #[schema(minimum = 0)]
    pub queue_length: i64,
}

/// A library of building blocks: a vendor whose offers searches of the account may use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Library {
    /// Name of the library.
    pub name: String,
}

/// Version of the service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Version {
    /// Version as printed by `retort --version`.
    pub version: &'static str,
}
