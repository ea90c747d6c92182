//! Rate limits a minute, shared by all API processes.
//!
//! The generic cell rate algorithm: a minute's allowance may be spent at once and is refilled evenly. The state is
//! one row of an unlogged table, changed by one statement. So any number of processes agree, and nothing is written
//! to disk. A process caches the callers with nothing left and rejects them by itself: a flood stops at its memory.
//! The table's column `account_id` holds an account or the address of an unknown caller.

use std::{
    collections::HashMap,
    num::NonZeroU32,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use sqlx::PgPool;

/// Largest amount that can be spent at once: a minute's worth.
pub const BURST: Duration = Duration::from_secs(60);

/// Time for which a full bucket stays in the table.
const FULL_BUCKET_RETENTION: Duration = Duration::from_secs(600);

/// Number of cached callers above which those with something left again are dropped.
const MAX_CACHED_CALLERS: usize = 10_000;

/// The table, and a cache of the callers known to have nothing left.
pub struct Buckets {
    pool: PgPool,
    spent: Mutex<HashMap<BucketKey, Instant>>,
}

/// Caller and limit.
type BucketKey = (String, &'static str);

/// Result of an attempt to take from a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakeResult {
    /// The amount was taken.
    Yes {
        /// Time until the bucket is full again.
        full_in: Duration,
    },
    /// The amount was refused.
    No {
        /// Time until there is enough.
        retry_after: Duration,
    },
}

impl Buckets {
    /// Opens the table of this database, with an empty cache.
    #[must_use]
    pub fn new(pool: PgPool) -> Self {
        Self { pool, spent: Mutex::default() }
    }

    /// Takes `amount` from `limit` of the caller `subject`; more than the whole limit counts as the whole.
    pub async fn take(
        &self,
        subject: &str,
        limit: &'static str,
        per_minute: NonZeroU32,
        amount: u32,
    ) -> Result<TakeResult, sqlx::Error> {
        let key = (subject.to_owned(), limit);
        if let Some(retry_after) = self.known_wait(&key) {
            return Ok(TakeResult::No { retry_after });
        }
        let cost = cost(per_minute, amount);
        let (ahead, refused) = spend(&self.pool, subject, limit, cost).await?;
        if !refused {
            return Ok(TakeResult::Yes { full_in: Duration::from_secs_f64(ahead.max(0.0)) });
        }
        let retry_after = Duration::from_secs_f64((ahead + cost - BURST.as_secs_f64()).max(0.0));
        // A smaller request may still succeed: only the wait for the smallest amount holds for all.
        if amount == 1 {
            self.remember(key, retry_after);
        }
        Ok(TakeResult::No { retry_after })
    }

    /// Returns an `amount` that `subject` took and did not use.
    pub async fn refund(
        &self,
        subject: &str,
        limit: &'static str,
        per_minute: NonZeroU32,
        amount: u32,
    ) -> Result<(), sqlx::Error> {
        restore(&self.pool, subject, limit, cost(per_minute, amount)).await?;
        self.spent.lock().remove(&(subject.to_owned(), limit));
        Ok(())
    }

    fn known_wait(&self, key: &BucketKey) -> Option<Duration> {
        let until = *self.spent.lock().get(key)?;
        let wait = until.saturating_duration_since(Instant::now());
        (!wait.is_zero()).then_some(wait)
    }

    fn remember(&self, key: BucketKey, wait: Duration) {
        let mut spent = self.spent.lock();
        let now = Instant::now();
        if spent.len() > MAX_CACHED_CALLERS {
            spent.retain(|_, until| *until > now);
        }
        spent.insert(key, now + wait);
    }
}

/// Converts `amount` to seconds of the refill rate.
fn cost(per_minute: NonZeroU32, amount: u32) -> f64 {
    BURST.as_secs_f64() * f64::from(amount.min(per_minute.get())) / f64::from(per_minute.get())
}

/// Spends `cost` seconds unless refused. Returns the seconds spent ahead, and true if refused. The seconds never
/// exceed a full bucket, even if the database's clock went back.
async fn spend(pool: &PgPool, subject: &str, limit: &str, cost: f64) -> Result<(f64, bool), sqlx::Error> {
    let spent = sqlx::query!(
        r#"insert into rate_limits as held (account_id, ration, spent_until, refused)
         values ($1, $2, now() + make_interval(secs => $3), false)
         on conflict (account_id, ration) do update set
         refused = greatest(held.spent_until, now()) + make_interval(secs => $3 - $4) > now(),
         spent_until = least(greatest(held.spent_until, now()), now() + make_interval(secs => $4)) + case
         when greatest(held.spent_until, now()) + make_interval(secs => $3 - $4) > now() then interval '0'
         else make_interval(secs => $3) end
         returning extract(epoch from spent_until - now())::float8 as "ahead!", refused"#,
        subject,
        limit,
        cost,
        BURST.as_secs_f64()
    )
    .fetch_one(pool)
    .await?;
    Ok((spent.ahead, spent.refused))
}

async fn restore(pool: &PgPool, subject: &str, limit: &str, cost: f64) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update rate_limits set spent_until = spent_until - make_interval(secs => $3)
         where account_id = $1 and ration = $2",
        subject,
        limit,
        cost
    )
    .execute(pool)
    .await
    .map(drop)
}

/// Deletes buckets that have been full for long: unknown callers come and go.
pub(crate) async fn sweep(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let swept = sqlx::query!(
        "delete from rate_limits where spent_until < now() - make_interval(secs => $1)",
        FULL_BUCKET_RETENTION.as_secs_f64()
    )
    .execute(pool)
    .await?;
    Ok(swept.rows_affected())
}
