//! One job on a worker, from apalis' hands to its outcome.
//!
//! A handler runs in a task of its own: when the database goes away, apalis' worker ends and takes its
//! futures with it, and a search that only needs the database at its end should not go too. The lease in
//! our `jobs` row keeps anybody else from beginning the job meanwhile.

use std::{
    collections::{BTreeMap, HashMap},
    marker::PhantomData,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use apalis::prelude::{BoxDynError, RetryAfterError, Task};
use contract::{JobId, Problem};
use serde_json::Value;
use sqlx::PgPool;
use tokio::task::AbortHandle;
use tracing::{Instrument, Span, error, field, info, info_span, warn};

use crate::{
    HandlerError, Job, JobContext,
    metrics::{self, Attempt},
    poll::Bell,
    store,
};

/// Pause before a job that another worker holds is dealt out again.
const HELD_ELSEWHERE: Duration = Duration::from_secs(2);

/// Pause before a job that failed is tried again, times the attempts so far.
const AFTER_FAILURE: Duration = Duration::from_millis(250);

/// Runs one job at a time per slot.
pub trait Handler<J: Job>: Send + Sync + 'static {
    /// Does the work and stores the outcome with [`JobContext::finish`].
    ///
    /// An `Err`, like a panic, is a fault of the machine and is tried again; what is wrong with the job itself
    /// is an outcome.
    fn handle(&self, context: JobContext<J>, job: J)
    -> impl Future<Output = Result<(), HandlerError>> + Send;
}

/// The jobs that this process runs, by id.
#[derive(Debug, Default)]
pub(crate) struct Running {
    by_id: Mutex<HashMap<String, RunningJob>>,
}

#[derive(Debug)]
struct RunningJob {
    attempt: i32,
    cancelled: Arc<AtomicBool>,
    task: Option<AbortHandle>,
}

impl RunningJob {
    /// Whether `attempt`, seen in the database, is a later one than ours. A lower one was seen before ours
    /// began, and as long as we do not know which is ours, none is another's.
    fn is_anothers(&self, attempt: i32) -> bool {
        self.attempt > 0 && attempt > self.attempt
    }
}

impl Running {
    pub(crate) fn ids(&self) -> Vec<String> {
        self.lock().keys().cloned().collect()
    }

