//! Background duties of a worker process: heartbeats, leases on its jobs, and sweeps.

use std::{sync::Arc, time::Duration};

use database::Background;
use sqlx::PgPool;
use tokio::{sync::Notify, time::MissedTickBehavior};
use tracing::{debug, info, warn};

use crate::{
    config::{CALLER_DEAD_AFTER, WorkerConfig},
    events,
    liveness::{self, LeaderLease, LeaderLeaseTiming},
    retention::BatchedDeletion,
    run::RunningJobs,
    store,
};

/// Longest time that such a duty waits for the database; shorter than a lease.
pub(crate) const STATEMENT_TIMEOUT: Duration = Duration::from_secs(3);

/// Silence that shows a failure of the database and not of single processes: shorter than that after which a caller's
/// process is dead, longer than the time between two leader leases.
const SHARED_SILENCE: Duration = Duration::from_secs(2);

/// Timeout of a sweep, which may delete any number of rows.
const SWEEPING: Duration = Duration::from_secs(60);

/// Interval between sweeps.
const SWEEP: Duration = Duration::from_secs(60);

/// Pause before a failed heartbeat is retried.
const AFTER_FAILED_BEAT: Duration = Duration::from_millis(500);

/// A live process, as the database sees it.
#[derive(Debug, Clone)]
pub(crate) struct WorkerProcess {
    pub(crate) pool: PgPool,
    pub(crate) name: String,
    pub(crate) queue: &'static str,
    /// Host name of its machine, if known.
    pub(crate) host: Option<String>,
    pub(crate) config: WorkerConfig,
    pub(crate) running: Arc<RunningJobs>,
    /// Signalled when the database did not answer in time, so that other waits for it start again.
    pub(crate) database_timed_out: Arc<Notify>,
}

impl WorkerProcess {
    /// Returns the timing of the leader lease: slightly shorter than a heartbeat, since otherwise every other
    /// heartbeat would come too early for it.
    fn lease_timing(&self) -> LeaderLeaseTiming {
        LeaderLeaseTiming { pause: self.config.heartbeat_interval.mul_f64(0.9), silence: SHARED_SILENCE }
    }

    /// Sends one heartbeat: the process takes jobs. Returns true if the leader lease is due.
    pub(crate) async fn heartbeat(&self) -> Result<bool, sqlx::Error> {
        let count = |slots: usize| i32::try_from(slots).unwrap_or(i32::MAX);
        let models = self.config.models.borrow().clone();
        let ready = self.config.ready.borrow().clone();
        let alive = liveness::Heartbeat {
            name: &self.name,
            queue: self.queue,
            slots: count(self.config.slots),
            ready_places: count(self.config.ready_places),
            reserved_slots: count(self.config.reserved_slots),
            lease: self.config.lease(),
            connections: i32::try_from(self.config.process_connections).unwrap_or(i32::MAX),
            models: &models,
            ready: &ready,
            ready_target: i64::try_from(self.config.ready_target).unwrap_or(i64::MAX),
            host: self.host.as_deref(),
        };
        liveness::heartbeat(&self.pool, alive, self.lease_timing()).await
    }

    /// Renews the leases of the jobs that run here, stops those that need not continue, and tells the others if
    /// somebody watches.
    async fn hold(&self) -> Result<(), sqlx::Error> {
        let running = self.running.attempts();
        if running.is_empty() {
            return Ok(());
        }
        let held = store::hold(&self.pool, &self.name, &running, self.config.lease()).await?;
        self.running.apply_states(&held);
        Ok(())
    }

