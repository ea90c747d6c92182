//! The API's side: submit a job, see which workers live.
//!
//! One LISTEN connection per process wakes all waiters. A waiter is registered before its job is inserted,
//! so no outcome can come too early to be heard.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use contract::JobId;
use database::{Background, Heard};
use serde_json::Value;
use sqlx::PgPool;
use tokio::sync::Notify;

use crate::{Job, Pending, QueueError, SubmitError, pool, store};

/// About how long a worker takes to start, for a caller that finds none.
pub const WORKER_START: Duration = Duration::from_secs(5);

/// The shortest pause before a refused caller is told to come back.
const SHORTEST_RETRY: Duration = Duration::from_secs(1);

/// A generative model that at least one live sampler has loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveModel {
    /// The model's id.
    pub model_id: String,
    /// Cost of a molecule, relative to the other models'.
    pub relative_cost: f64,
    /// What people are told of the model, a JSON object.
    pub card: Value,
}

/// The API's handle on the queue; clones share one LISTEN connection.
#[derive(Debug, Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    pool: PgPool,
    waiters: Arc<Waiters>,
    _listener: Background,
}

impl Client {
    /// Connects to the database of `pool`, with at most `connections` of its own that do not wait for the disk, and one more
    /// that listens.
    ///
    /// # Errors
    /// Fails when the database cannot be reached; once connected, the client reconnects by itself.
    pub async fn connect(pool: PgPool, connections: u32) -> Result<Self, QueueError> {
        let pool = pool::own(&pool, connections).await?;
        let waiters = Arc::new(Waiters::default());
        let listener = database::listen(&pool, &["job_finished"], {
            let waiters = Arc::clone(&waiters);
            move |heard| match heard {
                Heard::Connected => waiters.wake_all(),
                Heard::Notification { payload, .. } => waiters.wake(payload),
            }
        });
        Ok(Self { inner: Arc::new(Inner { pool, waiters, _listener: listener }) })
    }

    /// Stores `job` under `id`, with the current trace context, unless the queue is too full for its deadline.
    ///
    /// # Errors
    /// Fails when the job is not admitted or not stored; then nothing of it remains.
    pub async fn submit<J: Job>(&self, id: JobId, job: &J) -> Result<Pending<J>, SubmitError> {
        let payload = serde_json::to_vec(job).map_err(SubmitError::Unencodable)?;
        // From here on a caller that leaves drops the waiter, which cancels the job.
        let mut pending =
            Pending::register(self.inner.pool.clone(), Arc::clone(&self.inner.waiters), id, job.deadline());

        let new = store::NewJob {
            id: &id.to_string(),
            queue: J::QUEUE,
            model_id: job.model_id(),
            expected_seconds: job.expected_seconds(),
            deadline: job.deadline(),
            payload: &payload,
            trace: &telemetry::inject(),
        };
        match store::submit(&self.inner.pool, new).await {
            Ok(admission) => admission.check().inspect_err(|_| pending.forget())?,
            Err(error) => {
                pending.forget();
                return Err(error.into());
            }
        }
        Ok(pending)
    }

    /// Slots of the live workers by queue; a queue without one is absent.
    ///
    /// # Errors
    /// Fails when the database does.
    pub async fn live_workers(&self) -> Result<BTreeMap<String, u32>, QueueError> {
        let workers = store::live_workers(&self.inner.pool).await?;
        Ok(workers.into_iter().map(|live| (live.queue, u32::try_from(live.slots).unwrap_or(0))).collect())
    }

    /// The models that live samplers have loaded, by id, each once with its lowest cost.
    ///
    /// # Errors
    /// Fails when the database does.
    pub async fn live_models(&self) -> Result<Vec<LiveModel>, QueueError> {
        Ok(store::live_models(&self.inner.pool).await?)
    }
}

impl store::Admission {
    fn check(&self) -> Result<(), SubmitError> {
        if self.admitted {
            return Ok(());
        }
        if self.all_slots > 0 && !self.model_is_known {
            return Err(SubmitError::UnknownModel);
        }
        if self.slots == 0 {
            return Err(SubmitError::NoWorker { retry_after: WORKER_START });
        }
        // With nothing else coming, the work ahead shrinks by `slots` seconds a second.
        let excess = self.open_seconds / self.slots as f64 - self.patience_seconds.max(0.0);
        let retry_after = Duration::try_from_secs_f64(excess).unwrap_or_default().max(SHORTEST_RETRY);
        Err(SubmitError::Full { retry_after })
    }
}

/// Who waits for which job.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    by_job: Mutex<HashMap<String, Arc<Notify>>>,
}

impl Waiters {
    /// Wakes whoever waits for `id`, now or at the next wait.
    fn wake(&self, id: &str) {
        if let Some(waiter) = self.lock().get(id) {
            waiter.notify_one();
        }
    }

    fn wake_all(&self) {
        for waiter in self.lock().values() {
            waiter.notify_one();
        }
    }

    pub(crate) fn register(&self, id: String) -> Arc<Notify> {
        let waiter = Arc::new(Notify::new());
        self.lock().insert(id, Arc::clone(&waiter));
        waiter
    }

    pub(crate) fn remove(&self, id: &str) {
        self.lock().remove(id);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<Notify>>> {
        self.by_job.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(open_seconds: f64, slots: i64, patience_seconds: f64) -> store::Admission {
        store::Admission {
            admitted: false,
            open_seconds,
            slots,
            patience_seconds,
            model_is_known: true,
            all_slots: slots,
        }
    }

    #[test]
    fn retry_after_is_the_time_until_the_work_ahead_fits_the_patience() {
        let answer = refused(60.0, 2, 10.0).check();

        assert!(
            matches!(answer, Err(SubmitError::Full { retry_after }) if retry_after == Duration::from_secs(20))
        );
    }

    #[test]
    fn a_queue_without_slots_has_no_worker() {
        let answer = refused(0.0, 0, 10.0).check();

        assert!(matches!(answer, Err(SubmitError::NoWorker { .. })));
    }

    #[test]
    fn a_model_is_unknown_only_where_workers_live_that_would_know_it() {
        let unknown =
            |all_slots| store::Admission { model_is_known: false, all_slots, ..refused(0.0, 0, 10.0) };
        let resting = store::Admission { all_slots: 2, ..refused(0.0, 0, 10.0) };

        assert!(matches!(unknown(2).check(), Err(SubmitError::UnknownModel)));
        assert!(matches!(unknown(0).check(), Err(SubmitError::NoWorker { .. })));
        assert!(matches!(resting.check(), Err(SubmitError::NoWorker { .. })));
    }
}
