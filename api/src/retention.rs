//! Retention: deletes expired samples, plans, lines of the audit log and past prices, where the settings limit how
//! long they are kept, and idempotency keys.
//!
//! Every API process runs it; a row lock admits one at a time, batch by batch (`queue::retention`).

use std::time::Duration;

use database::Background;
use queue::retention::{BATCH_ROWS, BatchedDeletion};
use sqlx::{PgConnection, PgPool};

use crate::{
    endpoints::{batches, plans, sample_batches, samples},
    idempotency,
    retention_times::RetentionTimes,
};

/// Interval between two sweeps.
const SWEEP_INTERVAL: Duration = Duration::from_secs(60);

/// Timeout of one sweep; the next one continues.
const SWEEP_TIMEOUT: Duration = Duration::from_secs(60);

/// Deletes expired rows periodically until dropped.
pub fn retention(pool: PgPool, retention: RetentionTimes) -> Background {
    Background::supervise("deleting expired data", move || {
        let pool = pool.clone();
        async move {
            loop {
                if let Err(error) = database::within(SWEEP_TIMEOUT, sweep_all(&pool, retention)).await {
                    tracing::warn!("expired data could not be deleted: {error}");
                }
                tokio::time::sleep(SWEEP_INTERVAL).await;
            }
        }
    })
}

/// Deletes expired rows of all tables.
async fn sweep_all(pool: &PgPool, retention: RetentionTimes) -> Result<(), sqlx::Error> {
    // Before the samples, which are younger than their batches.
    sweep(pool, "sample batches", retention.samples, sample_batches::delete_older).await?;
    sweep(pool, "sample orders", retention.samples, samples::async_samples::delete_older).await?;
    let samples = sweep(pool, "samples", retention.samples, samples::delete_older).await?;
    if samples > 0 {
        tracing::info!(samples, "deleted samples older than KEEP_SAMPLES_DAYS");
    }
    let plans = sweep(pool, "plans", retention.plans, plans::delete_older).await?;
    if plans > 0 {
        tracing::info!(plans, "deleted plans older than KEEP_PLANS_DAYS");
    }
    sweep(pool, "batches", retention.plans, batches::mark_older).await?;
    let delete_some = async |transaction: &mut PgConnection, _| batches::delete_some(transaction).await;
    sweep(pool, "plans of deleted batches", Some(Duration::ZERO), delete_some).await?;
    sweep(pool, "idempotency keys", Some(idempotency::KEY_RETENTION), idempotency::delete_older).await?;
    let lines = sweep(pool, "journal", retention.audit_log, delete_older_audit_entries).await?;
    if lines > 0 {
        tracing::info!(lines, "deleted lines of the audit log older than KEEP_JOURNAL_DAYS");
    }
    let prices = sweep(pool, "prices", retention.prices, delete_older_prices).await?;
    if prices > 0 {
        tracing::info!(prices, "deleted past prices older than KEEP_PRICES_DAYS");
    }
    Ok(())
}

/// Runs `delete` for rows older than `retention`, one batch per call; returns the number of rows deleted.
async fn sweep(
    pool: &PgPool,
    what: &str,
    retention: Option<Duration>,
    delete: impl AsyncFn(&mut PgConnection, Duration) -> Result<u64, sqlx::Error>,
) -> Result<u64, sqlx::Error> {
    let mut sweep = BatchedDeletion::begin(pool, what, retention).await?;
    while let (Some(retention), Some(mut transaction)) = (retention, sweep.begin_batch().await?) {
        let rows = delete(&mut transaction, retention).await?;
        sweep.end(transaction, rows).await?;
    }
    Ok(sweep.deleted())
}

/// Deletes lines of the audit log, oldest first, at most one batch; the database keeps all that are younger than a
/// year.
async fn delete_older_audit_entries(
    connection: &mut PgConnection,
    retention: Duration,
) -> Result<u64, sqlx::Error> {
    let done = sqlx::query!(
        "delete from journal where id = any(array(
            select id from journal where at < now() - make_interval(secs => $1) order by id limit $2
        ))",
        retention.as_secs_f64(),
        BATCH_ROWS
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}

/// Deletes past prices of offers, oldest first, at most one batch.
async fn delete_older_prices(connection: &mut PgConnection, retention: Duration) -> Result<u64, sqlx::Error> {
    let done = sqlx::query!(
        "delete from offer_prices where id = any(array(
            select id from offer_prices where until < now() - make_interval(secs => $1) order by until limit $2
        ))",
        retention.as_secs_f64(),
        BATCH_ROWS
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}
