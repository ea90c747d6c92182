//! What a worker does with each kind of job.

mod look;
mod order;
mod plan;
mod sample;
mod search;

use std::{io::Write, time::Duration};

use contract::Problem;
use flate2::{Compression, write::GzEncoder};
use queue::{Finished, HandlerError, Job, JobContext};
use serde::Serialize;
use sqlx::PgPool;

pub use look::Looks;
pub use order::Orders;
pub use plan::Plans;
pub use sample::{Sampling, draw};
pub use search::{Search, search};

/// How long an act of a handler may wait for the database before its attempt has failed.
const DATABASE: Duration = Duration::from_secs(30);

/// How a computation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended<T> {
    /// With what was wanted.
    Done(T),
    /// With a reason why there is nothing.
    Refused(Problem),
    /// Early, because the caller left.
    Cancelled,
}

/// Stores the outcome of a job that leaves nothing else, unless the job has become another's or has ended.
async fn store<J: Job>(
    pool: &PgPool,
    context: &JobContext<J>,
    outcome: &Result<J::Outcome, Problem>,
) -> Result<(), HandlerError> {
    database::within(DATABASE, async {
        let mut transaction = pool.begin().await?;
        match context.finish(&mut transaction, outcome).await? {
            Finished::Stored => transaction.commit().await?,
            Finished::Superseded => transaction.rollback().await?,
        }
        Ok(())
    })
    .await
}

/// `value` as JSON, gzipped.
fn zipped(value: &impl Serialize, compression: Compression) -> Result<Vec<u8>, HandlerError> {
    let mut encoder = GzEncoder::new(Vec::new(), compression);
    encoder.write_all(&serde_json::to_vec(value)?)?;
    Ok(encoder.finish()?)
}

fn count(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
