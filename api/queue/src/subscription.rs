//! Watches on jobs, from any process: progress events and the outcome.
//!
//! A job that is watched for its outcome has no waiting caller. If a process dies, another can watch the job; if
//! nobody watches it for a while, it is cancelled.

use std::{marker::PhantomData, sync::Arc, time::Duration};

use contract::JobFailure;
use database::Background;
use sqlx::PgPool;
use tracing::warn;

use crate::{
    AwaitError, Job, JobEvent,
    events::{self, RENEWAL_INTERVAL, SubscriptionMode, WATCH_LEASE},
    listeners::{JobListener, JobListeners},
    metrics::callers,
    pending::decode,
    store,
    worker_process::STATEMENT_TIMEOUT,
};

/// Poll interval without notifications.
const RE_READ_INTERVAL: Duration = Duration::from_secs(2);

/// Margin after a lease, so that it has expired.
const SLACK: Duration = Duration::from_millis(200);

/// A watch on a job, until dropped.
#[derive(Debug)]
pub struct Subscription<J> {
    pool: PgPool,
    id: String,
    listener: JobListener,
    mode: SubscriptionMode,
    /// Queue of the job if the watcher submitted it; such watchers are counted, with the result that they saw.
    submitter_queue: Option<&'static str>,
    /// Set once the outcome was seen.
    settled: bool,
    _lease: Background,
    job: PhantomData<fn() -> J>,
}

/// New facts about a watched job.
#[derive(Debug)]
pub struct JobUpdate<T> {
    /// Progress events, in order.
    pub events: Vec<JobEvent>,
    /// Outcome, once the job has one and all its events were seen.
    pub end: Option<Result<Result<T, JobFailure>, AwaitError>>,
}

impl<J: Job> Subscription<J> {
    /// Watches the job `id` from now on.
    pub(crate) async fn begin(
        pool: PgPool,
        listeners: &Arc<JobListeners>,
        id: String,
        mode: SubscriptionMode,
    ) -> Result<Self, sqlx::Error> {
        let listener = listeners.open(id.clone());
        events::renew_watch(&pool, &id, mode).await?;
        let lease = renewal(pool.clone(), id.clone(), mode);
        let job = PhantomData;
        Ok(Self { pool, id, listener, mode, submitter_queue: None, settled: false, _lease: lease, job })
    }

    /// Marks the watcher as the job's submitter, for the metrics.
    pub(crate) fn into_submitter(mut self) -> Self {
        self.submitter_queue = Some(J::QUEUE);
        self
    }

    /// Returns the job's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Waits until there may be something new to see.
    pub async fn wait_for_change(&mut self) {
        self.listener.wait_for_change(RE_READ_INTERVAL).await;
    }

    /// Polls the job: its events after number `after`, and its end.
    ///
    /// # Errors
    /// Fails when the database does; the call can be repeated.
    pub async fn poll(&mut self, after: i64) -> Result<JobUpdate<J::Outcome>, sqlx::Error> {
        // The state is read before the events: an event after the end belongs to nobody.
        let state = database::within(STATEMENT_TIMEOUT, store::state(&self.pool, &self.id)).await?;
        let events =
            database::within(STATEMENT_TIMEOUT, events::events_after(&self.pool, &self.id, after)).await?;
        if !events.is_empty() {
            return Ok(JobUpdate { events, end: None });
        }
        let end = match state {
            store::WatchedState::Finished(outcome) => Some(decode::<J>(&outcome)),
            store::WatchedState::Missing => Some(Err(AwaitError::Lost)),
            store::WatchedState::Late => Some(Err(AwaitError::DeadlinePassed)),
            store::WatchedState::Open => {
                // Perhaps no other process notices that it is too late to start the job.
                database::within(STATEMENT_TIMEOUT, store::settle(&self.pool, &self.id)).await?;
                None
            }
        };
        if let Some(end) = &end {
            self.settle(end);
        }
        Ok(JobUpdate { events, end })
    }

    fn settle(&mut self, end: &Result<Result<J::Outcome, JobFailure>, AwaitError>) {
        self.settled = true;
        if let Some(queue) = self.submitter_queue.take() {
            callers::answered(queue, end);
        }
    }
}

impl<J> Drop for Subscription<J> {
    fn drop(&mut self) {
        if let Some(queue) = self.submitter_queue {
            callers::left(queue);
        }
        if self.settled || self.mode == SubscriptionMode::Passive {
            return;
        }
        let (pool, id) = (self.pool.clone(), self.id.clone());
        database::run_after_drop(async move {
            tokio::time::sleep(WATCH_LEASE + SLACK).await;
            let unwatched = async {
                if events::is_watched(&pool, &id).await? {
                    return Ok(());
                }
                store::cancel(&pool, std::slice::from_ref(&id)).await
            };
            if let Err(error) = database::within(STATEMENT_TIMEOUT, unwatched).await {
                warn!(job.id = %id, "a job without subscribers could not be cancelled: {error}");
            }
        });
    }
}

/// Renews the watch until dropped.
fn renewal(pool: PgPool, id: String, mode: SubscriptionMode) -> Background {
    Background::supervise("saying that somebody watches a job", move || {
        let (pool, id) = (pool.clone(), id.clone());
        async move {
            loop {
                tokio::time::sleep(RENEWAL_INTERVAL).await;
                if let Err(error) =
                    database::within(STATEMENT_TIMEOUT, events::renew_watch(&pool, &id, mode)).await
                {
                    warn!(job.id = %id, "could not renew a subscription: {error}");
                }
            }
        }
    })
}
