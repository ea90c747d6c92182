//! Jobs that nobody waits for: taken whatever stands before them, done when their turn comes.
//!
//! Such a job is submitted in the transaction of the row that wants it, so that neither is ever without the other, and whoever
//! wants its outcome reads the row. It has no waiter whose death would cancel it, and no deadline; its attempts end like others'. A
//! process that is told to stop hands it over at once, and does not count the attempt.

use contract::JobId;
use sqlx::PgConnection;

use crate::{Job, SubmitError, store};

/// When the turn of a job comes that nobody waits for. Accounts take turns among jobs of one urgency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// Before all batches: somebody soon comes back for it.
    Asked,
    /// After that: one of many.
    Batch,
}

impl Urgency {
    /// As `jobs.urgency` has it.
    const fn number(self) -> i16 {
        match self {
            Self::Asked => 0,
            Self::Batch => 1,
        }
    }
}

/// Stores `job` for the account in the transaction of `connection`, with the current trace context, and gives its id.
///
/// # Errors
/// Fails when the job is not stored.
pub async fn enqueue<J: Job>(
    connection: &mut PgConnection,
    job: &J,
    account_id: &str,
    urgency: Urgency,
) -> Result<JobId, SubmitError> {
    let id = JobId::generate();
    let new = store::NewUnawaited {
        id: &id.to_string(),
        queue: J::QUEUE,
        account_id,
        model_id: job.model_id(),
        work: job.work(),
        urgency: urgency.number(),
        payload: &serde_json::to_vec(job).map_err(SubmitError::Unencodable)?,
        trace: telemetry::inject(),
    };
    store::enqueue(connection, new).await?;
    Ok(id)
}

/// Cancels jobs in the transaction of `connection`: what waits is never begun, and workers stop what runs.
///
/// # Errors
/// Fails when the database does.
pub async fn cancel(connection: &mut PgConnection, ids: &[String]) -> Result<(), sqlx::Error> {
    store::cancel(connection, ids).await
}
