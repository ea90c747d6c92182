//! Table of sample batches, as the API reads and writes it. Workers record the jobs of its chunks
//! (`worker/src/async_samples.rs`).
//!
//! An account that may read another's samples may read its batches.

use std::time::Duration;

use chrono::{DateTime, Utc};
use contract::SampleConditions;
use queue::retention::BATCH_ROWS;
use sqlx::{PgConnection, PgPool, types::Json};

use crate::endpoints::ownership::{Detail, OwnedRow};

/// A sample batch to be stored.
#[derive(Debug)]
pub struct NewSampleBatch<'a> {
    pub id: &'a str,
    pub account_id: &'a str,
    /// Model as requested.
    pub model_id: Option<&'a str>,
    pub size: u32,
    pub chunk_count: usize,
    pub conditions: &'a SampleConditions,
    pub details: bool,
}

/// A sample batch with its progress.
#[derive(Debug)]
pub struct SampleBatchRow {
    pub id: String,
    pub account_id: String,
    pub model_id: Option<String>,
    pub size: i32,
    pub chunk_count: i32,
    pub created_at: DateTime<Utc>,
    /// Chunks in this state.
    pub completed: i64,
    pub failed: i64,
    pub processing: i64,
}

/// Stores the batch, without its chunks.
pub async fn insert(connection: &mut PgConnection, new: &NewSampleBatch<'_>) -> Result<(), sqlx::Error> {
    let has_conditions = new.details || !new.conditions.is_empty();
    sqlx::query!(
        "insert into sample_batches (id, account_id, model_id, size, chunk_count, conditions, details, is_begun)
        values ($1, $2, $3, $4, $5, $6, $7, case when $6::json is null then false end)",
        new.id,
        new.account_id,
        new.model_id,
        i32::try_from(new.size).unwrap_or(i32::MAX),
        i32::try_from(new.chunk_count).unwrap_or(i32::MAX),
        has_conditions.then_some(Json(new.conditions)) as _,
        new.details
    )
    .execute(connection)
    .await
    .map(drop)
}

impl OwnedRow for SampleBatchRow {
    async fn read(pool: &PgPool, reader: &str, ids: &[String], _: Detail) -> Result<Vec<Self>, sqlx::Error> {
        sqlx::query_as!(
            SampleBatchRow,
            r#"select id, account_id, model_id, size, chunk_count, created_at, completed as "completed!", failed as "failed!",
                processing as "processing!"
            from sample_batches as batch cross join lateral sample_batch_progress(batch.id) as progress
            where id = any($2) and account_id in (select owner from accounts_readable_by($1) owner)
            order by array_position($2, id)"#,
            reader,
            ids
        )
        .fetch_all(pool)
        .await
    }

    fn account_id(&self) -> &str {
        &self.account_id
    }
}

/// Locks the batch until the transaction ends, so that no worker gives its chunks jobs.
pub async fn lock(connection: &mut PgConnection, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("select id from sample_batches where id = $1 for update", id)
        .fetch_optional(connection)
        .await?;
    Ok(())
}

/// Deletes the batch with its asynchronous samples and claims.
pub async fn delete(connection: &mut PgConnection, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("delete from sample_batches where id = $1", id).execute(connection).await.map(drop)
}

/// Deletes batches that are older than `max_age` and have no asynchronous samples left; at most one transaction's worth.
pub async fn delete_empty(connection: &mut PgConnection, max_age: Duration) -> Result<u64, sqlx::Error> {
    sqlx::query!(
        "delete from sample_batches where id = any(array(
            select id from sample_batches
            where created_at < now() - make_interval(secs => $1)
                and not exists (select from sample_orders where batch_id = sample_batches.id)
            order by created_at limit $2 for update skip locked
        ))",
        max_age.as_secs_f64(),
        BATCH_ROWS
    )
    .execute(connection)
    .await
    .map(|done| done.rows_affected())
}