    /// Reaps dead processes under the leader lease, which one process holds for all: cancels jobs without a waiting
    /// caller and releases jobs whose lease has expired. If all processes were silent, the database was down or its
    /// clock has jumped; then every process gets time for a heartbeat first.
    async fn sweep_dead_workers(&self) -> Result<(), sqlx::Error> {
        match liveness::take_lease(&self.pool, self.queue, self.lease_timing()).await? {
            LeaderLease::Ours => {}
            LeaderLease::NotOurs => return Ok(()),
            LeaderLease::AfterSilence => {
                info!(
                    "no process has held the leader lease for a while; all get time for a heartbeat before any counts as dead"
                );
                return Ok(());
            }
            LeaderLease::ClockWentBack => {
                warn!("the database's clock was set back");
                return liveness::repair_future_times(&self.pool, self.queue, self.config.lease()).await;
            }
        }
        let jobs = liveness::cancel_of_the_dead(&self.pool, self.queue, CALLER_DEAD_AFTER).await?;
        if jobs > 0 {
            info!(jobs, "cancelled: the process that waited for them is gone");
        }
        let unwatched = events::unwatched(&self.pool, self.queue).await?;
        if !unwatched.is_empty() {
            store::cancel(&self.pool, &unwatched).await?;
            info!(jobs = unwatched.len(), "cancelled: they have no subscribers any more");
        }
        if store::release_expired(&self.pool, self.queue).await? {
            warn!("jobs of a silent worker wait again or have ended");
        }
        Ok(())
    }

    /// Sends heartbeats until dropped, one statement a second for each process. A process that learns that the leader
    /// lease is due asks for it.
    pub(crate) fn heartbeats(&self) -> Background {
        let heartbeat = |process: Arc<Self>| async move {
            if process.heartbeat().await? {
                process.sweep_dead_workers().await?;
            }
            Ok(())
        };
        self.every_beat("saying that this worker lives", heartbeat)
    }

    /// Renews the leases of running jobs until dropped; continues while the process drains.
    pub(crate) fn holds(&self) -> Background {
        let hold = |process: Arc<Self>| async move { process.hold().await };
        self.every_beat("holding the running jobs", hold)
    }

    fn every_beat<F>(
        &self,
        name: &'static str,
        act: impl Fn(Arc<Self>) -> F + Send + Sync + 'static,
    ) -> Background
    where
        F: Future<Output = Result<(), sqlx::Error>> + Send,
    {
        let (process, act) = (Arc::new(self.clone()), Arc::new(act));
        Background::supervise(name, move || {
            let (process, act) = (Arc::clone(&process), Arc::clone(&act));
            async move {
                loop {
                    let acted = tokio::time::timeout(STATEMENT_TIMEOUT, act(Arc::clone(&process))).await;
                    let pause = match acted {
                        Ok(Ok(())) => process.config.heartbeat_interval,
                        Ok(Err(error)) => {
                            warn!("{name} failed: {error}");
                            AFTER_FAILED_BEAT.min(process.config.heartbeat_interval)
                        }
                        Err(_) => {
                            warn!("{name} failed: the database has not answered for {STATEMENT_TIMEOUT:?}");
                            process.database_timed_out.notify_one();
                            AFTER_FAILED_BEAT.min(process.config.heartbeat_interval)
                        }
                    };
                    tokio::time::sleep(pause).await;
                }
            }
        })
    }

    /// Sweeps until dropped.
    pub(crate) fn sweeps(&self) -> Background {
        let process = self.clone();
        Background::supervise("sweeping the queue", move || {
            let process = process.clone();
            async move {
                let mut ticks = tokio::time::interval(SWEEP.min(process.config.keep_finished));
                ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
                loop {
                    ticks.tick().await;
                    match database::within(SWEEPING, process.sweep()).await {
                        Ok(0) => {}
                        Ok(rows) => debug!(rows, "swept"),
                        Err(error) => warn!("could not sweep: {error}"),
                    }
                }
            }
        })
    }

    async fn sweep(&self) -> Result<u64, sqlx::Error> {
        let max_age = self.config.keep_finished;
        let what = format!("{} jobs", self.queue);
        let mut sweep = BatchedDeletion::begin(&self.pool, &what, Some(max_age)).await?;
        while let Some(mut transaction) = sweep.begin_batch().await? {
            let rows = store::sweep_jobs(&mut transaction, self.queue, max_age).await?;
            sweep.end(transaction, rows).await?;
        }
        let mut rows = sweep.deleted();
        rows += store::sweep_tasks(&self.pool, self.queue, max_age).await?;
        rows += liveness::sweep_workers(&self.pool).await?;
        rows += events::sweep(&self.pool).await?;
        rows += liveness::sweep_apalis_workers(&self.pool, max_age).await?;
        Ok(rows)
    }
}