    /// Which attempt of which job runs. One that is only being begun is not held yet: a lease on it would lock it out of its
    /// own worker.
    pub(crate) fn attempts(&self) -> BTreeMap<String, i32> {
        let jobs = self.lock();
        let begun = jobs.iter().filter(|(_, job)| job.attempt > 0);
        begun.map(|(id, job)| (id.clone(), job.attempt)).collect()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Tells the job that nobody wants its outcome.
    pub(crate) fn cancel(&self, id: &str) {
        if let Some(job) = self.lock().get(id) {
            job.cancelled.store(true, Ordering::Release);
        }
    }

    /// Tells the jobs that are over, or have become another worker's, to stop.
    pub(crate) fn cancel_what_is_over(&self, held: &[store::Held]) {
        for held in held {
            if let Some(job) = self.lock().get(&held.id)
                && (held.over || job.is_anothers(held.attempt))
            {
                job.cancelled.store(true, Ordering::Release);
            }
        }
    }

    /// Stops everything: threads by their flags, tasks at their next `.await`.
    pub(crate) fn abort(&self) {
        for job in self.lock().values() {
            job.cancelled.store(true, Ordering::Release);
            if let Some(task) = &job.task {
                task.abort();
            }
        }
    }

    /// Reserves the id; `None` when the job runs here already.
    fn enter(self: &Arc<Self>, id: &str) -> Option<Entry> {
        let cancelled = Arc::new(AtomicBool::new(false));
        let mut jobs = self.lock();
        if jobs.contains_key(id) {
            return None;
        }
        jobs.insert(id.to_owned(), RunningJob { attempt: 0, cancelled: Arc::clone(&cancelled), task: None });
        Some(Entry { running: Arc::clone(self), id: id.to_owned(), cancelled })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, RunningJob>> {
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A job's place among the running ones; it leaves when this is dropped.
struct Entry {
    running: Arc<Running>,
    id: String,
    cancelled: Arc<AtomicBool>,
}

impl Entry {
    fn begun(&self, attempt: i32) {
        if let Some(job) = self.running.lock().get_mut(&self.id) {
            job.attempt = attempt;
        }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.running.lock().remove(&self.id);
    }
}

/// What runs the jobs of one process.
pub(crate) struct Runner<H> {
    pub(crate) pool: PgPool,
    pub(crate) running: Arc<Running>,
    pub(crate) handler: Arc<H>,
    pub(crate) lease: Duration,
    /// Rung when a job ends: a slot is free, and more may wait.
    pub(crate) bell: Arc<Bell>,
}

impl<H> Clone for Runner<H> {
    fn clone(&self) -> Self {
        Self {
            pool: self.pool.clone(),
            running: Arc::clone(&self.running),
            handler: Arc::clone(&self.handler),
            lease: self.lease,
            bell: Arc::clone(&self.bell),
        }
    }
}

impl<H> Runner<H> {
    /// What apalis calls with each task. `Ok` means that the job needs nothing more; an error deals it again.
    pub(crate) async fn run<J: Job>(self, task: Task<Value>) -> Result<(), BoxDynError>
    where
        H: Handler<J>,
    {
        let (payload, context) = task.take();
        let id = context.task_id().map(ToString::to_string).unwrap_or_default();
        // What the database says of the time left is true when it says so, which is after this.
        let asked = Instant::now();
        let Some(entry) = self.running.enter(&id) else { return self.put_off(&id).await };
        let Some(begun) = store::begin(&self.pool, &id, self.lease).await? else {
            return match store::settle(&self.pool, &id).await? {
                true => Ok(()),
                false => self.put_off(&id).await,
            };
        };
        entry.begun(begun.attempt);

        let trace: BTreeMap<String, String> =
            context.metadata().iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        let queue_wait_ms = seconds(begun.seconds_waited).as_millis();
        let span = info_span!(
            "job",
            otel.name = format!("process {}", J::QUEUE),
            otel.kind = "consumer",
            otel.status_code = field::Empty,
            otel.status_description = field::Empty,
            messaging.system = metrics::SYSTEM,
            messaging.operation.name = "process",
            messaging.operation.type = "process",
            messaging.destination.name = J::QUEUE,
            messaging.message.id = %id,
            job.id = %id,
            job.attempt = begun.attempt,
            queue_wait_ms = %queue_wait_ms,
        );
        telemetry::set_parent(&span, &trace);

        let running = Arc::clone(&self.running);
        let bell = Arc::clone(&self.bell);
        let task = tokio::spawn(self.work::<J>(entry, asked, begun, payload).instrument(span));
        if let Some(job) = running.lock().get_mut(&id) {
            job.task = Some(task.abort_handle());
        }
        let ended = task.await;
        bell.ring();
        ended?
    }

    async fn work<J: Job>(
        self,
        entry: Entry,
        asked: Instant,
        begun: store::Begun,
        payload: Value,
    ) -> Result<(), BoxDynError>
    where
        H: Handler<J>,
    {
        let attempt = Attempt::begin(J::QUEUE, seconds(begun.seconds_waited));
        let answered = Arc::new(AtomicBool::new(false));
        let id: JobId = entry.id.parse()?;
        let context = JobContext {
            id,
            attempt: begun.attempt.unsigned_abs(),
            attempt_number: begun.attempt,
            deadline: asked + seconds(begun.seconds_left),
            cancelled: Arc::clone(&entry.cancelled),
            answered: Arc::clone(&answered),
            job: PhantomData,
        };
        let job: J = match serde_json::from_value(payload) {
            Ok(job) => job,
            Err(error) => {
                error!("the stored job cannot be read: {error}");
                attempt.end("unreadable");
                return self.refuse(&context).await;
            }
        };

        // A task of its own, so that a panic is a failure like others.
        let handler = Arc::clone(&self.handler);
        let work = async move { handler.handle(context, job).await }.instrument(Span::current());
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
        let cause = failure.as_ref().filter(|_| !cancelled).map(ToString::to_string);
        store::release(&self.pool, &entry.id, begun.attempt, cause.as_deref()).await?;
        let settled = store::settle(&self.pool, &entry.id).await?;
        match failure {
            Some(failure) if !cancelled => {
                let span = Span::current();
                span.record("otel.status_code", "ERROR");
                span.record("otel.status_description", field::display(&failure));
                warn!("the attempt failed: {failure}");
                if !settled {
                    tokio::time::sleep(AFTER_FAILURE * begun.attempt.unsigned_abs()).await;
                    return Err(failure);
                }
            }
            _ => info!("stopped, nobody waits for it"),
        }
        Ok(())
    }

    async fn refuse<J: Job>(&self, context: &JobContext<J>) -> Result<(), BoxDynError> {
        let mut connection = self.pool.acquire().await?;
        let _ = context.finish(&mut connection, &Err(Problem::Internal)).await?;
        Ok(())
    }

    async fn put_off(&self, id: &str) -> Result<(), BoxDynError> {
        info!(job.id = id, "held by another worker, put off");
        store::put_off(&self.pool, id, HELD_ELSEWHERE).await?;
        Err(Box::new(RetryAfterError::new("held by another worker", HELD_ELSEWHERE)))
    }
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

/// A task that ends with its waiter.
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

    /// Whether a job that runs here as `attempt` is told to stop when the database says `held` and `over`.
    fn stops(attempt: i32, held: i32, over: bool) -> bool {
        let running = Arc::new(Running::default());
        let entry = running.enter("job").expect("nothing runs yet");
        entry.begun(attempt);
        running.cancel_what_is_over(&[store::Held { id: "job".to_owned(), attempt: held, over }]);
        entry.cancelled.load(Ordering::Acquire)
    }

    #[test]
    fn a_job_stops_when_it_is_over_or_has_become_anothers() {
        assert!(stops(1, 1, true));
        assert!(stops(1, 2, false));
    }

    #[test]
    fn a_job_that_is_only_being_begun_is_not_held() {
        let running = Arc::new(Running::default());
        let entry = running.enter("job").expect("nothing runs yet");

        let before = running.attempts();
        entry.begun(1);

        assert_eq!((before.len(), running.ids().len()), (0, 1));
        assert_eq!(running.attempts(), [("job".to_owned(), 1)].into());
    }

    #[test]
    fn a_look_at_the_database_while_a_job_begins_does_not_stop_it() {
        // Looked at before it began, compared after; and the other way round.
        assert!(!stops(1, 0, false));
        assert!(!stops(0, 1, false));
        assert!(!stops(1, 1, false));
    }
}
