//! What is kept for how long: the table `retention`, and the turns in which processes delete what is older.
//!
//! Whoever deletes says here by which rule and how much, so that an operator need not ask every process for its settings. A
//! turn is the row's lock, for one small batch: one process deletes at a time, and nobody waits for it. Nothing is deleted after the
//! database's clock has jumped ahead (`database::is_clock_steady`).

use std::time::Duration;

use database::interval;
use sqlx::{PgConnection, PgExecutor, PgPool, PgTransaction};

use crate::metrics;

/// Rows that are deleted in one transaction.
pub const BATCH: i64 = 500;

/// What is kept for how long.
#[derive(Debug, Clone, PartialEq)]
pub struct Retention {
    /// Of which rows: `samples`, `journal`, `search jobs`.
    pub what: String,
    /// Seconds; `None` is for ever.
    pub keep_seconds: Option<f64>,
    /// Seconds since a process last looked for what is older.
    pub seconds_ago: f64,
    /// Rows that have been deleted for their age.
    pub deleted: i64,
}

/// A deletion of what is older than it is kept, in turns of at most [`BATCH`] rows.
#[derive(Debug)]
pub struct Sweep {
    pool: PgPool,
    what: String,
    is_over: bool,
    deleted: u64,
}

impl Sweep {
    /// Says that `what` is kept for `keep`; where that is for ever, or the clock has jumped ahead, there are no turns.
    ///
    /// # Errors
    /// Fails when the database does.
    pub async fn begin(pool: &PgPool, what: &str, keep: Option<Duration>) -> Result<Self, sqlx::Error> {
        let is_over = keep.is_none() || !database::is_clock_steady(pool).await?;
        announce(pool, what, keep).await?;
        // So that there is a figure before anything has gone.
        metrics::deleted(what, 0);
        Ok(Self { pool: pool.clone(), what: what.to_owned(), is_over, deleted: 0 })
    }

    /// A transaction in which to delete a batch; none when there is no more, or another process has the turn.
    ///
    /// # Errors
    /// Fails when the database does; earlier turns have happened.
    pub async fn turn(&mut self) -> Result<Option<PgTransaction<'static>>, sqlx::Error> {
        if self.is_over {
            return Ok(None);
        }
        let mut turn = self.pool.begin().await?;
        Ok(has_turn(&mut turn, &self.what).await?.then_some(turn))
    }

    /// Ends a turn in which so many rows went; fewer than a batch were the last.
    ///
    /// # Errors
    /// Fails when the database does: then they have not gone.
    pub async fn end(&mut self, mut turn: PgTransaction<'static>, rows: u64) -> Result<(), sqlx::Error> {
        count(&mut turn, &self.what, i64::try_from(rows).unwrap_or(i64::MAX)).await?;
        turn.commit().await?;
        metrics::deleted(&self.what, rows);
        self.deleted += rows;
        self.is_over = rows < BATCH.unsigned_abs();
        Ok(())
    }

    /// How many rows went in all.
    #[must_use]
    pub const fn deleted(&self) -> u64 {
        self.deleted
    }
}

/// What is kept for how long, by the processes that delete the rest.
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

async fn announce(pool: &PgPool, what: &str, keep: Option<Duration>) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into retention (what, keep) values ($1, $2)
        on conflict (what) do update set keep = excluded.keep, looked_at = now()",
        what,
        keep.map(interval)
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Whether it is this transaction's turn; it is until its end.
async fn has_turn(connection: &mut PgConnection, what: &str) -> Result<bool, sqlx::Error> {
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
