//! API side of the queue: submits jobs and lists live workers.
//!
//! One LISTEN connection per process wakes all waiters. A waiter is registered before its job is inserted, so no
//! outcome can come too early to be noticed.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use contract::JobId;
use database::{Background, Database, ListenerEvent};
use serde_json::Value;
use sqlx::PgPool;
use tracing::{Instrument, info_span, warn};
use ulid::Ulid;

use crate::{
    Job, JobCaller, Pending, QueueError, SubmitError, Subscription,
    config::CALLER_HEARTBEAT_INTERVAL,
    connection_usage,
    events::{self, SubscriptionMode},
    listeners::JobListeners,
    liveness,
    metrics::{self, callers},
    pending::decode,
    pool,
    retry_schedule::{RefusedJob, RetrySchedule},
    store,
    waiters::Waiters,
    worker_process::STATEMENT_TIMEOUT,
};

/// Typical start-up time of a worker, for a caller that finds none.
pub const WORKER_START_TIME: Duration = Duration::from_secs(5);

/// Retry-after for a paused queue: nobody knows when the operator resumes it, so a client tries again every minute.
pub const PAUSED_RETRY_AFTER: Duration = Duration::from_secs(60);

/// Notification channel for the ids of finished jobs.
const FINISHED_CHANNEL: &str = "job_finished";

/// Notification channel that carries a small outcome itself, ahead of `job_finished` (migration 0024).
const OUTCOME_CHANNEL: &str = "job_outcome";

/// A model that at least one live worker has loaded: a generative model for a sampler, an engine for a searcher.
#[derive(Debug, Clone, PartialEq)]
pub struct LiveModel {
    /// Model id.
    pub model_id: String,
    /// Cost per molecule, relative to the other models.
    pub relative_cost: f64,
    /// Public description of the model, a JSON object.
    pub card: Value,
}

/// Limits on connections.
#[derive(Debug, Clone, Copy)]
pub struct ClientConnections {
    /// Connections of the queue, besides the listener.
    pub queue: u32,
    /// Connections of the whole process to the server, published to other processes.
    pub process: u32,
}

/// The API's handle on the queue; clones share one LISTEN connection.
#[derive(Debug, Clone)]
pub struct Client {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// Pool for submitting jobs and waiting for them.
    pool: PgPool,
    /// The process's general pool, so that watching jobs takes no connection from submitting them.
    shared_pool: PgPool,
    /// Name of this process among those whose callers wait for jobs.
    name: String,
    retry_schedule: RetrySchedule,
    waiters: Arc<Waiters>,
    listeners: Arc<JobListeners>,
    _listener: Background,
    _heartbeats: Background,
}

impl Client {
    /// Connects to `database` with a pool of its own, which does not wait for the disk, and one more connection that
    /// listens.
    ///
    /// # Errors
    /// Fails when the database cannot be reached; once connected, the client reconnects by itself.
    pub async fn connect(
        database: impl Into<Database>,
        connections: ClientConnections,
    ) -> Result<Self, QueueError> {
        let database = database.into();
        let pool = pool::own(&database.pool, connections.queue).await?;
        let name = format!("caller-{}", Ulid::generate());
        // Workers cancel jobs whose submitting process sends no heartbeat.
        liveness::caller_heartbeat(&pool, &name, connections.process).await?;
        connection_usage::warn_where_short(&pool).await;
        let heartbeats = heartbeats(pool.clone(), name.clone(), connections.process);
        let (waiters, listeners) = (Arc::<Waiters>::default(), Arc::<JobListeners>::default());
        let listener =
            database::listen(&database, &[OUTCOME_CHANNEL, FINISHED_CHANNEL, events::EVENT_CHANNEL], {
                let (waiters, listeners) = (Arc::clone(&waiters), Arc::clone(&listeners));
                move |event| match event {
                    ListenerEvent::Connected => {
                        waiters.wake_all();
                        listeners.notify_all();
                    }
                    ListenerEvent::Notification { channel: OUTCOME_CHANNEL, payload } => {
                        waiters.notify(payload)
                    }
                    ListenerEvent::Notification { channel: events::EVENT_CHANNEL, payload } => {
                        listeners.notify(payload)
                    }
                    ListenerEvent::Notification { payload, .. } => {
                        waiters.wake(payload);
                        listeners.notify(payload);
                    }
                }
            });
        Ok(Self {
            inner: Arc::new(Inner {
                pool,
                shared_pool: database.pool.clone(),
                name,
                retry_schedule: RetrySchedule::default(),
                waiters,
                listeners,
                _listener: listener,
                _heartbeats: heartbeats,
            }),
        })
    }

