//! A job that was taken, and the wait for its outcome.

use std::{marker::PhantomData, sync::Arc, time::Duration};

use contract::{JobId, Problem};
use serde_json::Value;
use sqlx::PgPool;
use tokio::time::Instant;
use tracing::{Instrument, Span, warn};

use crate::{
    AwaitError, Job,
    metrics::callers,
    store,
    waiters::{Waiter, Waiters},
};

/// How often the outcome is looked for when no notification comes.
const RE_READ: Duration = Duration::from_secs(2);

/// How long the last look at the deadline may take.
const LAST_LOOK: Duration = Duration::from_millis(200);

/// The database counts a job's time from when it stored it: this long after we have begun to count it has ended there too.
const UNTIL_STORED: Duration = Duration::from_millis(100);

/// How long the job of a caller that left is tried to be cancelled.
const CANCEL: Duration = Duration::from_secs(5);

/// A job that was taken and whose outcome is awaited; dropping it before that cancels the job.
#[must_use = "a pending job that is dropped is cancelled"]
pub struct Pending<J> {
    pool: PgPool,
    waiters: Arc<Waiters>,
    id: JobId,
    deadline: Instant,
    /// When it must have been begun.
    begin_by: Instant,
    waiter: Arc<Waiter>,
    /// Whether dropping leaves the job alone.
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
        patience: Duration,
        longest: Option<f64>,
    ) -> Self {
        let waiter = waiters.register(id.to_string());
        let now = Instant::now();
        let longest = Duration::try_from_secs_f64(longest.unwrap_or(0.0)).unwrap_or_default();
        Self {
            pool,
            waiters,
            id,
            deadline: now + patience,
            begin_by: now + patience.saturating_sub(longest) + UNTIL_STORED,
            waiter,
            settled: false,
            queue: J::QUEUE,
            job: PhantomData,
        }
    }

    /// Lets the job be: it was not taken.
    pub(crate) fn forget(&mut self) {
        self.settled = true;
    }

    /// The job's id.
    #[must_use]
    pub fn id(&self) -> JobId {
        self.id
    }

    /// Waits for the outcome until the job's deadline.
    ///
    /// A job that was not begun while it could still have the time that it was promised gets its outcome then
    /// ([`Problem::TooLate`]), and not at its deadline.
    ///
    /// # Errors
    /// Fails when there is no outcome by then, or none that can be read. A job whose deadline passes is not
    /// cancelled: one that is being worked on may still finish, for whoever looks later.
    pub async fn outcome(mut self) -> Result<Result<J::Outcome, Problem>, AwaitError> {
        loop {
            let now = Instant::now();
            let next = if now < self.begin_by { self.begin_by.min(self.deadline) } else { self.deadline };
            let pause = RE_READ.min(next.saturating_duration_since(now));
            // Notified, or time to look anyway: both end in reading the row, unless the outcome came along.
            let _ = tokio::time::timeout(pause, self.waiter.woken()).await;
            let looked = tokio::time::timeout(RE_READ.min(self.longest_look()), self.look()).await;
            let late = Instant::now() >= self.deadline;
            let outcome = match looked {
                Ok(Ok(store::Outcome::Finished(outcome))) => decode::<J>(outcome),
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

    /// A database that does not answer costs the caller his deadline and no more than a moment besides.
    fn longest_look(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now()).max(LAST_LOOK)
    }

    /// Reads the row; once it is too late to begin the job, gives it the outcome that it then has.
    async fn look(&self) -> Result<store::Outcome, sqlx::Error> {
        if let Some(outcome) = self.waiter.told().and_then(|text| serde_json::from_str(&text).ok()) {
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

/// The outcome as it is stored, read.
pub(crate) fn decode<J: Job>(outcome: Value) -> Result<Result<J::Outcome, Problem>, AwaitError> {
    serde_json::from_value(outcome).map_err(AwaitError::Undecodable)
}

impl<J> Drop for Pending<J> {
    fn drop(&mut self) {
        let id = self.id.to_string();
        self.waiters.remove(&id);
        if self.settled {
            return;
        }
        callers::left(self.queue);
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let pool = self.pool.clone();
        let cancel = async move {
            if let Err(error) =
                database::within(CANCEL, store::cancel(&pool, std::slice::from_ref(&id))).await
            {
                warn!(job.id = %id, "the job of a caller that left could not be cancelled: {error}");
            }
        };
        runtime.spawn(cancel.instrument(Span::current()));
    }
}
