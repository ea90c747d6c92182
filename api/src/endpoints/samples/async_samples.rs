//! API access to the table of asynchronous samples, before they are made and after.
//!
//! An asynchronous sample and the sample that it produces share one id. Workers store the sample together with the
//! terminal state (`worker/src/async_samples.rs`). Every account that may read an account's samples may read its
//! asynchronous samples. One is `processing` while a worker holds its job; the table does not record that state.

use std::time::Duration;

use chrono::{DateTime, Utc};
use contract::MoleculeDetails;
use queue::retention::BATCH_ROWS;
use serde_json::Value;
use sqlx::{PgConnection, PgPool, types::Json};

use crate::endpoints::{
    ownership::{Detail, OwnedRow},
    paging::PageRequest,
};

/// New asynchronous sample that belongs to no batch.
#[derive(Debug)]
pub struct NewAsyncSample<'a> {
    pub id: &'a str,
    pub account_id: &'a str,
    pub model_id: &'a str,
    pub size: u32,
    pub seed: u64,
}

/// Asynchronous sample in its current state, with its molecules if there are any.
#[derive(Debug)]
pub struct AsyncSampleRow {
    pub id: String,
    pub account_id: String,
    pub batch_id: Option<String>,
    pub model_id: String,
    pub size: i32,
    /// Status as in the table, or `processing`.
    pub status: String,
    pub problem: Option<Value>,
    /// `None` before completion, and if the sample was deleted.
    pub smiles: Option<Vec<String>>,
    pub details: Option<Json<MoleculeDetails>>,
    /// Time when the sample was stored; before that, the time of the request.
    pub created_at: DateTime<Utc>,
}

/// Stores an asynchronous sample that the job `job_id` makes; returns the time of storing.
pub async fn insert(
    connection: &mut PgConnection,
    new: &NewAsyncSample<'_>,
    job_id: &str,
) -> Result<DateTime<Utc>, sqlx::Error> {
    // The column `seed` is signed: the same 64 bits.
    sqlx::query_scalar!(
        "insert into sample_orders (id, account_id, model_id, size, seed, job_id) values ($1, $2, $3, $4, $5, $6)
        returning created_at",
        new.id,
        new.account_id,
        new.model_id,
        i32::try_from(new.size).unwrap_or(i32::MAX),
        new.seed.cast_signed(),
        job_id
    )
    .fetch_one(connection)
    .await
}

