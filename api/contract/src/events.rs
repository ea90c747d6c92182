//! Events that a streamed tree search or plan sends before its answer. An addition to the contract.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{ErrorItem, RouteGraph};

/// `event: progress`: the progress of a search. At most four a second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SearchProgress {
    /// Seconds searched so far.
    #[schema(minimum = 0)]
    pub seconds: f64,
    /// Batches of templates applied.
    pub expansions: u64,
    /// Molecules in the search graph.
    pub molecules: u64,
    /// Greatest number of steps from the target to a molecule that templates were tried on.
    pub depth: u32,
    /// Routes sent so far.
    pub routes: u64,
    /// Lowest cost of those routes; null before the first.
    pub best_cost: Option<f64>,
}

/// `event: route`: a validated route, sent once, when it is found. Some routes are found only while the answer is
/// assembled, and come with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FoundRoute {
    /// The route as in an answer, without the data that depends on the answer's other routes and offers. Its rank is
    /// among the routes sent so far. The stream of a plan has the shape of an engine's answer, with reactions as
    /// nodes.
    pub route: RouteGraph,
    /// Second key of the route in the answer's `route_hierarchy`.
    pub backbone: String,
    /// Reaction steps of the longest branch.
    pub steps: u32,
}

/// One event of a stream, as clients of server-sent events receive it (WHATWG HTML, 9.2). Its data is described by
/// the schema of its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StreamEvent {
    /// Id to resume after, sent as `Last-Event-ID`: a whole number that rises.
    #[schema(required = false)]
    pub id: String,
    /// `progress`, `route`, `answer` or `problem`; the last two end the stream.
    #[schema(pattern = "^(progress|route|answer|problem)$")]
    pub event: String,
    /// JSON in one line.
    pub data: String,
    /// Milliseconds after which to reconnect to a stream that broke off.
    #[schema(required = false)]
    pub retry: u32,
}

/// `event: problem`: the reason why there is no answer, as the operation without a stream would report it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StreamProblem {
    /// Status code of the operation without a stream.
    #[schema(minimum = 400, maximum = 599)]
    pub status: u16,
    /// Error details; null where the operation's body would be null.
    pub detail: Option<Vec<ErrorItem>>,
}