    /// Stores `job` under `id` for `caller`, with the current trace context, unless the queue is too full for its
    /// deadline.
    ///
    /// If this future is dropped early, a job that was already stored is cancelled.
    ///
    /// # Errors
    /// Fails when the job is not admitted or not stored; then nothing of it remains.
    pub async fn submit<J: Job>(
        &self,
        id: JobId,
        job: &J,
        caller: JobCaller<'_>,
    ) -> Result<Pending<J>, SubmitError> {
        // The worker's span is a child of this one.
        let span = info_span!(
            "submit",
            otel.name = format!("send {}", J::QUEUE),
            otel.kind = "producer",
            messaging.system = metrics::SYSTEM,
            messaging.operation.name = "send",
            messaging.operation.type = "send",
            messaging.destination.name = J::QUEUE,
            messaging.message.id = %id,
        );
        let new = store::NewJob {
            id: id.to_string(),
            admission_request: store::AdmissionRequest::of(job, caller),
            payload: serde_json::to_vec(job).map_err(SubmitError::Unencodable)?,
            trace: span.in_scope(telemetry::inject),
        };
        self.inner.retry_schedule.remove(J::QUEUE, caller.account_id);
        let (inner, account_id) = (Arc::clone(&self.inner), caller.account_id.to_owned());
        let pending = inner.wait_for(id, caller.timeout, job.work().longest);
        // A separate task, which continues when the caller leaves: the job is cancelled once it is known to be
        // stored, not before.
        let submission = async move {
            let submission_result = inner.submit_if_admitted(new, pending, &account_id).await;
            callers::submitted(J::QUEUE, submission_result.as_ref().err());
            submission_result
        };
        tokio::spawn(submission.instrument(span)).await.map_err(SubmitError::Panicked)?
    }

    /// Returns the retry-after of a caller whose job was admitted but could not start in time.
    pub async fn retry_after<J: Job>(&self, job: &J, caller: JobCaller<'_>) -> Duration {
        let admission_request = store::AdmissionRequest::of(job, caller);
        match database::within(STATEMENT_TIMEOUT, store::read_load(&self.inner.pool, admission_request)).await
        {
            Ok(store::QueueLoad { slots, expected_seconds: seconds, admitted_in: Some(admitted_in) }) => {
                let refused = RefusedJob { seconds, admitted_in, slots: slots as f64 };
                self.inner.retry_schedule.make(J::QUEUE, caller.account_id, refused)
            }
            _ => WORKER_START_TIME,
        }
    }

    /// Turns a wait for a job into a subscription. From now on any process can subscribe to the job, and it is
    /// cancelled if it has no subscriber for some seconds. `request` is stored as long as the subscription.
    ///
    /// # Errors
    /// Fails when the database does; then the job is cancelled.
    pub async fn detach_to_subscribers<J: Job>(
        &self,
        mut pending: Pending<J>,
        request: &Value,
    ) -> Result<Subscription<J>, sqlx::Error> {
        let id = pending.id().to_string();
        let subscription = self.subscribe(id.clone(), SubscriptionMode::KeepsJobAlive).await?;
        database::within(STATEMENT_TIMEOUT, events::remember(&self.inner.pool, &id, request)).await?;
        database::within(STATEMENT_TIMEOUT, store::detach_from_caller(&self.inner.pool, &id)).await?;
        pending.forget();
        Ok(subscription.into_submitter())
    }

    /// Subscribes again to the job `id`, which the account submitted and subscribed to before; `None` if there is no
    /// such job any more.
    ///
    /// # Errors
    /// Fails when the database does.
    pub async fn resubscribe<J: Job>(
        &self,
        id: &str,
        account_id: &str,
    ) -> Result<Option<Subscription<J>>, sqlx::Error> {
        if !database::within(
            STATEMENT_TIMEOUT,
            events::can_subscribe(&self.inner.shared_pool, id, account_id),
        )
        .await?
        {
            return Ok(None);
        }
        self.subscribe(id.to_owned(), SubscriptionMode::KeepsJobAlive).await.map(Some)
    }

    /// Returns the request and the outcome of the job `id`, which the account submitted and subscribed to; `None` if
    /// the job is gone, not finished, or without a result.
    ///
    /// # Errors
    /// Fails when the database does.
    pub async fn request_and_outcome<J: Job>(
        &self,
        id: &str,
        account_id: &str,
    ) -> Result<Option<(Value, J::Outcome)>, sqlx::Error> {
        let pool = &self.inner.shared_pool;
        let Some(request) =
            database::within(STATEMENT_TIMEOUT, events::request(pool, id, account_id)).await?
        else {
            return Ok(None);
        };
        match database::within(STATEMENT_TIMEOUT, store::state(pool, id)).await? {
            store::WatchedState::Finished(outcome) => {
                Ok(decode::<J>(&outcome).ok().and_then(Result::ok).map(|outcome| (request, outcome)))
            }
            _ => Ok(None),
        }
    }

    /// Subscribes to the job `id` without keeping it alive.
    ///
    /// # Errors
    /// Fails when the database does.
    pub async fn subscribe_passively<J: Job>(&self, id: &str) -> Result<Subscription<J>, sqlx::Error> {
        self.subscribe(id.to_owned(), SubscriptionMode::Passive).await
    }

    async fn subscribe<J: Job>(
        &self,
        id: String,
        mode: SubscriptionMode,
    ) -> Result<Subscription<J>, sqlx::Error> {
        let begun = Subscription::begin(self.inner.shared_pool.clone(), &self.inner.listeners, id, mode);
        database::within(STATEMENT_TIMEOUT, begun).await
    }

