//! Background jobs: always admitted, and run in the order of their virtual start times.
//!
//! Such a job is inserted in the transaction of the row that needs it, so that neither exists without the other. The
//! outcome is read from that row. The job has no deadline and no waiter whose end would cancel it; its attempts end
//! like those of other jobs. A process that is told to stop releases it at once, and does not count the attempt.

use contract::JobId;
use sqlx::PgConnection;

use crate::{Job, SubmitError, store};

/// Urgency of a background job. Accounts share the workers fairly within one urgency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Urgency {
    /// Before all batches: somebody will soon come back for it.
    Asked,
    /// After those: one of many.
    Batch,
}

impl Urgency {
    /// Value of `jobs.urgency`.
    const fn number(self) -> i16 {
        match self {
            Self::Asked => 0,
            Self::Batch => 1,
        }
    }
}

/// Stores `job` for the account in the transaction of `connection`, with the current trace context, and returns its
/// id.
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
    let new = store::NewBackgroundJob {
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

/// Cancels the jobs of some rows, of those that have one, in the transaction of `connection`: waiting ones never start,
/// and workers stop running ones.
///
/// # Errors
/// Fails when the database does.
pub async fn cancel(connection: &mut PgConnection, ids: Vec<Option<String>>) -> Result<(), sqlx::Error> {
    let ids: Vec<String> = ids.into_iter().flatten().collect();
    store::cancel(connection, &ids).await
}
