//! What a stream of a tree search, or of a plan, tells before its answer. An addition to the contract.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{ErrorItem, RouteGraph};

/// `event: progress`: how far a search is. At most four a second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SearchProgress {
    /// Seconds for which it has searched.
    #[schema(minimum = 0)]
    pub seconds: f64,
    /// Batches of templates applied.
    pub expansions: u64,
    /// Molecules in the search graph.
    pub molecules: u64,
    /// Steps from the target of the deepest molecule that templates were tried on.
    pub depth: u32,
    /// Routes told so far.
    pub routes: u64,
    /// The least cost of those, lower is better; null before the first.
    pub best_cost: Option<f64>,
}

/// `event: route`: a validated route, once, when it is found. Some are found only as the answer is put together, and come with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FoundRoute {
    /// The route as an answer has it, without what hangs on the answer's other routes and its offers; its rank is among those told so
    /// far. In the stream of a plan it is as an answer of an engine has it, reactions as nodes.
    pub route: RouteGraph,
    /// Its second key in the answer's `route_hierarchy`.
    pub backbone: String,
    /// Reaction steps of its longest branch.
    pub steps: u32,
}

/// One event of a stream, as what reads server-sent events has it (WHATWG HTML, 9.2); its data is described by its name's own schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StreamEvent {
    /// What to go on after, by `Last-Event-ID`: a whole number, rising.
    #[schema(required = false)]
    pub id: String,
    /// `progress`, `route`, `answer` or `problem`; the last two end the stream.
    #[schema(pattern = "^(progress|route|answer|problem)$")]
    pub event: String,
    /// JSON in one line.
    pub data: String,
    /// Milliseconds after which a stream that broke off is to be gone on with.
    #[schema(required = false)]
    pub retry: u32,
}

/// `event: problem`: why there is no answer, as the operation without a stream would say it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct StreamProblem {
    /// The status code that the operation would have answered with.
    #[schema(minimum = 400, maximum = 599)]
    pub status: u16,
    /// What was wrong; null where the operation's body would be.
    pub detail: Option<Vec<ErrorItem>>,
}
