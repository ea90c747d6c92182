//! Retention rules in the table `retention`, and the batches in which processes delete older rows.
//!
//! A process that deletes records its rule and its count here, so that an operator need not ask every process for its
//! settings. Each small batch runs under the lock of the rule's row: one process deletes at a time, and none waits
//! for it. Nothing is deleted after the database's clock has jumped ahead (`database::is_clock_steady`).

use std::time::Duration;

use database::interval;
use sqlx::{PgConnection, PgExecutor, PgPool, PgTransaction};

use crate::metrics;

/// Rows deleted in one transaction.
pub const BATCH_ROWS: i64 = 500;

/// A retention rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Retention {
    /// Kind of rows: `samples`, `journal`, `search jobs`.
    pub what: String,
    /// Retention in seconds; `None` is for ever.
    pub keep_seconds: Option<f64>,
    /// Seconds since a process last looked for older rows.
    pub seconds_ago: f64,
    /// Rows that were deleted for their age.
    pub deleted: i64,
}

/// A deletion of expired rows, in batches of at most [`BATCH_ROWS`].
#[derive(Debug)]
pub struct BatchedDeletion {
    pool: PgPool,
    what: String,
    is_over: bool,
    deleted: u64,
}

impl BatchedDeletion {
    /// Begins a deletion and records that `what` is kept for `max_age`. If that is for ever or the clock has jumped
    /// ahead, there are no batches.
    ///
    /// # Errors
    /// Fails when the database does.
    pub async fn begin(pool: &PgPool, what: &str, max_age: Option<Duration>) -> Result<Self, sqlx::Error> {
        let is_over = max_age.is_none() || !database::is_clock_steady(pool).await?;
        announce(pool, what, max_age).await?;
        // Makes the metric exist before the first deletion.
        metrics::deleted(what, 0);
        Ok(Self { pool: pool.clone(), what: what.to_owned(), is_over, deleted: 0 })
    }

    /// Begins the transaction of a batch; `None` when no rows are left or another process holds the lock.
    ///
    /// # Errors
    /// Fails when the database does; earlier batches stay committed.
    pub async fn begin_batch(&mut self) -> Result<Option<PgTransaction<'static>>, sqlx::Error> {
        if self.is_over {
            return Ok(None);
        }
        let mut transaction = self.pool.begin().await?;
        Ok(try_lock(&mut transaction, &self.what).await?.then_some(transaction))
    }

    /// Commits a batch in which `rows` rows were deleted; a batch that is not full is the last.
    ///
    /// # Errors
    /// Fails when the database does: then the rows were not deleted.
    pub async fn end(
        &mut self,
        mut transaction: PgTransaction<'static>,
        rows: u64,
    ) -> Result<(), sqlx::Error> {
        count(&mut transaction, &self.what, i64::try_from(rows).unwrap_or(i64::MAX)).await?;
        transaction.commit().await?;
        metrics::deleted(&self.what, rows);
        self.deleted += rows;
        self.is_over = rows < BATCH_ROWS.unsigned_abs();
        Ok(())
    }

    /// Returns the number of deleted rows.
    #[must_use]
    pub const fn deleted(&self) -> u64 {
        self.deleted
    }
}

/// Returns the retention rules of the processes that delete.
///
/// # Errors
/// Fails when the database does.
pub async fn retentions(database: impl PgExecutor<'_>) -> Result<Vec<Retention>, sqlx::Error> {
    sqlx::query_as!(
        Retention,
        r#"select what, extract(epoch from keep)::float8 as keep_seconds,
            extract(epoch from now() - looked_at)::float8 as "seconds_ago!", deleted
        from retention order by what"#
    )
    .fetch_all(database)
    .await
}

async fn announce(pool: &PgPool, what: &str, max_age: Option<Duration>) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into retention (what, keep) values ($1, $2)
        on conflict (what) do update set keep = excluded.keep, looked_at = now()",
        what,
        max_age.map(interval)
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Tries to lock the rule for this transaction; returns true if it did.
async fn try_lock(connection: &mut PgConnection, what: &str) -> Result<bool, sqlx::Error> {
    let row = sqlx::query!("select what from retention where what = $1 for update skip locked", what)
        .fetch_optional(connection)
        .await?;
    Ok(row.is_some())
}

async fn count(connection: &mut PgConnection, what: &str, rows: i64) -> Result<(), sqlx::Error> {
    sqlx::query!("update retention set deleted = deleted + $2 where what = $1", what, rows)
        .execute(connection)
        .await?;
    Ok(())
}
