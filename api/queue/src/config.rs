//! How a worker process takes jobs, and how long it holds them.

use std::{collections::BTreeMap, time::Duration};

use tokio::sync::watch;

use crate::LiveModel;

/// How often a process beats unless it is told otherwise.
const BEAT: Duration = Duration::from_secs(1);

/// Connections beside the jobs' own: two of apalis, the beats, and the sweep.
const BESIDE: u32 = 4;

/// And one that hears of new jobs and of callers that left: past a pooler.
pub const LISTENER: u32 = 1;

/// Beats of this process that fit into a lease on a job.
const BEATS_PER_LEASE: u32 = 5;

/// Silence after which a worker process counts as dead: several beats, so that one late beat on a busy machine turns
/// nobody away.
pub(crate) const DEAD_AFTER: Duration = Duration::from_secs(6 * BEAT.as_secs());

/// How often a process says that callers wait there.
pub(crate) const CALLER_BEAT: Duration = Duration::from_millis(500);

/// Silence after which nobody waits there any more: less than a worker's, since what runs for nobody holds up others.
pub(crate) const CALLER_DEAD_AFTER: Duration = Duration::from_secs(3);

/// Silence after which its row and what it said of its models go. Until then they are not unknown, while it starts again.
pub(crate) const FORGOTTEN_AFTER: Duration = Duration::from_secs(4 * DEAD_AFTER.as_secs());

/// How a worker process takes jobs.
#[derive(Debug, Clone)]
pub struct WorkerConfig {
    /// Jobs run at the same time, as far as admission is told.
    pub slots: usize,
    /// Places beside the slots for jobs whose result lies ready, which wait for the database more than they compute: they never
    /// stand behind what must be made.
    pub ready_places: usize,
    /// Places beside the slots for accounts that have nothing in hand: others' long jobs may have all slots for minutes.
    pub guest_places: usize,
    /// The generative models loaded: jobs that name another are not dealt to this process. They may change while the
    /// worker runs.
    pub models: watch::Receiver<Vec<LiveModel>>,
    /// What lies ready, by model; it may change too.
    pub ready: watch::Receiver<BTreeMap<String, usize>>,
    /// How much of each model the process keeps ready, for those who look; 0: nothing.
    pub ready_target: usize,
    /// How long a job in flight may go on after the shutdown signal.
    pub grace: Duration,
    /// How often the process says that it lives and holds its jobs; five missed beats free a job.
    pub beat: Duration,
    /// How often apalis' worker beats; three missed beats hand its jobs to others. At least a second.
    pub heartbeat: Duration,
    /// How long finished jobs are kept.
    pub keep_finished: Duration,
    /// Connections that the jobs share, for the queue and for their handler each; `None`: one for every job in hand. Jobs that nobody
    /// waits for can wait for one.
    pub connections_of_jobs: Option<u32>,
    /// The connections to the server that the whole process may open, which others are told of; 0: they are not.
    pub process_connections: u32,
}

impl Default for WorkerConfig {
    fn default() -> Self {
        Self {
            slots: 1,
            ready_places: 0,
            guest_places: 0,
            models: watch::channel(Vec::new()).1,
            ready: watch::channel(BTreeMap::new()).1,
            ready_target: 0,
            grace: Duration::from_secs(30),
            beat: BEAT,
            heartbeat: Duration::from_secs(2),
            keep_finished: Duration::from_secs(3600),
            connections_of_jobs: None,
            process_connections: 0,
        }
    }
}

impl WorkerConfig {
    /// How long a job stays this worker's without a beat.
    pub(crate) fn lease(&self) -> Duration {
        self.beat * BEATS_PER_LEASE
    }

    /// The connections that the queue opens for itself, beside those of the pool that the handlers use.
    #[must_use]
    pub fn connections(&self) -> u32 {
        self.job_connections().saturating_add(BESIDE + LISTENER)
    }

    /// The connections that its jobs have for the queue, and as many that they want for themselves.
    #[must_use]
    pub fn job_connections(&self) -> u32 {
        self.connections_of_jobs.unwrap_or_else(|| u32::try_from(self.in_hand()).unwrap_or(u32::MAX))
    }

    /// Jobs that the process may have in hand at the same time.
    #[must_use]
    pub fn in_hand(&self) -> usize {
        self.slots.saturating_add(self.ready_places).saturating_add(self.guest_places)
    }
}
