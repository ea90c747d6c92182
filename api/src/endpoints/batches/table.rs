//! Table of batches, as the API reads and writes it.
//!
//! An account that may read another's samples may read its batches. A batch that is marked as deleted is hidden, and
//! is deleted with its plans in several transactions.

use std::time::Duration;

use chrono::{DateTime, Utc};
use contract::TreeSearchRequest;
use queue::retention::BATCH_ROWS;
use sqlx::{PgConnection, PgPool, types::Json};

use crate::endpoints::{
    ownership::{Detail, OwnedRow},
    plans::table as plan_table,
};

/// Plans stored by one statement, which takes a fraction of a second.
const PLANS_PER_INSERT: usize = 5_000;

/// A batch to be stored.
#[derive(Debug)]
pub struct NewBatch<'a> {
    pub id: &'a str,
    pub account_id: &'a str,
    /// Search parameters without a target.
    pub parameters: &'a TreeSearchRequest,
    pub engine: &'a str,
    pub name: Option<String>,
    pub description: Option<String>,
}

/// A batch as it is stored.
#[derive(Debug)]
pub struct BatchRow {
    pub id: String,
    pub account_id: String,
    pub name: Option<String>,
    pub description: Option<String>,
    pub plan_count: i32,
    pub created_at: DateTime<Utc>,
    pub updated_at: DateTime<Utc>,
}

/// Stores the batch with a plan for each target.
pub async fn insert(
    connection: &mut PgConnection,
    new: NewBatch<'_>,
    targets: &[plan_table::BatchTarget],
) -> Result<BatchRow, sqlx::Error> {
    let row = sqlx::query_as!(
        BatchRow,
        "insert into batches (id, account_id, name, description, parameters, engine, plan_count, short_parameters)
        values ($1, $2, $3, $4, $5, $6, $7, $8)
        returning id, account_id, name, description, plan_count, created_at, updated_at",
        new.id,
        new.account_id,
        new.name,
        new.description,
        Json(new.parameters) as _,
        new.engine,
        i32::try_from(targets.len()).unwrap_or(i32::MAX),
        new.parameters.without_lists().map(Json) as _
    )
    .fetch_one(&mut *connection)
    .await?;
    let new_plans =
        plan_table::BatchFields { account_id: new.account_id, batch_id: new.id, engine: new.engine };
    for (at, some) in targets.chunks(PLANS_PER_INSERT).enumerate() {
        let first = i32::try_from(at * PLANS_PER_INSERT).unwrap_or(i32::MAX);
        plan_table::insert_of_batch(connection, &new_plans, first, some).await?;
    }
    Ok(row)
}

impl OwnedRow for BatchRow {
    async fn read(pool: &PgPool, reader: &str, ids: &[String], _: Detail) -> Result<Vec<Self>, sqlx::Error> {
        sqlx::query_as!(
            BatchRow,
            "select id, account_id, name, description, plan_count, created_at, updated_at from batches
            where id = any($2) and account_id in (select owner from accounts_readable_by($1) owner) and deleted_at is null
            order by array_position($2, id)",
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

/// Stops further plans of the batch from starting.
pub async fn cancel(connection: &mut PgConnection, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("update batches set cancelled_at = now(), updated_at = now() where id = $1", id)
        .execute(connection)
        .await
        .map(drop)
}

/// Lets the waiting plans of the batch start again.
pub async fn resume(connection: &mut PgConnection, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update batches set cancelled_at = null, is_begun = false, updated_at = now() where id = $1",
        id
    )
    .execute(connection)
    .await
    .map(drop)
}

/// Hides the batch from everybody.
pub async fn mark_deleted(connection: &mut PgConnection, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("update batches set deleted_at = now() where id = $1", id)
        .execute(connection)
        .await
        .map(drop)
}

/// Marks batches as deleted if no plan waits or runs and the last one ended longer ago than `max_age`; at most one
/// transaction's worth.
pub async fn mark_older(connection: &mut PgConnection, max_age: Duration) -> Result<u64, sqlx::Error> {
    sqlx::query!(
        "update batches set deleted_at = now() where id = any(array(
            select id from batches
            where created_at < now() - make_interval(secs => $1) and deleted_at is null
                and not exists (
                    select from plans where batch_id = batches.id and status = 'pending' and same_as is null
                )
                and updated_at < now() - make_interval(secs => $1)
                and not exists (
                    select from batch_progress
                    where batch_id = batches.id and last_end >= now() - make_interval(secs => $1)
                )
            order by created_at limit $2 for update skip locked
        ))",
        max_age.as_secs_f64(),
        BATCH_ROWS
    )
    .execute(connection)
    .await
    .map(|done| done.rows_affected())
}

/// Deletes plans of batches that are marked as deleted, or such batches that have no plans left; at most one
/// transaction's worth.
pub async fn delete_some(connection: &mut PgConnection) -> Result<u64, sqlx::Error> {
    let plans = plan_table::delete_of_deleted(connection).await?;
    if plans > 0 {
        return Ok(plans);
    }
    sqlx::query!(
        "delete from batches where id = any(array(
            select id from batches
            where deleted_at is not null and not exists (select from plans where batch_id = batches.id)
            order by id limit $1 for update skip locked
        ))",
        BATCH_ROWS
    )
    .execute(connection)
    .await
    .map(|done| done.rows_affected())
}
