//! What is older than its time goes: samples, plans, lines of the journal and past prices, where the settings say for how long they
//! are kept.
//!
//! Every API process looks; they take turns (`queue::retention`).

use std::time::Duration;

use database::Background;
use queue::retention::{BATCH, Sweep};
use sqlx::{PgConnection, PgPool};

use crate::{
    endpoints::{batches, plans, samples},
    keep::Keep,
};

/// The time between two looks.
const LOOK: Duration = Duration::from_secs(60);

/// How long one may take; what is left then is the next one's.
const PATIENCE: Duration = Duration::from_secs(60);

/// Deletes what is older, now and then, until dropped.
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

/// Deletes what is older.
async fn look(pool: &PgPool, keep: Keep) -> Result<(), sqlx::Error> {
    let mut sweep = Sweep::begin(pool, "samples", keep.samples).await?;
    while let (Some(keep), Some(mut turn)) = (keep.samples, sweep.turn().await?) {
        let rows = samples::delete_older(&mut turn, keep).await?;
        sweep.end(turn, rows).await?;
    }
    if sweep.deleted() > 0 {
        tracing::info!(samples = sweep.deleted(), "deleted samples older than KEEP_SAMPLES_DAYS");
    }
    let mut sweep = Sweep::begin(pool, "plans", keep.plans).await?;
    while let (Some(keep), Some(mut turn)) = (keep.plans, sweep.turn().await?) {
        let rows = plans::delete_older(&mut turn, keep).await?;
        sweep.end(turn, rows).await?;
    }
    if sweep.deleted() > 0 {
        tracing::info!(plans = sweep.deleted(), "deleted plans older than KEEP_PLANS_DAYS");
    }
    let mut sweep = Sweep::begin(pool, "batches", keep.plans).await?;
    while let (Some(keep), Some(mut turn)) = (keep.plans, sweep.turn().await?) {
        let rows = batches::mark_older(&mut turn, keep).await?;
        sweep.end(turn, rows).await?;
    }
    let mut sweep = Sweep::begin(pool, "plans of deleted batches", Some(Duration::ZERO)).await?;
    while let Some(mut turn) = sweep.turn().await? {
        let rows = batches::delete_some(&mut turn).await?;
        sweep.end(turn, rows).await?;
    }
    let mut sweep = Sweep::begin(pool, "journal", keep.journal).await?;
    while let (Some(keep), Some(mut turn)) = (keep.journal, sweep.turn().await?) {
        let rows = delete_older_lines(&mut turn, keep).await?;
        sweep.end(turn, rows).await?;
    }
    if sweep.deleted() > 0 {
        tracing::info!(lines = sweep.deleted(), "deleted lines of the journal older than KEEP_JOURNAL_DAYS");
    }
    let mut sweep = Sweep::begin(pool, "prices", keep.prices).await?;
    while let (Some(keep), Some(mut turn)) = (keep.prices, sweep.turn().await?) {
        let rows = delete_older_prices(&mut turn, keep).await?;
        sweep.end(turn, rows).await?;
    }
    if sweep.deleted() > 0 {
        tracing::info!(prices = sweep.deleted(), "deleted past prices older than KEEP_PRICES_DAYS");
    }
    Ok(())
}

/// Deletes lines of the journal, the oldest first, at most a batch; the database lets none go that is younger than a year.
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

/// Deletes prices that offers had, the oldest first, at most a batch.
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
