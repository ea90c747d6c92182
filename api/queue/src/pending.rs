//! A job that was taken, and the wait for its outcome.

use std::{marker::PhantomData, sync::Arc, time::Duration};

use chrono::{DateTime, Utc};
use contract::{JobId, Problem};
use serde_json::Value;
use sqlx::PgPool;
use tokio::{sync::Notify, time::Instant};
use tracing::{Instrument, Span, warn};

use crate::{AwaitError, Job, client::Waiters, store};

/// How often the outcome is looked for when no notification comes.
const RE_READ: Duration = Duration::from_secs(2);

/// How long the job of a caller that left is tried to be cancelled.
const CANCEL: Duration = Duration::from_secs(5);

/// A job that was taken and whose outcome is awaited; dropping it before that cancels the job.
#[must_use = "a pending job that is dropped is cancelled"]
pub struct Pending<J> {
    pool: PgPool,
    waiters: Arc<Waiters>,
    id: JobId,
    deadline: DateTime<Utc>,
    finished: Arc<Notify>,
    /// Whether dropping leaves the job alone.
    settled: bool,
    job: PhantomData<fn() -> J>,
}

impl<J: Job> Pending<J> {
    pub(crate) fn register(pool: PgPool, waiters: Arc<Waiters>, id: JobId, deadline: DateTime<Utc>) -> Self {
        let finished = waiters.register(id.to_string());
        Self { pool, waiters, id, deadline, finished, settled: false, job: PhantomData }
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
    /// # Errors
    /// Fails when there is no outcome by then, or none that can be read. A job whose deadline passes is not
    /// cancelled: one that is being worked on may still finish, for whoever looks later.
    pub async fn outcome(mut self) -> Result<Result<J::Outcome, Problem>, AwaitError> {
        let patience = (self.deadline - Utc::now()).to_std().unwrap_or_default();
        let end = Instant::now() + patience;
        loop {
            let pause = RE_READ.min(end.saturating_duration_since(Instant::now()));
            // Notified, or time to look anyway: both end in reading the row.
            let _ = tokio::time::timeout(pause, self.finished.notified()).await;
            let read = store::outcome(&self.pool, &self.id.to_string()).await;
            let late = Instant::now() >= end;
            match read {
                Ok(store::Outcome::Finished(outcome)) => {
                    self.settled = true;
                    return decode::<J>(outcome);
                }
                Ok(store::Outcome::Missing) => {
                    self.settled = true;
                    return Err(AwaitError::Lost);
                }
                Ok(store::Outcome::Open) if late => {
                    self.settled = true;
                    return Err(AwaitError::DeadlinePassed);
                }
                Ok(store::Outcome::Open) => {}
                Err(error) if late => {
                    self.settled = true;
                    return Err(error.into());
                }
                Err(error) => {
                    warn!(job.id = %self.id, "the outcome could not be read, trying again: {error}");
                }
            }
        }
    }
}

fn decode<J: Job>(outcome: Value) -> Result<Result<J::Outcome, Problem>, AwaitError> {
    serde_json::from_value(outcome).map_err(AwaitError::Undecodable)
}

impl<J> Drop for Pending<J> {
    fn drop(&mut self) {
        let id = self.id.to_string();
        self.waiters.remove(&id);
        if self.settled {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let pool = self.pool.clone();
        let cancel = async move {
            if let Err(error) = database::within(CANCEL, store::cancel(&pool, &id)).await {
                warn!(job.id = %id, "the job of a caller that left could not be cancelled: {error}");
            }
        };
        runtime.spawn(cancel.instrument(Span::current()));
    }
}
