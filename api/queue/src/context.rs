//! Context of a job for its handler, and the way to hand over the outcome.

use std::{
    marker::PhantomData,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use contract::{JobFailure, JobId};
use serde::Serialize;
use sqlx::PgConnection;

use crate::{EventPublisher, HandlerError, Job, store};

/// Facts about a job besides its body.
#[derive(Debug)]
#[non_exhaustive]
pub struct JobContext<J> {
    /// Job id.
    pub id: JobId,
    /// Number of the attempt, 1 for the first.
    pub attempt: u32,
    /// Time at which the caller stops waiting.
    pub deadline: Instant,
    /// Cancellation flag: set when the caller has left or the job is no longer this worker's.
    pub cancelled: Arc<AtomicBool>,
    /// Set while somebody watches the job; a second old at most.
    pub watched: Arc<AtomicBool>,
    /// The `attempt` as stored in the database, which grants the right to finish the job.
    pub(crate) attempt_number: i32,
    /// Set once `finish` was called; a handler that does not call it is at fault.
    pub(crate) answered: Arc<AtomicBool>,
    pub(crate) job: PhantomData<fn() -> J>,
}

/// Result of storing an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a superseded outcome must be rolled back"]
pub enum FinishResult {
    /// The outcome counts once the transaction commits.
    Stored,
    /// The job was cancelled, has another outcome or is another worker's by now: roll back.
    Superseded,
}

impl<J: Job> JobContext<J> {
    /// Returns the publisher of the job's progress events.
    #[must_use]
    pub fn event_publisher(&self) -> EventPublisher {
        EventPublisher::new(self.id.to_string(), self.attempt_number)
    }

    /// Writes the outcome in the caller's transaction, so that it commits together with the caller's own rows.
    ///
    /// # Errors
    /// Fails when the database does or the outcome cannot be written as JSON.
    pub async fn finish(
        &self,
        connection: &mut PgConnection,
        outcome: &Result<J::Outcome, JobFailure>,
    ) -> Result<FinishResult, HandlerError> {
        self.finish_with(connection, outcome).await
    }
}

impl<J> JobContext<J> {
    /// Writes any kind of outcome, as [`JobContext::finish`] does.
    pub(crate) async fn finish_with(
        &self,
        connection: &mut PgConnection,
        outcome: &impl Serialize,
    ) -> Result<FinishResult, HandlerError> {
        // As text: a tree of JSON values takes several times the memory.
        let outcome = serde_json::value::to_raw_value(outcome)?;
        let stored = store::finish(connection, &self.id.to_string(), self.attempt_number, &outcome).await?;
        self.answered.store(true, Ordering::Release);
        Ok(if stored { FinishResult::Stored } else { FinishResult::Superseded })
    }

    /// Types the context with the kind of its job.
    pub(crate) fn of<K>(self) -> JobContext<K> {
        let Self { id, attempt, deadline, cancelled, watched, attempt_number, answered, job: _ } = self;
        JobContext { id, attempt, deadline, cancelled, watched, attempt_number, answered, job: PhantomData }
    }
}
