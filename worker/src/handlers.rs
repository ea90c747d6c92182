//! Handlers of each kind of job.

mod async_sample;
mod bulk_query;
mod likelihood;
mod plan;
mod sample;
mod search;

use std::{
    io::Write,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use contract::JobFailure;
use flate2::{Compression, write::GzEncoder};
use queue::{FinishResult, HandlerError, Job, JobContext};
use serde::Serialize;
use sqlx::PgPool;

pub use async_sample::AsyncSampleHandler;
pub use bulk_query::BulkQueryHandler;
pub(crate) use bulk_query::route_stock;
pub use likelihood::LikelihoodHandler;
pub(crate) use likelihood::likelihoods;
pub use plan::PlanHandler;
pub use sample::{SampleHandler, draw};
pub use search::{SearchHandler, search};

/// Timeout of a database operation in a handler; after it the attempt has failed.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(30);

/// Interval of checking the cancellation flag.
const CANCEL_POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Outcome of a computation.
#[derive(Debug, Clone, PartialEq)]
pub enum ComputationOutcome<T> {
    /// Success.
    Done(T),
    /// Failure with a reason for the client.
    Refused(JobFailure),
    /// Stopped early, because the caller left.
    Cancelled,
}

/// Stores the outcome of a job that leaves nothing else, unless the job was claimed again or has ended.
async fn store<J: Job>(
    pool: &PgPool,
    context: &JobContext<J>,
    outcome: &Result<J::Outcome, JobFailure>,
) -> Result<(), HandlerError> {
    database::within(DATABASE_TIMEOUT, async {
        let mut transaction = pool.begin().await?;
        match context.finish(&mut transaction, outcome).await? {
            FinishResult::Stored => transaction.commit().await?,
            FinishResult::Superseded => transaction.rollback().await?,
        }
        Ok(())
    })
    .await
}

/// Resolves when `flag` is true.
pub(crate) async fn is_set(flag: &AtomicBool) {
    while !flag.load(Ordering::Acquire) {
        tokio::time::sleep(CANCEL_POLL_INTERVAL).await;
    }
}

/// Serialises `value` as gzipped JSON.
fn zipped(value: &impl Serialize, compression: Compression) -> Result<Vec<u8>, HandlerError> {
    let mut encoder = GzEncoder::new(Vec::new(), compression);
    encoder.write_all(&serde_json::to_vec(value)?)?;
    Ok(encoder.finish()?)
}

fn count(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
