//! Wait for the outcome of a job that was taken.

use std::{marker::PhantomData, sync::Arc, time::Duration};

use contract::{JobFailure, JobId};
use serde_json::value::RawValue;
use sqlx::PgPool;
use tokio::time::Instant;
use tracing::warn;

use crate::{
    AwaitError, Job,
    metrics::callers,
    store,
    waiters::{Waiter, Waiters},
};

/// Interval at which the outcome is polled without notifications.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Timeout of the last poll, at the deadline.
const LAST_POLL_TIMEOUT: Duration = Duration::from_millis(200);

/// Margin for the database's clock, which counts a job's time from its insertion: this long after our own time is
/// over, the database's is over too.
const INSERT_MARGIN: Duration = Duration::from_millis(100);

/// Time for which cancelling the job of a caller that left is retried.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(5);

/// A job that was taken and whose outcome is awaited; dropping it before the outcome cancels the job.
#[must_use = "a pending job that is dropped is cancelled"]
pub struct Pending<J> {
    pool: PgPool,
    waiters: Arc<Waiters>,
    id: JobId,
    deadline: Instant,
    /// Latest time at which it can start.
    begin_by: Instant,
    waiter: Arc<Waiter>,
    /// True if dropping must not cancel the job.
    settled: bool,
    queue: &'static str,
    job: PhantomData<fn() -> J>,
}

impl<J: Job> Pending<J> {
    /// Waits from now for a job that runs `longest` seconds at most.
    pub(crate) fn register(
        pool: PgPool,
        waiters: Arc<Waiters>,
        id: JobId,
        timeout: Duration,
        longest: Option<f64>,
    ) -> Self {
        let waiter = waiters.register(id.to_string());
        let now = Instant::now();
        let longest = Duration::try_from_secs_f64(longest.unwrap_or(0.0)).unwrap_or_default();
        Self {
            pool,
            waiters,
            id,
            deadline: now + timeout,
            begin_by: now + timeout.saturating_sub(longest) + INSERT_MARGIN,
            waiter,
            settled: false,
            queue: J::QUEUE,
            job: PhantomData,
        }
    }

    /// Leaves the job alone, since it was not taken.
    pub(crate) fn forget(&mut self) {
        self.settled = true;
    }

    /// Returns the job's id.
    #[must_use]
    pub fn id(&self) -> JobId {
        self.id
    }

    /// Waits for the outcome until the job's deadline.
    ///
    /// A job that has not started while its promised time was left gets the outcome [`JobFailure::TooLate`] at that
    /// moment, not at its deadline.
    ///
    /// # Errors
    /// Fails when there is no readable outcome by then. A job whose deadline passes is not cancelled: if a worker
    /// runs it, it may still finish, for a later reader.
    pub async fn outcome(mut self) -> Result<Result<J::Outcome, JobFailure>, AwaitError> {
        loop {
            let now = Instant::now();
            let next = if now < self.begin_by { self.begin_by.min(self.deadline) } else { self.deadline };
            let pause = POLL_INTERVAL.min(next.saturating_duration_since(now));
            // After a notification or the timeout the row is read, unless the outcome came with the notification.
            let _ = tokio::time::timeout(pause, self.waiter.woken()).await;
            let looked =
                tokio::time::timeout(POLL_INTERVAL.min(self.poll_timeout()), self.poll_outcome()).await;
            let late = Instant::now() >= self.deadline;
            let outcome = match looked {
                Ok(Ok(store::Outcome::Finished(outcome))) => decode::<J>(&outcome),
                Ok(Ok(store::Outcome::Missing)) => Err(AwaitError::Lost),
                Ok(Ok(store::Outcome::Open)) | Err(_) if late => Err(AwaitError::DeadlinePassed),
                Ok(Err(error)) if late => Err(error.into()),
                Ok(Ok(store::Outcome::Open)) => continue,
                Ok(Err(error)) => {
                    warn!(job.id = %self.id, "the outcome could not be read, trying again: {error}");
                    continue;
                }
                Err(_) => {
                    warn!(job.id = %self.id, "the database does not answer, trying again");
                    continue;
                }
            };
            self.settled = true;
            callers::answered(J::QUEUE, &outcome);
            return outcome;
        }
    }

    /// Returns the timeout of a poll: a database that does not answer costs the caller its deadline and only a moment
    /// more.
    fn poll_timeout(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now()).max(LAST_POLL_TIMEOUT)
    }

    /// Reads the row. If it is too late to start the job, this also stores the terminal state.
    async fn poll_outcome(&self) -> Result<store::Outcome, sqlx::Error> {
        if let Some(outcome) = self.waiter.take_outcome().and_then(|text| RawValue::from_string(text).ok()) {
            return Ok(store::Outcome::Finished(outcome));
        }
        let id = self.id.to_string();
        match store::outcome(&self.pool, &id).await? {
            store::Outcome::Open if Instant::now() >= self.begin_by => {
                store::settle(&self.pool, &id).await?;
                store::outcome(&self.pool, &id).await
            }
            outcome => Ok(outcome),
        }
    }
}

/// Decodes the stored outcome.
pub(crate) fn decode<J: Job>(outcome: &RawValue) -> Result<Result<J::Outcome, JobFailure>, AwaitError> {
    serde_json::from_str(outcome.get()).map_err(AwaitError::Undecodable)
}

impl<J> Drop for Pending<J> {
    fn drop(&mut self) {
        let id = self.id.to_string();
        self.waiters.remove(&id);
        if self.settled {
            return;
        }
        callers::left(self.queue);
        let pool = self.pool.clone();
        database::run_after_drop(async move {
            let cancelled = store::cancel(&pool, std::slice::from_ref(&id));
            if let Err(error) = database::within(CANCEL_TIMEOUT, cancelled).await {
                warn!(job.id = %id, "the job of a caller that left could not be cancelled: {error}");
            }
        });
    }
}
