//! Operators' view of an installation: the bodies under `/operations/v1`.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// State of an installation at one moment. Lists are bounded; the total is given where a list may be cut off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct OperationsState {
    /// Time of this state, by the database's clock, as all times here.
    pub at: DateTime<Utc>,
    /// The queues, always in the same order.
    pub queues: Vec<QueueState>,
    /// Worker processes that are alive or were until a moment ago, by queue and name.
    pub workers: Vec<WorkerState>,
    /// Running jobs, then waiting ones, each in queue order; 200 at most.
    pub jobs: Vec<JobInFlight>,
    /// Number of jobs in flight.
    #[schema(minimum = 0)]
    pub jobs_total: i64,
    /// Jobs that ended without the result that their callers wanted, the latest first; 50 at most.
    pub failures: Vec<FailedJob>,
    /// Number of such jobs on record.
    #[schema(minimum = 0)]
    pub failures_total: i64,
    /// The generative models, by id.
    pub reservoirs: Vec<ReservoirState>,
    /// Catalogue of building blocks.
    pub catalogue: CatalogueState,
}

/// State of a queue and its workers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct QueueState {
    /// Name of the queue.
    pub queue: String,
    /// Number of waiting jobs.
    #[schema(minimum = 0)]
    pub waiting: i64,
    /// Number of jobs that workers have claimed; it may exceed `slots` by a few quick jobs or jobs in reserved slots.
    #[schema(minimum = 0)]
    pub busy: i64,
    /// Number of jobs that the live workers run at once.
    #[schema(minimum = 0)]
    pub slots: i64,
    /// Waiting time of the job that has waited longest; 0 where none waits.
    pub oldest_wait_seconds: f64,
    /// Start and author of the pause; `null`: not paused.
    pub paused: Option<QueuePause>,
}

/// An operator's pause: workers claim no jobs, and new ones are rejected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct QueuePause {
    /// Start of the pause.
    pub since: DateTime<Utc>,
    /// Account of the operator.
    pub by: String,
}

/// A worker process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WorkerState {
    /// Name of the process, new at every start.
    pub name: String,
    /// Queue that it takes jobs from: its role.
    pub queue: String,
    /// Name of its machine.
    pub host: Option<String>,
    /// Time at which it started.
    pub started_at: DateTime<Utc>,
    /// Time of its last heartbeat.
    pub last_seen: DateTime<Utc>,
    /// True if it takes jobs; false if it is shutting down or has been silent for some seconds.
    pub live: bool,
    /// Jobs that it runs at once.
    #[schema(minimum = 0)]
    pub slots: i32,
    /// Additional slots, for jobs whose answers are ready and for accounts without a running job.
    #[schema(minimum = 0)]
    pub more_places: i32,
    /// The generative models that it serves.
    pub models: Vec<String>,
    /// Ids of the jobs that it has claimed.
    pub holds: Vec<String>,
}

/// State of a job in flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// No worker has claimed the job.
    Waiting,
    /// A worker has claimed the job.
    Running,
}

/// A job with a waiting caller, or one that an operator has requeued.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct JobInFlight {
    /// Id of the job.
    pub id: String,
    /// Queue of the job.
    pub queue: String,
    /// Owner: an e-mail address, or the id of an account that no longer exists.
    pub account: String,
    /// Kind of job; jobs of one kind take similar times.
    pub kind: String,
    /// Required generative model.
    pub model_id: Option<String>,
    /// State of the job.
    pub state: JobState,
    /// Number of attempts begun.
    #[schema(minimum = 0)]
    pub attempts: i32,
    /// Time at which it was submitted or requeued.
    pub enqueued_at: DateTime<Utc>,
    /// Start of its last attempt.
    pub started_at: Option<DateTime<Utc>>,
    /// Time until which the caller waits.
    pub deadline: DateTime<Utc>,
    /// Worker that has claimed it.
    pub worker: Option<String>,
}

/// A job that ended without the result that its caller wanted. Jobs whose callers disconnected are not included.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FailedJob {
    /// Id of the job.
    pub id: String,
    /// Queue of the job.
    pub queue: String,
    /// Owner: an e-mail address, or the id of an account that no longer exists.
    pub account: String,
    /// Required generative model.
    pub model_id: Option<String>,
    /// Number of attempts begun.
    #[schema(minimum = 0)]
    pub attempts: i32,
    /// Time at which it ended.
    pub failed_at: DateTime<Utc>,
    /// Machine-readable reason: `abandoned`, `deadline_passed`, `cancelled_by_operator` …
    pub problem: String,
    /// Human-readable reason, with the last attempt's error or the operator who cancelled the job.
    pub error: String,
}

/// Ready molecules of a generative model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReservoirState {
    /// Id of the model.
    pub model_id: String,
    /// Number of molecules that are ready.
    #[schema(minimum = 0)]
    pub ready: i64,
    /// Number that samplers keep ready; `null` where none reports it or no live one serves the model.
    #[schema(minimum = 0)]
    pub target: Option<i64>,
}

/// State of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CatalogueState {
    /// A number that rises with every import.
    pub version: i64,
    /// Number of molecules that can be bought.
    #[schema(minimum = 0)]
    pub building_blocks: i64,
    /// Number of vendor offers for them.
    #[schema(minimum = 0)]
    pub offers: i64,
    /// Time of its last change; `null`: never changed, or before this was recorded.
    pub imported_at: Option<DateTime<Utc>>,
}
