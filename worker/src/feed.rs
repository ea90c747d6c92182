//! Batches become jobs, a few of their parts at a time.
//!
//! A batch is a hundred thousand rows, and the queue knows only those of its parts that will be begun within seconds: its tables stay
//! small, and what is cancelled or deleted has few jobs to end. Each account has as many jobs in flight as keep all workers busy, of its
//! oldest batch first, and a disabled one has none; whose turn comes is the queue's to say. Every worker that does such jobs looks; one at a time feeds.

use std::time::Duration;

use queue::{Job, Urgency};
use sqlx::{PgConnection, PgPool};
use tracing::warn;

/// The time between two looks.
const LOOK: Duration = Duration::from_millis(250);

/// How long one may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Jobs in flight for each place that does them: as many as may end between two looks, where each takes thirty milliseconds.
const FOR_EACH_SLOT: i64 = 8;

/// Jobs given out in one look. It holds locks that who asks for plans of their own and who cancels wait for, and a look that took longer
/// than it may would be taken back as a whole, again and again.
const AT_ONCE: i64 = 256;

/// A batch with parts that are to be begun.
#[derive(Debug)]
pub(crate) struct OpenBatch<P> {
    pub(crate) id: String,
    pub(crate) account_id: String,
    /// What its parts have in common.
    pub(crate) parameters: P,
    /// Jobs that the account has in flight for its batches.
    pub(crate) in_flight: i64,
}

/// A part that is to be begun, and the job that makes it.
#[derive(Debug)]
pub(crate) struct Next<J> {
    pub(crate) id: String,
    pub(crate) job: J,
}

/// The tables of one kind of batches.
pub(crate) trait Batches {
    /// What makes a part.
    type Job: Job;
    /// What the parts of a batch have in common.
    type Parameters: Send + Sync;

    /// The oldest batch with parts to be begun of each account that is not disabled; none while another process looks.
    fn open(
        connection: &mut PgConnection,
    ) -> impl Future<Output = Result<Vec<OpenBatch<Self::Parameters>>, sqlx::Error>> + Send;

    /// Holds a batch until the transaction ends; false where it is not to be begun any more, or somebody else holds it.
    fn lock(
        connection: &mut PgConnection,
        id: &str,
    ) -> impl Future<Output = Result<bool, sqlx::Error>> + Send;

    /// The next parts of the batch that wait for a job, at most so many.
    fn next(
        connection: &mut PgConnection,
        batch: &OpenBatch<Self::Parameters>,
        most: i64,
    ) -> impl Future<Output = Result<Vec<Next<Self::Job>>, sqlx::Error>> + Send;

    /// Says which job makes the part.
    fn begin(
        connection: &mut PgConnection,
        part: &str,
        job_id: &str,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;

    /// Says that no part of the batch waits for a job.
    fn all_begun(
        connection: &mut PgConnection,
        id: &str,
    ) -> impl Future<Output = Result<(), sqlx::Error>> + Send;
}

/// Gives parts of batches their jobs, until dropped.
pub(crate) async fn feed<B: Batches>(pool: PgPool) {
    loop {
        if let Err(error) = database::within(PATIENCE, look::<B>(&pool)).await {
            warn!("batches could not be given their jobs of `{}`: {error}", B::Job::QUEUE);
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn look<B: Batches>(pool: &PgPool) -> Result<(), queue::SubmitError> {
    let mut transaction = pool.begin().await?;
    let open = B::open(&mut transaction).await?;
    if open.is_empty() {
        return Ok(());
    }
    let live = queue::live_workers(&mut *transaction).await?;
    let slots = live.iter().filter(|live| live.queue == B::Job::QUEUE).map(|live| live.slots).sum::<i64>();
    let mut left = AT_ONCE;
    for batch in open {
        let room = (slots * FOR_EACH_SLOT - batch.in_flight).min(left);
        // Nobody cancels or resumes it until its parts have their jobs.
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
