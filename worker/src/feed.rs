//! Feeding of batches: parts of batches become jobs, a few at a time.
//!
//! A batch has up to a hundred thousand rows, but the queue holds only the parts that will start within seconds. So
//! its tables stay small, and a cancellation or deletion has few jobs to end. Each account has enough jobs in flight
//! to keep all workers busy, from its oldest batch first; a disabled account has none. The queue decides which job is
//! next. Every worker of such jobs polls; one at a time feeds.

use std::time::Duration;

use queue::{Job, Urgency, queue_label};
use sqlx::{PgConnection, PgPool};
use tracing::warn;

/// Polling interval.
const FEED_POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Timeout of one poll.
const POLL_TIMEOUT: Duration = Duration::from_secs(10);

/// Jobs in flight per worker slot: as many as may end between two polls, at thirty milliseconds each.
const JOBS_PER_SLOT: i64 = 8;

/// Most jobs enqueued in one poll. A poll holds locks that delay new plans and cancellations, and a poll beyond its
/// timeout would be rolled back as a whole, again and again.
const MAX_JOBS_PER_POLL: i64 = 256;

/// Batch with parts to start.
#[derive(Debug)]
pub(crate) struct OpenBatch<P> {
    pub(crate) id: String,
    pub(crate) account_id: String,
    /// Parameters common to its parts.
    pub(crate) parameters: P,
    /// Jobs that the account has in flight for its batches.
    pub(crate) in_flight: i64,
}

/// Next part to start, with its job.
#[derive(Debug)]
pub(crate) struct NextPart<J> {
    pub(crate) id: String,
    pub(crate) job: J,
}

/// Tables of one kind of batch.
pub(crate) trait BatchTables {
    /// Job that makes a part.
    type Job: Job;
    /// Parameters common to the parts of a batch.
    type Parameters: Send + Sync;

    /// Returns each enabled account's oldest batch with parts to start; none while another process feeds.
    fn open(
        connection: &mut PgConnection,
    ) -> impl Future<Output = Result<Vec<OpenBatch<Self::Parameters>>, sqlx::Error>> + Send;

    /// Locks a batch until the transaction ends; false if it has nothing more to start, or is locked by another
    /// process.
    fn lock(
        connection: &mut PgConnection,
        id: &str,
    ) -> impl Future<Output = Result<bool, sqlx::Error>> + Send;

    /// Returns the next parts of the batch to get jobs, at most `most`.
    fn next(
        connection: &mut PgConnection,
        batch: &OpenBatch<Self::Parameters>,
        most: i64,
    ) -> impl Future<Output = Result<Vec<NextPart<Self::Job>>, sqlx::Error>> + Send;

    /// Records the job that makes the part.
    fn begin(
        connection: &mut PgConnection,
        part: &str,
        job_id: &str,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;

    /// Records that no part of the batch waits for a job, if that is so.
    fn all_begun(
        connection: &mut PgConnection,
        id: &str,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
}

/// Enqueues jobs for parts of batches, until dropped.
pub(crate) async fn feed<B: BatchTables>(pool: PgPool) {
    loop {
        if let Err(error) = database::within(POLL_TIMEOUT, enqueue_parts::<B>(&pool)).await {
            warn!("batches could not be given their {} jobs: {error}", queue_label(B::Job::QUEUE));
        }
        tokio::time::sleep(FEED_POLL_INTERVAL).await;
    }
}

async fn enqueue_parts<B: BatchTables>(pool: &PgPool) -> Result<(), queue::SubmitError> {
    let mut transaction = pool.begin().await?;
    let open = B::open(&mut transaction).await?;
    if open.is_empty() {
        return Ok(());
    }
    let live = queue::live_workers(&mut *transaction).await?;
    let slots = live.iter().filter(|live| live.queue == B::Job::QUEUE).map(|live| live.slots).sum::<i64>();
    let mut left = MAX_JOBS_PER_POLL;
    for batch in open {
        let room = (slots * JOBS_PER_SLOT - batch.in_flight).min(left);
        // The lock blocks cancelling and resuming until the parts have their jobs.
        if room <= 0 || !B::lock(&mut transaction, &batch.id).await? {
            continue;
        }
        let next = B::next(&mut transaction, &batch, room).await?;
        for part in &next {
            let job_id =
                queue::enqueue(&mut transaction, &part.job, &batch.account_id, Urgency::Batch).await?;
            B::begin(&mut transaction, &part.id, &job_id.to_string()).await?;
        }
        left -= next.len() as i64;
        if (next.len() as i64) < room {
            B::all_begun(&mut transaction, &batch.id).await?;
        }
    }
    transaction.commit().await?;
    Ok(())
}
