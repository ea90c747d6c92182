//! Access of the API to the samples table.
//!
//! A list is ordered by the column place, a number that the database assigns when it stores a sample. The list ends at the
//! newest place before which no transaction is still storing a sample. So a client that polls for samples after its
//! newest one misses none.

use std::time::Duration;

use chrono::{DateTime, Utc};
use contract::{ErrorItem, MoleculeDetails, SampleListItem, SampleObject};
use queue::retention::BATCH_ROWS;
use sqlx::{PgConnection, PgPool, types::Json};

use crate::endpoints::{
    answer_fault,
    ownership::{Detail, OwnedRow},
    paging::PageRequest,
};

#[derive(Debug)]
pub struct SampleRow {
    pub id: String,
    pub account_id: String,
    pub model_id: String,
    pub num_smiles: i32,
    pub smiles: Vec<String>,
    pub created_at: DateTime<Utc>,
    /// Batch to which the chunk belongs.
    pub batch_id: Option<String>,
    pub details: Option<Json<MoleculeDetails>>,
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

impl OwnedRow for SampleRow {
    async fn read(
        pool: &PgPool,
        reader: &str,
        ids: &[String],
        detail: Detail,
    ) -> Result<Vec<Self>, sqlx::Error> {
        sqlx::query_as!(
            SampleRow,
            r#"select id, account_id, model_id, num_smiles, case when $3 then smiles else '{}' end as "smiles!", created_at,
                (select batch_id from sample_orders where sample_orders.id = samples.id) as batch_id,
                case when $3 then details end as "details: Json<MoleculeDetails>"
            from samples where id = any($2) and account_id in (select owner from accounts_readable_by($1) owner)
            order by array_position($2, id)"#,
            reader,
            ids,
            detail == Detail::Whole
        )
        .fetch_all(pool)
        .await
    }

    fn account_id(&self) -> &str {
        &self.account_id
    }
}

/// Returns the sample's place in lists, if the account can see the sample.
pub async fn position(pool: &PgPool, reader: &str, id: &str) -> Result<Option<i64>, sqlx::Error> {
    sqlx::query_scalar!(
        "select place from samples \
         where id = $2 and account_id in (select owner from accounts_readable_by($1) owner)",
        reader,
        id
    )
    .fetch_optional(pool)
    .await
}

/// Returns the samples of a page whose cursor is at the place `from`, the nearest to it first.
///
/// It reads one page per member of the organisation by the index, then keeps the nearest rows of those. So the cost of
/// a page does not grow with the number of samples.
pub async fn page(
    pool: &PgPool,
    reader: &str,
    asked: &PageRequest,
    from: Option<i64>,
) -> Result<Vec<ItemRow>, sqlx::Error> {
    let (after, before) = match from {
        Some(position) if !asked.is_newer() => (0, position),
        _ => (from.unwrap_or(0), last_settled_place(pool, reader).await? + 1),
    };
    sqlx::query_as!(
        ItemRow,
        r#"select id as "id!", model_id as "model_id!", num_smiles as "num_smiles!", created_at as "created_at!"
        from accounts_readable_by($1) owner cross join lateral (
            (select id, model_id, num_smiles, created_at, place from samples
                where account_id = owner and place > $2 and place < $3 and not $4 order by place desc limit $5)
            union all
            (select id, model_id, num_smiles, created_at, place from samples
                where account_id = owner and place > $2 and place < $3 and $4 order by place limit $5)
        ) as page order by case when $4 then place else -place end limit $5"#,
        reader,
        after,
        before,
        asked.is_newer(),
        asked.count
    )
    .fetch_all(pool)
    .await
}

/// Returns the newest place before which no visible sample is still being stored.
async fn last_settled_place(pool: &PgPool, reader: &str) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar!(r#"select settled_place($1) as "place!""#, reader).fetch_one(pool).await
}

/// Deletes the samples of a batch.
pub async fn delete_of_batch(connection: &mut PgConnection, batch_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from samples where id in (select id from sample_orders where batch_id = $1)",
        batch_id
    )
    .execute(connection)
    .await
    .map(drop)
}

/// Deletes the sample, if there is one.
pub async fn delete(connection: &mut PgConnection, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("delete from samples where id = $1", id).execute(connection).await.map(drop)
}

/// Deletes samples older than `max_age`, for all accounts, oldest first; at most one sweep batch. Rows that another
/// transaction has locked are skipped.
pub async fn delete_older(connection: &mut PgConnection, max_age: Duration) -> Result<u64, sqlx::Error> {
    sqlx::query!(
        "delete from samples where id = any(array(
            select id from samples where created_at < now() - make_interval(secs => $1)
            order by created_at limit $2 for update skip locked
        ))",
        max_age.as_secs_f64(),
        BATCH_ROWS
    )
    .execute(connection)
    .await
    .map(|done| done.rows_affected())
}
