//! How the queue's operations fail.

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

/// A job was not taken.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "fields named in the variant's doc")]
#[non_exhaustive]
pub enum SubmitError {
    /// The work ahead would outlast the job's deadline; after `retry_after` it would not, if nothing else came.
    #[error("the queue is full for {retry_after:?}")]
    Full { retry_after: Duration },
    /// The account has as many jobs in flight as it may; after `retry_after` one of them may be done.
    #[error("the account has too many jobs in flight")]
    TooManyInFlight { retry_after: Duration },
    /// An operator has paused the queue; nobody knows until when, and `retry_after` is when to look again.
    #[error("the queue is paused by an operator")]
    Paused { retry_after: Duration },
    /// No worker lives that may take the job; `retry_after` is about how long one takes to start.
    #[error("no worker lives")]
    NoWorker { retry_after: Duration },
    /// Workers live, and none of them has, or had lately, the model that the job names.
    #[error("no such model")]
    UnknownModel,
    /// The job could not be written as JSON.
    #[error("the job cannot be stored")]
    Unencodable(#[source] serde_json::Error),
    /// The task that stores it panicked.
    #[error("the job's submission panicked")]
    Panicked(#[source] tokio::task::JoinError),
    /// The insert failed.
    #[error("the database failed")]
    Database(#[from] sqlx::Error),
}

/// No outcome of a job that was taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AwaitError {
    /// The job's deadline passed first.
    #[error("the deadline passed")]
    DeadlinePassed,
    /// The stored outcome is not of the type that the job promises.
    #[error("the outcome cannot be read")]
    Undecodable(#[source] serde_json::Error),
    /// The database forgot the job: it crashed before it had written it down.
    #[error("the job was lost")]
    Lost,
    /// The outcome could not be read until the deadline.
    #[error("the database failed")]
    Database(#[from] sqlx::Error),
}

/// A fault of the machine in a handler: the job is tried again, until its attempts are spent.
pub type HandlerError = Box<dyn std::error::Error + Send + Sync>;
