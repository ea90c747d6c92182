//! Retention: deletes expired samples, plans, lines of the audit log and past prices, where the settings limit how
//! long they are kept, and idempotency keys.
//!
//! Every API process runs it; a leader lease admits one at a time (`queue::retention`).

use std::time::Duration;

use database::Background;
use queue::retention::{BATCH, Sweep};
use sqlx::{PgConnection, PgPool};

use crate::{
    endpoints::{batches, plans, sample_batches, samples},
    idempotency,
    keep::Keep,
};

/// Interval between two sweeps.
const LOOK: Duration = Duration::from_secs(60);

/// Timeout of one sweep; the next one continues.
const PATIENCE: Duration = Duration::from_secs(60);

/// Deletes expired rows periodically until dropped.
pub fn retention(pool: PgPool, keep: Keep) -> Background {
    Background::keep("deleting what is older than it is kept", move || {
        let pool = pool.clone();
        async move {
            loop {
                if let Err(error) = database::within(PATIENCE, look(&pool, keep)).await {
                    tracing::warn!("what is older than it is kept could not be deleted: {error}");
                }
                tokio::time::sleep(LOOK).await;
            }
        }
    })
}

/// Deletes expired rows of all tables.
async fn look(pool: &PgPool, keep: Keep) -> Result<(), sqlx::Error> {
    // Before the samples, which are younger than their batches.
    sweep(pool, "sample batches", keep.samples, sample_batches::delete_older).await?;
    sweep(pool, "sample orders", keep.samples, samples::orders::delete_older).await?;
    let samples = sweep(pool, "samples", keep.samples, samples::delete_older).await?;
    if samples > 0 {
        tracing::info!(samples, "deleted samples older than KEEP_SAMPLES_DAYS");
    }
    let plans = sweep(pool, "plans", keep.plans, plans::delete_older).await?;
    if plans > 0 {
        tracing::info!(plans, "deleted plans older than KEEP_PLANS_DAYS");
    }
    sweep(pool, "batches", keep.plans, batches::mark_older).await?;
    let delete_some = async |turn: &mut PgConnection, _| batches::delete_some(turn).await;
    sweep(pool, "plans of deleted batches", Some(Duration::ZERO), delete_some).await?;
    sweep(pool, "idempotency keys", Some(idempotency::KEEP), idempotency::delete_older).await?;
    let lines = sweep(pool, "journal", keep.journal, delete_older_lines).await?;
    if lines > 0 {
        tracing::info!(lines, "deleted lines of the journal older than KEEP_JOURNAL_DAYS");
    }
    let prices = sweep(pool, "prices", keep.prices, delete_older_prices).await?;
    if prices > 0 {
        tracing::info!(prices, "deleted past prices older than KEEP_PRICES_DAYS");
    }
    Ok(())
}

/// Runs `delete` for rows older than `keep`, one batch per call; returns the number of rows deleted.
async fn sweep(
    pool: &PgPool,
    what: &str,
    keep: Option<Duration>,
    delete: impl AsyncFn(&mut PgConnection, Duration) -> Result<u64, sqlx::Error>,
) -> Result<u64, sqlx::Error> {
    let mut sweep = Sweep::begin(pool, what, keep).await?;
    while let (Some(keep), Some(mut turn)) = (keep, sweep.turn().await?) {
        let rows = delete(&mut turn, keep).await?;
        sweep.end(turn, rows).await?;
    }
    Ok(sweep.deleted())
}

/// Deletes lines of the audit log, oldest first, at most one batch; the database keeps all that are younger than a
/// year.
async fn delete_older_lines(connection: &mut PgConnection, keep: Duration) -> Result<u64, sqlx::Error> {
    let done = sqlx::query!(
        "delete from journal where id = any(array(
            select id from journal where at < now() - make_interval(secs => $1) order by id limit $2
        ))",
        keep.as_secs_f64(),
        BATCH
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}

/// Deletes past prices of offers, oldest first, at most one batch.
async fn delete_older_prices(connection: &mut PgConnection, keep: Duration) -> Result<u64, sqlx::Error> {
    let done = sqlx::query!(
        "delete from offer_prices where id = any(array(
            select id from offer_prices where until < now() - make_interval(secs => $1) order by until limit $2
        ))",
        keep.as_secs_f64(),
        BATCH
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}
