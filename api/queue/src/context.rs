//! What a handler knows of its job, and how it hands over the outcome.

use std::{
    marker::PhantomData,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use contract::{JobId, Problem};
use serde::Serialize;
use sqlx::PgConnection;

use crate::{HandlerError, Job, Teller, store};

/// What a handler knows of the job besides its body.
#[derive(Debug)]
#[non_exhaustive]
pub struct JobContext<J> {
    /// The job's id.
    pub id: JobId,
    /// 1 at the first try.
    pub attempt: u32,
    /// When the caller stops waiting.
    pub deadline: Instant,
    /// Becomes true when the caller has left, or the job is no longer this worker's.
    pub cancelled: Arc<AtomicBool>,
    /// Whether somebody watches the job; a second old at most.
    pub watched: Arc<AtomicBool>,
    /// `attempt` as the database has it: the right to finish the job.
    pub(crate) attempt_number: i32,
    /// Whether `finish` was called; a handler that forgets it is at fault.
    pub(crate) answered: Arc<AtomicBool>,
    pub(crate) job: PhantomData<fn() -> J>,
}

/// What became of an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a superseded outcome must be rolled back"]
pub enum Finished {
    /// It is the job's outcome once the transaction commits.
    Stored,
    /// The job was cancelled, has another outcome or is another worker's by now: roll back.
    Superseded,
}

impl<J: Job> JobContext<J> {
    /// What tells those who watch the job.
    #[must_use]
    pub fn teller(&self) -> Teller {
        Teller::new(self.id.to_string(), self.attempt_number)
    }

    /// Writes the outcome in the caller's transaction, so that it and the caller's own rows commit together.
    ///
    /// # Errors
    /// Fails when the database does or the outcome cannot be written as JSON.
    pub async fn finish(
        &self,
        connection: &mut PgConnection,
        outcome: &Result<J::Outcome, Problem>,
    ) -> Result<Finished, HandlerError> {
        self.finish_with(connection, outcome).await
    }
}

impl<J> JobContext<J> {
    /// The same of any kind of outcome.
    pub(crate) async fn finish_with(
        &self,
        connection: &mut PgConnection,
        outcome: &impl Serialize,
    ) -> Result<Finished, HandlerError> {
        // As text: a tree of values takes several times as much.
        let outcome = serde_json::value::to_raw_value(outcome)?;
        let stored = store::finish(connection, &self.id.to_string(), self.attempt_number, &outcome).await?;
        self.answered.store(true, Ordering::Release);
        Ok(if stored { Finished::Stored } else { Finished::Superseded })
    }

    /// The context of a job whose kind is known.
    pub(crate) fn of<K>(self) -> JobContext<K> {
        let Self { id, attempt, deadline, cancelled, watched, attempt_number, answered, job: _ } = self;
        JobContext { id, attempt, deadline, cancelled, watched, attempt_number, answered, job: PhantomData }
    }
}