    /// Returns the slots of the live workers by queue; a queue without workers is absent.
    ///
    /// # Errors
    /// Fails when the database does.
    pub async fn live_workers(&self) -> Result<BTreeMap<String, u32>, QueueError> {
        let workers = liveness::live_workers(&self.inner.pool).await?;
        Ok(workers.into_iter().map(|live| (live.queue, u32::try_from(live.slots).unwrap_or(0))).collect())
    }

    /// Returns the models that the live workers of `queue` have loaded, by id, each once.
    ///
    /// # Errors
    /// Fails when the database does.
    pub async fn live_models(&self, queue: &str) -> Result<Vec<LiveModel>, QueueError> {
        Ok(liveness::live_models(&self.inner.pool, queue).await?)
    }
}

impl Inner {
    fn wait_for<J: Job>(&self, id: JobId, timeout: Duration, longest: Option<f64>) -> Pending<J> {
        Pending::register(self.pool.clone(), Arc::clone(&self.waiters), id, timeout, longest)
    }

    /// Stores the job of `pending`, if it is admitted.
    async fn submit_if_admitted<J: Job>(
        &self,
        new: store::NewJob,
        mut pending: Pending<J>,
        account_id: &str,
    ) -> Result<Pending<J>, SubmitError> {
        // If this fails, the job may or may not be stored; dropping the waiter cancels it if it was.
        let admission = store::submit(&self.pool, &self.name, new).await?;
        if admission.admitted {
            return Ok(pending);
        }
        pending.forget();
        Err(admission.refusal(|refused| self.retry_schedule.make(J::QUEUE, account_id, refused)))
    }
}

impl store::Admission {
    /// Returns the reason for which the job was refused; `schedule_retry` gives the retry-after.
    fn refusal(&self, schedule_retry: impl FnOnce(RefusedJob) -> Duration) -> SubmitError {
        if self.all_slots > 0 && !self.model_is_known {
            return SubmitError::UnknownModel;
        }
        if self.is_paused {
            return SubmitError::Paused { retry_after: PAUSED_RETRY_AFTER };
        }
        let Some(admitted_in) = self.admitted_in else {
            return SubmitError::NoWorker { retry_after: WORKER_START_TIME };
        };
        let (seconds, slots) = (self.expected_seconds, self.slots as f64);
        let retry_after = schedule_retry(RefusedJob { seconds, admitted_in, slots });
        match self.is_capped {
            true => SubmitError::TooManyInFlight { retry_after },
            false => SubmitError::Full { retry_after },
        }
    }
}

/// Sends heartbeats of this process until dropped.
fn heartbeats(pool: PgPool, name: String, connections: u32) -> Background {
    Background::supervise("saying that callers wait here", move || {
        let (pool, name) = (pool.clone(), name.clone());
        async move {
            loop {
                tokio::time::sleep(CALLER_HEARTBEAT_INTERVAL).await;
                let heartbeat = liveness::caller_heartbeat(&pool, &name, connections);
                if let Err(error) = database::within(STATEMENT_TIMEOUT, heartbeat).await {
                    warn!("could not publish the callers that wait here: {error}");
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(slots: i64, admitted_in: f64) -> store::Admission {
        let admitted_in = (slots > 0).then_some(admitted_in);
        store::Admission {
            admitted: false,
            is_capped: false,
            is_paused: false,
            slots,
            all_slots: slots,
            model_is_known: true,
            expected_seconds: 1.0,
            admitted_in,
        }
    }

    fn refusal(admission: &store::Admission) -> SubmitError {
        admission.refusal(|refused| Duration::from_secs_f64(refused.admitted_in))
    }

    #[test]
    fn a_refused_caller_gets_a_retry_after() {
        let error = refusal(&refused(2, 20.0));
        let capped = refusal(&store::Admission { is_capped: true, ..refused(2, 3.0) });
        let paused = refusal(&store::Admission { is_paused: true, ..refused(0, 0.0) });

        assert!(matches!(error, SubmitError::Full { retry_after } if retry_after == Duration::from_secs(20)));
        assert!(matches!(capped, SubmitError::TooManyInFlight { .. }));
        assert!(matches!(paused, SubmitError::Paused { .. }));
    }

    #[test]
    fn a_queue_without_slots_has_no_worker() {
        assert!(matches!(refusal(&refused(0, 0.0)), SubmitError::NoWorker { .. }));
    }

    #[test]
    fn a_model_is_unknown_only_where_workers_live_that_would_know_it() {
        let unknown = |all_slots| store::Admission { model_is_known: false, all_slots, ..refused(0, 0.0) };
        let resting = store::Admission { all_slots: 2, ..refused(0, 0.0) };

        assert!(matches!(refusal(&unknown(2)), SubmitError::UnknownModel));
        assert!(matches!(refusal(&unknown(0)), SubmitError::NoWorker { .. }));
        assert!(matches!(refusal(&resting), SubmitError::NoWorker { .. }));
    }
}
