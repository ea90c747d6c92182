//! Batches become jobs, a few of their plans at a time.
//!
//! A batch is a hundred thousand rows, and the queue knows only those of its plans that will be begun within seconds: its tables stay
//! small, and what is cancelled or deleted has few jobs to end. Each account has as many jobs in flight as keep all workers busy, of its
//! oldest batch first; whose turn comes is the queue's to say. Every searcher looks; one at a time feeds.

use std::time::Duration;

use contract::{PlanJob, StoredPlanJob};
use queue::{Job, Urgency, search_takes};
use sqlx::PgPool;
use tracing::warn;

use crate::plans;

/// The time between two looks.
const LOOK: Duration = Duration::from_millis(250);

/// How long one may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Jobs in flight for each place that does them: as many as may end between two looks, where each takes thirty milliseconds.
const FOR_EACH_SLOT: i64 = 8;

/// Gives plans of batches their jobs, until dropped.
pub async fn feed(pool: PgPool) {
    loop {
        if let Err(error) = database::within(PATIENCE, look(&pool)).await {
            warn!("plans of batches could not be given their jobs: {error}");
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn look(pool: &PgPool) -> Result<(), queue::SubmitError> {
    let mut transaction = pool.begin().await?;
    let open = plans::open_batches(&mut transaction).await?;
    if open.is_empty() {
        return Ok(());
    }
    let live = queue::live_workers(&mut *transaction).await?;
    let slots =
        live.iter().filter(|live| live.queue == StoredPlanJob::QUEUE).map(|live| live.slots).sum::<i64>();
    for batch in open {
        let room = slots * FOR_EACH_SLOT - batch.in_flight;
        // Nobody cancels or resumes it until its plans have their jobs.
        if room <= 0 || !plans::lock(&mut transaction, &batch.id).await? {
            continue;
        }
        let (_, expected_seconds) = search_takes(&batch.parameters);
        let next = plans::next_of(&mut transaction, &batch.id, room).await?;
        for plan in &next {
            let job = PlanJob { plan_id: plan.id.clone(), engine: plan.engine.clone(), expected_seconds };
            let job = StoredPlanJob::V1(job);
            let job_id = queue::enqueue(&mut transaction, &job, &batch.account_id, Urgency::Batch).await?;
            plans::begin(&mut transaction, &plan.id, &job_id.to_string()).await?;
        }
        if (next.len() as i64) < room {
            plans::all_begun(&mut transaction, &batch.id).await?;
        }
    }
    transaction.commit().await?;
    Ok(())
}
