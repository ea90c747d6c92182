//! Execution of one job on a worker, from apalis' task to the outcome.
//!
//! A handler runs in a task of its own. When the database is down, apalis' worker ends and drops its futures, and a
//! search that needs the database only at its end must survive that. Meanwhile the lease in our `jobs` row keeps
//! other workers from starting the job.

use std::{
    collections::{BTreeMap, HashMap},
    marker::PhantomData,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use apalis::prelude::{BoxDynError, Task};
use contract::{Cause, JobFailure, JobId};
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::Value;
use sqlx::PgPool;
use tokio::task::AbortHandle;
use tracing::{Instrument, Span, error, field, info, info_span, warn};

use crate::{
    HandlerError, Job, JobContext,
    metrics::{self, Attempt},
    poll::PollNotifier,
    store,
};

/// Pause before a job is claimed again if an earlier attempt still runs here and is being stopped.
const STILL_RUNNING_PAUSE: Duration = Duration::from_secs(2);

/// Keys of an attempt in the task's metadata, written by `claim.sql`.
const ATTEMPT_KEY: &str = "job.attempt";
const SECONDS_LEFT: &str = "job.seconds_left";
const SECONDS_WAITED: &str = "job.seconds_waited";

/// Pause before a failed job is retried, times the attempts so far.
const FAILURE_PAUSE: Duration = Duration::from_millis(250);

/// Pause before the release of a job is retried after the database was down.
const OUTAGE_RETRY_PAUSE: Duration = Duration::from_millis(250);

/// Runs one job at a time per slot.
pub trait Handler<J: Job>: Send + Sync + 'static {
    /// Does the work and stores the outcome with [`JobContext::finish`].
    ///
    /// An `Err`, like a panic, is a machine failure and is retried; a fault of the job itself is an outcome.
    fn handle(&self, context: JobContext<J>, job: J)
    -> impl Future<Output = Result<(), HandlerError>> + Send;
}

/// A handler without its job type, so that its callers are compiled once and not for each kind of job in every
/// program.
pub(crate) trait AnyHandler: Send + Sync {
    /// Decodes the job and returns the work on it.
    ///
    /// # Errors
    /// Fails when the stored job is not of the handler's type.
    fn begin(&self, context: JobContext<()>, payload: Value) -> serde_json::Result<HandlerFuture>;
}

/// The work of a handler on one job.
type HandlerFuture = BoxFuture<'static, Result<(), HandlerError>>;

/// A handler with the type of its jobs.
pub(crate) struct TypedHandler<J, H> {
    handler: Arc<H>,
    job: PhantomData<fn() -> J>,
}

impl<J, H> TypedHandler<J, H> {
    pub(crate) fn new(handler: H) -> Self {
        Self { handler: Arc::new(handler), job: PhantomData }
    }
}

impl<J: Job, H: Handler<J>> AnyHandler for TypedHandler<J, H> {
    fn begin(&self, context: JobContext<()>, payload: Value) -> serde_json::Result<HandlerFuture> {
        let job: J = serde_json::from_value(payload)?;
        let handler = Arc::clone(&self.handler);
        Ok(Box::pin(async move { handler.handle(context.of(), job).await }))
    }
}

/// The jobs that this process runs, by id.
#[derive(Debug, Default)]
pub(crate) struct RunningJobs {
    by_id: Mutex<HashMap<String, RunningJob>>,
}

#[derive(Debug)]
struct RunningJob {
    attempt: i32,
    cancelled: Arc<AtomicBool>,
    watched: Arc<AtomicBool>,
    task: Option<AbortHandle>,
}

impl RunningJobs {
    pub(crate) fn ids(&self) -> Vec<String> {
        self.by_id.lock().keys().cloned().collect()
    }

    /// Returns the attempt of each running job, by id.
    pub(crate) fn attempts(&self) -> BTreeMap<String, i32> {
        self.by_id.lock().iter().map(|(id, job)| (id.clone(), job.attempt)).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_id.lock().is_empty()
    }

    /// Sets the cancellation flag of the job.
    pub(crate) fn cancel(&self, id: &str) {
        if let Some(job) = self.by_id.lock().get(id) {
            job.cancelled.store(true, Ordering::Release);
        }
    }

    /// Applies the states read from the database: cancels the jobs that are over or another worker's, and updates the
    /// others' watch flag.
    pub(crate) fn apply_states(&self, held: &[store::RunningJobState]) {
        for held in held {
            // A lower attempt was read before ours began.
            if let Some(job) = self.by_id.lock().get(&held.id) {
                job.watched.store(held.watched, Ordering::Relaxed);
                if held.over || held.attempt > job.attempt {
                    job.cancelled.store(true, Ordering::Release);
                }
            }
        }
    }

