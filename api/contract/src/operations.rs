//! What operators see of an installation: the bodies under `/operations/v1`.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An installation at one moment. Lists are bounded; how many there are of what a list may have too few of is said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OperationsState {
    /// When it was so, by the database's clock, as all times here.
    pub at: DateTime<Utc>,
    /// The queues, in one order always.
    pub queues: Vec<QueueState>,
    /// The worker processes that live or did until a moment ago, by queue and name.
    pub workers: Vec<WorkerState>,
    /// What runs, then what waits, each in the order of its turn; 200 at most.
    pub jobs: Vec<JobInFlight>,
    /// How many jobs are in flight.
    #[schema(minimum = 0)]
    pub jobs_total: i64,
    /// The jobs that ended without what their callers wanted, the last one first; 50 at most.
    pub failures: Vec<FailedJob>,
    /// How many of them are remembered.
    #[schema(minimum = 0)]
    pub failures_total: i64,
    /// The generative models, by id.
    pub reservoirs: Vec<ReservoirState>,
    /// What can be bought.
    pub catalogue: CatalogueState,
}

/// A queue and who works on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct QueueState {
    /// Its name.
    pub queue: String,
    /// Jobs that wait.
    #[schema(minimum = 0)]
    pub waiting: i64,
    /// Jobs that workers have in hand; a few more than `slots` where some of them are quick or guests.
    #[schema(minimum = 0)]
    pub busy: i64,
    /// Jobs that the live workers run at once.
    #[schema(minimum = 0)]
    pub slots: i64,
    /// How long the job waits that has waited longest; 0 where none does.
    pub oldest_wait_seconds: f64,
    /// Since when it is paused, and by whom; `null`: it is not.
    pub paused: Option<QueuePause>,
}

/// An operator's pause: nothing is dealt to workers, and nothing new is taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QueuePause {
    /// When it began.
    pub since: DateTime<Utc>,
    /// Whose account did it.
    pub by: String,
}

/// A worker process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WorkerState {
    /// Its name, another one at every start.
    pub name: String,
    /// The queue that it takes jobs of: its role.
    pub queue: String,
    /// What its machine is called.
    pub host: Option<String>,
    /// When it started.
    pub started_at: DateTime<Utc>,
    /// When it last said that it lives.
    pub last_seen: DateTime<Utc>,
    /// Whether it takes jobs; one that was told to stop, or is silent for some seconds, does not.
    pub live: bool,
    /// Jobs that it runs at once.
    #[schema(minimum = 0)]
    pub slots: i32,
    /// Places beside them, for jobs that lie ready and for accounts that have nothing in hand.
    #[schema(minimum = 0)]
    pub more_places: i32,
    /// The generative models that it serves.
    pub models: Vec<String>,
    /// The jobs that it has in hand.
    pub holds: Vec<String>,
}

/// Whether a worker has a job in hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// None has.
    Waiting,
    /// One has.
    Running,
}

/// A job that somebody waits for, or that an operator has sent on its way again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobInFlight {
    /// Its id.
    pub id: String,
    /// Its queue.
    pub queue: String,
    /// Whose it is: an e-mail address, or the id of an account that has gone.
    pub account: String,
    /// What jobs it takes as long as.
    pub kind: String,
    /// The generative model that it needs.
    pub model_id: Option<String>,
    /// Whether a worker has it in hand.
    pub state: JobState,
    /// How often it was begun.
    #[schema(minimum = 0)]
    pub attempts: i32,
    /// When it was submitted, or sent on its way again.
    pub enqueued_at: DateTime<Utc>,
    /// When its last attempt began.
    pub started_at: Option<DateTime<Utc>>,
    /// Until when somebody waits for it.
    pub deadline: DateTime<Utc>,
    /// The worker that has it in hand.
    pub worker: Option<String>,
}

/// A job that ended without what its caller wanted; one that its caller left is not among these.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FailedJob {
    /// Its id.
    pub id: String,
    /// Its queue.
    pub queue: String,
    /// Whose it was: an e-mail address, or the id of an account that has gone.
    pub account: String,
    /// The generative model that it needed.
    pub model_id: Option<String>,
    /// How often it was begun.
    #[schema(minimum = 0)]
    pub attempts: i32,
    /// When it ended.
    pub failed_at: DateTime<Utc>,
    /// What became of it, for programs: `abandoned`, `deadline_passed`, `cancelled_by_operator` …
    pub problem: String,
    /// The same for people, with the last attempt's error or the operator who cancelled it.
    pub error: String,
}

/// What lies ready of a generative model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReservoirState {
    /// The model.
    pub model_id: String,
    /// Molecules that lie ready.
    #[schema(minimum = 0)]
    pub ready: i64,
    /// How many samplers keep ready; `null` where none says so, or no live one serves the model.
    #[schema(minimum = 0)]
    pub target: Option<i64>,
}

/// The catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CatalogueState {
    /// A number that rises with every import.
    pub version: i64,
    /// Molecules that can be bought.
    #[schema(minimum = 0)]
    pub building_blocks: i64,
    /// Vendors' offers for them.
    #[schema(minimum = 0)]
    pub offers: i64,
    /// When it was last changed; `null`: before this was kept, or never.
    pub imported_at: Option<DateTime<Utc>>,
}
