//! Errors of the queue's operations.

use std::time::Duration;

/// The database or apalis failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum QueueError {
    /// A query failed.
    #[error("the database failed")]
    Database(#[from] sqlx::Error),
    /// Apalis could not make or use its tables.
    #[error("apalis failed")]
    Apalis(#[from] apalis_postgres::Error),
}

/// Reason for which a job was not taken.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "fields named in the variant's doc")]
#[non_exhaustive]
pub enum SubmitError {
    /// The work ahead would outlast the job's deadline; after `retry_after` it would not, if no other job came.
    #[error("the queue is full for {retry_after:?}")]
    Full { retry_after: Duration },
    /// The account has as many jobs in flight as it may; after `retry_after` one of them may be done.
    #[error("the account has too many jobs in flight")]
    TooManyInFlight { retry_after: Duration },
    /// An operator has paused the queue. The end of the pause is unknown, so `retry_after` is only the time to try
    /// again.
    #[error("the queue is paused by an operator")]
    Paused { retry_after: Duration },
    /// No live worker can run the job; `retry_after` is about the start-up time of one.
    #[error("there is no live worker")]
    NoWorker { retry_after: Duration },
    /// Workers live, but none of them has or recently had the model that the job names.
    #[error("no such model")]
    UnknownModel,
    /// The job could not be written as JSON.
    #[error("the job cannot be stored")]
    Unencodable(#[source] serde_json::Error),
    /// The task that stores the job panicked.
    #[error("the job's submission panicked")]
    Panicked(#[source] tokio::task::JoinError),
    /// The insert failed.
    #[error("the database failed")]
    Database(#[from] sqlx::Error),
}

/// Reason for which a job that was taken has no outcome.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AwaitError {
    /// The job's deadline passed first.
    #[error("the deadline passed")]
    DeadlinePassed,
    /// The stored outcome is not of the job's type.
    #[error("the outcome cannot be read")]
    Undecodable(#[source] serde_json::Error),
    /// The database lost the job: it crashed before the job was on disk.
    #[error("the job was lost")]
    Lost,
    /// The outcome could not be read by the deadline.
    #[error("the database failed")]
    Database(#[from] sqlx::Error),
}

/// A machine failure in a handler: the job is retried until its attempts are used up.
pub type HandlerError = Box<dyn std::error::Error + Send + Sync>;