    /// Stops everything: threads by their cancellation flags, tasks at their next `.await`.
    pub(crate) fn abort(&self) {
        for job in self.by_id.lock().values() {
            job.cancelled.store(true, Ordering::Release);
            if let Some(task) = &job.task {
                task.abort();
            }
        }
    }

    /// Registers the job; `None` if it runs here already.
    fn enter(self: &Arc<Self>, id: &str, attempt: i32) -> Option<RunningGuard> {
        let (cancelled, watched) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let mut jobs = self.by_id.lock();
        if jobs.contains_key(id) {
            return None;
        }
        let job = RunningJob {
            attempt,
            cancelled: Arc::clone(&cancelled),
            watched: Arc::clone(&watched),
            task: None,
        };
        jobs.insert(id.to_owned(), job);
        Some(RunningGuard { running: Arc::clone(self), id: id.to_owned(), cancelled, watched })
    }
}

/// Registration of a running job, until dropped.
struct RunningGuard {
    running: Arc<RunningJobs>,
    id: String,
    cancelled: Arc<AtomicBool>,
    watched: Arc<AtomicBool>,
}

impl Drop for RunningGuard {
    fn drop(&mut self) {
        self.running.by_id.lock().remove(&self.id);
    }
}

/// An attempt that began when its job was claimed (`claim.sql`).
#[derive(Debug, Clone, Copy)]
struct ClaimedAttempt {
    attempt: i32,
    /// Deadline by this process's clock.
    deadline: Instant,
    /// Time since submission.
    waited: Duration,
}

impl ClaimedAttempt {
    /// Reads the metadata of a task that was claimed just now; `None` if a key is missing.
    fn read(metadata: &BTreeMap<String, String>) -> Option<Self> {
        let seconds = |key| metadata.get(key)?.parse().ok().map(seconds);
        Some(Self {
            attempt: metadata.get(ATTEMPT_KEY)?.parse().ok()?,
            deadline: Instant::now() + seconds(SECONDS_LEFT)?,
            waited: seconds(SECONDS_WAITED)?,
        })
    }
}

/// Runner of the jobs of one process.
#[derive(Clone)]
pub(crate) struct Runner {
    pub(crate) pool: PgPool,
    pub(crate) queue: &'static str,
    pub(crate) running: Arc<RunningJobs>,
    pub(crate) handler: Arc<dyn AnyHandler>,
    /// Wakes the poller when a job ends: a slot is free, and more jobs may wait.
    pub(crate) notifier: Arc<PollNotifier>,
}

impl Runner {
    /// Runs a task that apalis delivers; retries are decided between this and the database.
    pub(crate) async fn run(self, task: Task<Value>) -> Result<(), BoxDynError> {
        let (payload, context) = task.take();
        let id = context.task_id().map(ToString::to_string).unwrap_or_default();
        let metadata: BTreeMap<String, String> =
            context.metadata().iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        let begun = ClaimedAttempt::read(&metadata).ok_or("a job was claimed without its attempt")?;
        let Some(entry) = self.running.enter(&id, begun.attempt) else {
            info!(job.id = id, "the job still runs here; its next attempt is postponed");
            return self.release(&id, begun, STILL_RUNNING_PAUSE, None).await;
        };
        let span = info_span!(
            "job",
            otel.name = format!("process {}", self.queue),
            otel.kind = "consumer",
            otel.status_code = field::Empty,
            otel.status_description = field::Empty,
            messaging.system = metrics::SYSTEM,
            messaging.operation.name = "process",
            messaging.operation.type = "process",
            messaging.destination.name = self.queue,
            messaging.message.id = %id,
            job.id = %id,
            job.attempt = begun.attempt,
            queue_wait_ms = begun.waited.as_millis(),
        );
        telemetry::set_parent(&span, &metadata);

        let running = Arc::clone(&self.running);
        let notifier = Arc::clone(&self.notifier);
        let task = tokio::spawn(self.work(entry, begun, payload).instrument(span));
        if let Some(job) = running.by_id.lock().get_mut(&id) {
            job.task = Some(task.abort_handle());
        }
        let ended = task.await;
        notifier.wake();
        ended?
    }

