//! What a worker process does beside its jobs: it says that it lives, holds its jobs, and sweeps.

use std::{sync::Arc, time::Duration};

use sqlx::PgPool;
use tokio::time::MissedTickBehavior;
use tracing::{debug, info, warn};

use crate::{
    config::{CALLER_DEAD_AFTER, WorkerConfig},
    listen::Background,
    run::Running,
    store,
};

/// How often old rows are looked for.
const SWEEP: Duration = Duration::from_secs(60);

/// Pause before a beat that failed is tried again.
const AFTER_FAILED_BEAT: Duration = Duration::from_millis(500);

/// A live process, seen from the database.
#[derive(Debug, Clone)]
pub(crate) struct Process {
    pub(crate) pool: PgPool,
    pub(crate) name: String,
    pub(crate) queue: &'static str,
    pub(crate) config: WorkerConfig,
    pub(crate) running: Arc<Running>,
}

impl Process {
    /// Beats once: the process takes jobs.
    pub(crate) async fn beat(&self) -> Result<(), sqlx::Error> {
        let count = |places: usize| i32::try_from(places).unwrap_or(i32::MAX);
        let models = self.config.models.borrow().clone();
        let ready = self.config.ready.borrow().clone();
        let alive = store::Alive {
            name: &self.name,
            queue: self.queue,
            slots: count(self.config.slots),
            ready_places: count(self.config.ready_places),
            guest_places: count(self.config.guest_places),
            models: &models,
            ready: &ready,
        };
        store::beat(&self.pool, alive).await
    }

    /// Holds the jobs that run here, and stops those that need not go on.
    async fn hold(&self) -> Result<(), sqlx::Error> {
        let running = self.running.attempts();
        if running.is_empty() {
            return Ok(());
        }
        let held = store::hold(&self.pool, &running, self.config.lease()).await?;
        self.running.cancel_what_is_over(&held);
        Ok(())
    }

    /// Cancels what nobody waits for any more.
    async fn cancel_of_the_dead(&self) -> Result<(), sqlx::Error> {
        let jobs = store::cancel_of_the_dead(&self.pool, self.queue, &self.name, CALLER_DEAD_AFTER).await?;
        if jobs > 0 {
            info!(jobs, "cancelled: the process that waited for them is gone");
        }
        Ok(())
    }

    /// Beats until dropped.
    pub(crate) fn beats(&self) -> Background {
        let beat = |process: Arc<Self>| async move {
            process.cancel_of_the_dead().await?;
            process.beat().await
        };
        self.every_beat("could not say that this worker lives", beat)
    }

    /// Holds the running jobs until dropped; goes on while the process drains.
    pub(crate) fn holds(&self) -> Background {
        let hold = |process: Arc<Self>| async move { process.hold().await };
        self.every_beat("could not hold the running jobs", hold)
    }

    fn every_beat<F>(
        &self,
        complaint: &'static str,
        act: impl Fn(Arc<Self>) -> F + Send + 'static,
    ) -> Background
    where
        F: Future<Output = Result<(), sqlx::Error>> + Send,
    {
        let process = Arc::new(self.clone());
        Background(tokio::spawn(async move {
            loop {
                let pause = match act(Arc::clone(&process)).await {
                    Ok(()) => process.config.beat,
                    Err(error) => {
                        warn!("{complaint}: {error}");
                        AFTER_FAILED_BEAT.min(process.config.beat)
                    }
                };
                tokio::time::sleep(pause).await;
            }
        }))
    }

    /// Sweeps until dropped.
    pub(crate) fn sweeps(&self) -> Background {
        let process = self.clone();
        Background(tokio::spawn(async move {
            let mut ticks = tokio::time::interval(SWEEP.min(process.config.keep_finished));
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                ticks.tick().await;
                match process.sweep().await {
                    Ok(0) => {}
                    Ok(rows) => debug!(rows, "swept"),
                    Err(error) => warn!("could not sweep: {error}"),
                }
            }
        }))
    }

    async fn sweep(&self) -> Result<u64, sqlx::Error> {
        let keep = self.config.keep_finished;
        let mut rows = store::sweep_jobs(&self.pool, self.queue, keep).await?;
        rows += store::sweep_tasks(&self.pool, self.queue, keep).await?;
        rows += store::sweep_workers(&self.pool).await?;
        rows += store::sweep_apalis_workers(&self.pool, keep).await?;
        Ok(rows)
    }
}
