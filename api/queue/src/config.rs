//! Settings by which a worker process claims jobs and keeps them.

use std::{collections::BTreeMap, time::Duration};

use tokio::sync::watch;

use crate::LiveModel;

/// Default interval between heartbeats.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(1);

/// Connections besides those of the jobs: two for apalis, one for heartbeats, one for sweeps.
const EXTRA_CONNECTIONS: u32 = 4;

/// One more connection, past any pooler, that listens for new jobs and cancellations.
pub const LISTENER_CONNECTIONS: u32 = 1;

/// Heartbeats of this process within the lease on a job.
const HEARTBEATS_PER_LEASE: u32 = 5;

/// Silence after which a worker process counts as dead: several heartbeats, so that one late heartbeat on a busy
/// machine makes no caller be refused.
pub(crate) const DEAD_AFTER: Duration = Duration::from_secs(6 * HEARTBEAT_INTERVAL.as_secs());

/// Interval between heartbeats of a process with waiting callers.
pub(crate) const CALLER_HEARTBEAT_INTERVAL: Duration = Duration::from_millis(500);

/// Silence after which the callers of a process count as gone. Shorter than for a worker, since an abandoned job
/// delays others.
pub(crate) const CALLER_DEAD_AFTER: Duration = Duration::from_secs(3);

/// Silence after which a worker's row and its models are deleted. Until then its models stay known while it restarts.
pub(crate) const DELETED_AFTER: Duration = Duration::from_secs(4 * DEAD_AFTER.as_secs());

/// Settings of a worker process.
#[derive(Debug, Clone)]
pub struct WorkerConfig {
    /// Jobs run at the same time, as admission counts them.
    pub slots: usize,
    /// Slots besides these for jobs with a ready result. Such jobs wait for the database more than they compute, so
    /// they never queue behind jobs that must be computed.
    pub ready_places: usize,
    /// Slots reserved for accounts that have no job running: others' long jobs may fill all normal slots for minutes.
    pub reserved_slots: usize,
    /// Loaded generative models: jobs that name another are not claimed by this process. They may change while the
    /// worker runs.
    pub models: watch::Receiver<Vec<LiveModel>>,
    /// Ready results by model; they may change too.
    pub ready: watch::Receiver<BTreeMap<String, usize>>,
    /// Number of results that the process keeps ready for each model, for display only; 0: none.
    pub ready_target: usize,
    /// Time for which a job in flight may continue after the shutdown signal.
    pub grace: Duration,
    /// Interval at which the process sends heartbeats and renews its leases; five missed ones free a job.
    pub heartbeat_interval: Duration,
    /// Interval of apalis' own heartbeat, at least a second; three missed ones hand its jobs to others.
    pub heartbeat: Duration,
    /// Retention of finished jobs.
    pub keep_finished: Duration,
    /// Connections that the jobs share, once for the queue and once for their handlers; `None`: one for every running
    /// job. Background jobs can wait for one.
    pub connections_of_jobs: Option<u32>,
    /// Connections to the server that the whole process may open, published to other processes; 0: not published.
    pub process_connections: u32,
}

impl Default for WorkerConfig {
    fn default() -> Self {
        Self {
            slots: 1,
            ready_places: 0,
            reserved_slots: 0,
            models: watch::channel(Vec::new()).1,
            ready: watch::channel(BTreeMap::new()).1,
            ready_target: 0,
            grace: Duration::from_secs(30),
            heartbeat_interval: HEARTBEAT_INTERVAL,
            heartbeat: Duration::from_secs(2),
            keep_finished: Duration::from_secs(3600),
            connections_of_jobs: None,
            process_connections: 0,
        }
    }
}

impl WorkerConfig {
    /// Returns the time for which a job stays this worker's without a heartbeat.
    pub(crate) fn lease(&self) -> Duration {
        self.heartbeat_interval * HEARTBEATS_PER_LEASE
    }

    /// Returns the number of connections that the queue opens for itself, besides the pool of the handlers.
    #[must_use]
    pub fn connections(&self) -> u32 {
        self.job_connections().saturating_add(EXTRA_CONNECTIONS + LISTENER_CONNECTIONS)
    }

    /// Returns the number of connections of its jobs for the queue; the handlers need as many of their own.
    #[must_use]
    pub fn job_connections(&self) -> u32 {
        self.connections_of_jobs.unwrap_or_else(|| u32::try_from(self.max_running_jobs()).unwrap_or(u32::MAX))
    }

    /// Returns the largest number of jobs that the process may run at the same time.
    #[must_use]
    pub fn max_running_jobs(&self) -> usize {
        self.slots.saturating_add(self.ready_places).saturating_add(self.reserved_slots)
    }
}