    async fn work(
        self,
        entry: RunningGuard,
        begun: ClaimedAttempt,
        payload: Value,
    ) -> Result<(), BoxDynError> {
        let attempt = Attempt::begin(self.queue, begun.waited);
        let answered = Arc::new(AtomicBool::new(false));
        let id: JobId = entry.id.parse()?;
        let context = || JobContext {
            id,
            attempt: begun.attempt.unsigned_abs(),
            attempt_number: begun.attempt,
            deadline: begun.deadline,
            cancelled: Arc::clone(&entry.cancelled),
            watched: Arc::clone(&entry.watched),
            answered: Arc::clone(&answered),
            job: PhantomData,
        };
        let work = match self.handler.begin(context(), payload) {
            Ok(work) => work.instrument(Span::current()),
            Err(error) => {
                error!("the stored job cannot be read: {error}");
                attempt.end("unreadable");
                return self.refuse(&context()).await;
            }
        };

        // A task of its own, so that a panic counts as a failure.
        let task = AbortOnDrop(tokio::spawn(work));
        let failure = match task.join().await {
            Ok(Ok(())) if answered.load(Ordering::Acquire) => None,
            Ok(Ok(())) => Some(BoxDynError::from("the handler ended without an outcome")),
            Ok(Err(failure)) => Some(failure),
            Err(panic) => Some(panic.into()),
        };

        let cancelled = entry.cancelled.load(Ordering::Acquire);
        if failure.is_none() && !cancelled {
            attempt.end("finished");
            return Ok(());
        }
        attempt.end(if cancelled { "cancelled" } else { "failed" });
        let stored_failure = failure.as_ref().filter(|_| !cancelled).map(|failure| store::AttemptFailure {
            text: failure.to_string(),
            cause: database::comes_from_database_away(&**failure).then_some(Cause::Database),
        });
        let pause = match failure {
            Some(failure) if !cancelled => {
                let span = Span::current();
                span.record("otel.status_code", "ERROR");
                span.record("otel.status_description", field::display(&failure));
                warn!("the attempt failed: {failure}");
                FAILURE_PAUSE * begun.attempt.unsigned_abs()
            }
            _ => {
                info!("stopped: nobody waits for it");
                Duration::ZERO
            }
        };
        self.release(&entry.id, begun, pause, stored_failure.as_ref()).await
    }

    /// Releases the job and polls again once it may be restarted.
    ///
    /// While the database is down this retries until the job's deadline. The job is still registered here, so its
    /// lease is renewed, and no other process can end it without recording the cause.
    async fn release(
        &self,
        id: &str,
        begun: ClaimedAttempt,
        pause: Duration,
        failure: Option<&store::AttemptFailure>,
    ) -> Result<(), BoxDynError> {
        while let Err(error) = store::release(&self.pool, id, begun.attempt, pause, failure).await {
            if !database::is_away(&error) || Instant::now() >= begun.deadline {
                return Err(error.into());
            }
            tokio::time::sleep(OUTAGE_RETRY_PAUSE).await;
        }
        let notifier = Arc::clone(&self.notifier);
        tokio::spawn(async move {
            tokio::time::sleep(pause).await;
            notifier.wake();
        });
        Ok(())
    }

    async fn refuse(&self, context: &JobContext<()>) -> Result<(), BoxDynError> {
        let mut connection = self.pool.acquire().await?;
        let _ = context.finish_with(&mut connection, &Err::<(), _>(JobFailure::Internal)).await?;
        Ok(())
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

/// A task that is aborted when its waiter is dropped.
struct AbortOnDrop<T>(tokio::task::JoinHandle<T>);

impl<T> AbortOnDrop<T> {
    async fn join(mut self) -> Result<T, tokio::task::JoinError> {
        (&mut self.0).await
    }
}

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns true if a job that runs here as `attempt` is cancelled when the database says `held` and `over`.
    fn stops(attempt: i32, held: i32, over: bool) -> bool {
        let running = Arc::new(RunningJobs::default());
        let entry = running.enter("job", attempt).expect("nothing runs yet");
        running.apply_states(&[store::RunningJobState {
            id: "job".to_owned(),
            attempt: held,
            over,
            watched: false,
        }]);
        entry.cancelled.load(Ordering::Acquire)
    }

    #[test]
    fn a_job_stops_when_it_is_over_or_has_become_anothers() {
        assert!(stops(1, 1, true));
        assert!(stops(1, 2, false));
    }

    #[test]
    fn a_check_before_a_job_began_does_not_stop_it() {
        assert!(!stops(1, 0, false));
        assert!(!stops(1, 1, false));
    }
}
