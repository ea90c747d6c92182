//! Read access of the API to the samples table.
//!
//! Every statement names the account of the caller. An account sees its own samples and those of the members of its
//! organisation, as the database function `accounts_readable_by` defines. Samples that it cannot see are treated as
//! absent. It can delete only its own.
//!
//! A list is ordered by `place`, a number that the database assigns when it stores a sample. The list ends at the
//! newest place before which no transaction is still storing a sample. So a client that polls for samples after its
//! newest one misses none.

use std::time::Duration;

use chrono::{DateTime, Utc};
use contract::{ErrorItem, SampleListItem, SampleObject};
use queue::retention::BATCH_ROWS;
use sqlx::{PgConnection, PgPool};

use crate::endpoints::answer_fault;

/// Requested page of the list.
#[derive(Debug)]
pub enum Page {
    Newest,
    /// Samples stored before this one.
    Before(String),
    /// Samples stored after this one, nearest first.
    After(String),
    /// Samples that were stored first.
    Oldest,
}

#[derive(Debug)]
pub struct SampleRow {
    pub id: String,
    pub model_id: String,
    pub num_smiles: i32,
    pub smiles: Vec<String>,
    pub created_at: DateTime<Utc>,
    /// Batch to which the chunk belongs.
    pub batch_id: Option<String>,
}

#[derive(Debug)]
pub struct ItemRow {
    id: String,
    model_id: String,
    num_smiles: i32,
    created_at: DateTime<Utc>,
}

impl ItemRow {
    pub fn into_item(self) -> Result<SampleListItem, ErrorItem> {
        let id = self
            .id
            .parse()
            .map_err(|_| answer_fault("data", "string_pattern_mismatch", "not a sample id"))?;
        let num_smiles = u32::try_from(self.num_smiles).map_err(|_| {
            answer_fault("data", "greater_than_equal", "a sample with less than no structures")
        })?;
        Ok(SampleListItem {
            id,
            object: SampleObject::Sample,
            model_id: self.model_id,
            num_smiles,
            created_at: self.created_at,
        })
    }
}

/// Outcome of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deletion {
    Done,
    /// The account may read the sample, but does not own it.
    NotYours,
    /// No sample that the account can see has this id.
    NotThere,
}

/// Returns the sample with all its structures.
pub async fn find(pool: &PgPool, reader: &str, id: &str) -> Result<Option<SampleRow>, sqlx::Error> {
    sqlx::query_as!(
        SampleRow,
        "select id, model_id, num_smiles, smiles, created_at,
            (select batch_id from sample_orders where sample_orders.id = samples.id) as batch_id
        from samples where id = $2 and account_id in (select owner from accounts_readable_by($1) owner)",
        reader,
        id
    )
    .fetch_optional(pool)
    .await
}

/// Returns at most `limit` samples, newest first, and whether more follow in the direction of travel; `None` if the
/// cursor is no sample that the account can see.
pub async fn page(
    pool: &PgPool,
    reader: &str,
    page: Page,
    limit: i64,
) -> Result<Option<(Vec<ItemRow>, bool)>, sqlx::Error> {
    // One more row than requested shows whether there are more.
    let count = limit + 1;
    let mut rows = match &page {
        Page::Newest => older(pool, reader, last_settled_place(pool, reader).await? + 1, count).await?,
        Page::Oldest => newer(pool, reader, 0, last_settled_place(pool, reader).await?, count).await?,
        Page::Before(id) | Page::After(id) => match (place(pool, reader, id).await?, &page) {
            (None, _) => return Ok(None),
            (Some(after), Page::After(_)) => {
                newer(pool, reader, after, last_settled_place(pool, reader).await?, count).await?
            }
            (Some(before), _) => older(pool, reader, before, count).await?,
        },
    };
    let limit = usize::try_from(limit).unwrap_or_default();
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    if matches!(page, Page::After(_) | Page::Oldest) {
        rows.reverse();
    }
    Ok(Some((rows, has_more)))
}

/// Returns the sample's place in lists, if the account can see the sample.
async fn place(pool: &PgPool, reader: &str, id: &str) -> Result<Option<i64>, sqlx::Error> {
    sqlx::query_scalar!(
        "select place from samples \
         where id = $2 and account_id in (select owner from accounts_readable_by($1) owner)",
        reader,
        id
    )
    .fetch_optional(pool)
    .await
}

/// Returns the newest place before which no visible sample is still being stored.
async fn last_settled_place(pool: &PgPool, reader: &str) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar!(r#"select settled_place($1) as "place!""#, reader).fetch_one(pool).await
}

/// Reads one page per member of the organisation by the index, then keeps the newest rows of those. So the cost of a
/// page does not grow with the number of samples.
async fn older(pool: &PgPool, reader: &str, before: i64, count: i64) -> Result<Vec<ItemRow>, sqlx::Error> {
    sqlx::query_as!(
        ItemRow,
        "select id, model_id, num_smiles, created_at from accounts_readable_by($1) owner \
         cross join lateral (select id, model_id, num_smiles, created_at, place from samples \
         where account_id = owner and place < $2 order by place desc limit $3) page \
         order by place desc limit $3",
        reader,
        before,
        count
    )
    .fetch_all(pool)
    .await
}

async fn newer(
    pool: &PgPool,
    reader: &str,
    after: i64,
    until: i64,
    count: i64,
) -> Result<Vec<ItemRow>, sqlx::Error> {
    sqlx::query_as!(
        ItemRow,
        "select id, model_id, num_smiles, created_at from accounts_readable_by($1) owner \
         cross join lateral (select id, model_id, num_smiles, created_at, place from samples \
         where account_id = owner and place > $2 and place <= $3 order by place limit $4) page \
         order by place limit $4",
        reader,
        after,
        until,
        count
    )
    .fetch_all(pool)
    .await
}

/// Deletes the samples of a batch.
pub async fn delete_of_batch(connection: &mut PgConnection, batch_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from samples where id in (select id from sample_orders where batch_id = $1)",
        batch_id
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Deletes the result of an asynchronous sample, if there is one.
pub async fn delete_async_result(connection: &mut PgConnection, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("delete from samples where id = $1", id).execute(connection).await?;
    Ok(())
}

/// Deletes the sample if the account owns it.
pub async fn delete(pool: &PgPool, account_id: &str, id: &str) -> Result<Deletion, sqlx::Error> {
    let done = sqlx::query!("delete from samples where account_id = $1 and id = $2", account_id, id)
        .execute(pool)
        .await?;
    if done.rows_affected() > 0 {
        return Ok(Deletion::Done);
    }
    let seen = place(pool, account_id, id).await?.is_some();
    Ok(if seen { Deletion::NotYours } else { Deletion::NotThere })
}

/// Deletes samples older than `keep`, for all accounts, oldest first; at most one sweep batch. Rows that another
/// transaction has locked are skipped.
pub async fn delete_older(connection: &mut PgConnection, keep: Duration) -> Result<u64, sqlx::Error> {
    let done = sqlx::query!(
        "delete from samples where id = any(array(
            select id from samples where created_at < now() - make_interval(secs => $1)
            order by created_at limit $2 for update skip locked
        ))",
        keep.as_secs_f64(),
        BATCH_ROWS
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}