impl OwnedRow for AsyncSampleRow {
    async fn read(pool: &PgPool, reader: &str, ids: &[String], _: Detail) -> Result<Vec<Self>, sqlx::Error> {
        sqlx::query_as!(
            AsyncSampleRow,
            r#"select wanted.id, wanted.account_id, wanted.batch_id, wanted.model_id, wanted.size,
                order_stands(wanted) as "status!", wanted.problem,
                (select smiles from samples where samples.id = wanted.id) as smiles,
                (select details from samples where samples.id = wanted.id) as "details: Json<MoleculeDetails>",
                coalesce((select created_at from samples where samples.id = wanted.id), wanted.created_at) as "created_at!"
            from sample_orders as wanted
            where wanted.id = any($2) and wanted.account_id in (select owner from accounts_readable_by($1) owner)
            order by array_position($2, wanted.id)"#,
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

/// Deletes the asynchronous sample, after waiting for any worker that is storing its result; returns the job to
/// cancel.
pub async fn delete(connection: &mut PgConnection, id: &str) -> Result<Vec<Option<String>>, sqlx::Error> {
    sqlx::query_scalar!("delete from sample_orders where id = $1 returning job_id", id)
        .fetch_all(connection)
        .await
}

/// New chunk of a sample batch; a chunk is an asynchronous sample.
#[derive(Debug)]
pub struct NewChunk {
    pub id: String,
    pub size: i32,
    pub seed: i64,
}

/// Stores the chunks of a batch in order, without jobs.
pub async fn insert_of_batch(
    connection: &mut PgConnection,
    (account_id, batch_id, model_id): (&str, &str, &str),
    chunks: &[NewChunk],
) -> Result<(), sqlx::Error> {
    let ids: Vec<&str> = chunks.iter().map(|chunk| chunk.id.as_str()).collect();
    let sizes: Vec<i32> = chunks.iter().map(|chunk| chunk.size).collect();
    let seeds: Vec<i64> = chunks.iter().map(|chunk| chunk.seed).collect();
    sqlx::query!(
        "insert into sample_orders (id, account_id, batch_id, model_id, place, size, seed)
        select chunk.id, $1, $2, $3, number::int - 1, chunk.size, chunk.seed
        from unnest($4::text[], $5::int[], $6::int8[]) with ordinality as chunk (id, size, seed, number)",
        account_id,
        batch_id,
        model_id,
        &ids as &[&str],
        &sizes,
        &seeds
    )
    .execute(connection)
    .await
    .map(drop)
}

/// Returns the ids of a page of the batch's chunks, the nearest to the cursor first; `None` if the cursor is no chunk
/// of the batch.
pub async fn page_of_batch(
    pool: &PgPool,
    batch_id: &str,
    page_request: &PageRequest,
) -> Result<Option<Vec<String>>, sqlx::Error> {
    sqlx::query_scalar!(
        "select case when $2::text is null or listed.place is not null then array(
            select id from (
                (select id, place from sample_orders where batch_id = $1 and place < coalesce(listed.place, 2147483647) and not $3
                    order by place desc limit $4)
                union all
                (select id, place from sample_orders where batch_id = $1 and place > listed.place and $3
                    order by place limit $4)
            ) as page order by case when $3 then place else -place end
        ) end as ids
        from (select (select place from sample_orders where batch_id = $1 and id = $2) as place) as listed",
        batch_id,
        page_request.from.as_deref(),
        page_request.is_newer(),
        page_request.count
    )
    .fetch_one(pool)
    .await
}

/// Marks the pending chunks of the batch as cancelled; returns the jobs to cancel.
pub async fn cancel_of_batch(
    connection: &mut PgConnection,
    batch_id: &str,
) -> Result<Vec<Option<String>>, sqlx::Error> {
    sqlx::query_scalar!(
        r#"update sample_orders set status = 'failed', problem = '{"problem": "cancelled"}'
        where batch_id = $1 and status = 'pending' returning job_id"#,
        batch_id
    )
    .fetch_all(connection)
    .await
}

/// Locks the asynchronous samples of a batch until the transaction ends, after waiting for any worker that is storing
/// one; returns the jobs of those that have not ended.
pub async fn lock_of_batch(
    connection: &mut PgConnection,
    batch_id: &str,
) -> Result<Vec<Option<String>>, sqlx::Error> {
    sqlx::query_scalar!(
        "with locked as materialized (
            select job_id, status from sample_orders where batch_id = $1 order by place for update
        )
        select job_id from locked where status = 'pending'",
        batch_id
    )
    .fetch_all(connection)
    .await
}

/// Deletes asynchronous samples without a batch that ended longer ago than `max_age`, for all accounts, oldest first.
/// One call deletes at most one sweep batch. Their samples are deleted separately.
pub async fn delete_older(connection: &mut PgConnection, max_age: Duration) -> Result<u64, sqlx::Error> {
    sqlx::query!(
        "delete from sample_orders where id = any(array(
            select id from sample_orders
            where batch_id is null and status <> 'pending' and created_at < now() - make_interval(secs => $1)
                and coalesce(ended_at, created_at) < now() - make_interval(secs => $1)
            order by created_at limit $2 for update skip locked
        ))",
        max_age.as_secs_f64(),
        BATCH_ROWS
    )
    .execute(connection)
    .await
    .map(|done| done.rows_affected())
}

/// Deletes asynchronous samples, and their results, of batches whose last chunk ended longer ago than `max_age`; at most
/// one sweep batch per call.
pub async fn delete_of_older_batches(
    connection: &mut PgConnection,
    max_age: Duration,
) -> Result<u64, sqlx::Error> {
    let gone = sqlx::query_scalar!(
        r#"with gone as (
            delete from sample_orders where id = any(array(
                select wanted.id from sample_batches as batch join sample_orders as wanted on wanted.batch_id = batch.id
                where batch.created_at < now() - make_interval(secs => $1) and not exists (
                    select from sample_orders as other where other.batch_id = batch.id and (
                        other.status = 'pending' or other.ended_at >= now() - make_interval(secs => $1)
                    )
                )
                limit $2 for update of wanted skip locked
            )) returning id
        ), samples_gone as (
            delete from samples using gone where samples.id = gone.id
        )
        select count(*) as "gone!" from gone"#,
        max_age.as_secs_f64(),
        BATCH_ROWS
    )
    .fetch_one(connection)
    .await?;
    Ok(gone.unsigned_abs())
}
