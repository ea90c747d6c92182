//! Access tokens that were revoked before they expired.
//!
//! A signed token cannot be taken back. So the id of what was revoked is kept until the last token of it has expired.
//! Every process caches that short list. It reads the list again when it is notified of a change, and every few
//! seconds. A check costs no query.

use std::{
    collections::HashSet,
    sync::Arc,
    time::{Duration, Instant},
};

use database::{SharedResult, SingleFlight};
use parking_lot::RwLock;
use sqlx::{PgConnection, PgPool};

use crate::changes;

/// Longest age of the list at which it is trusted.
const MAX_AGE: Duration = Duration::from_secs(10);

/// Age at which the list is read again in the background; callers still use the old one meanwhile.
const REFRESH_AGE: Duration = Duration::from_secs(5);

/// Timeout of reading the list.
const READ_TIMEOUT: Duration = Duration::from_secs(2);

/// Pause after a failed read, during which the database is not queried again.
const FAILURE_BACKOFF: Duration = Duration::from_secs(1);

/// Longest lifetime of an access token; settings are checked against it.
pub const MAX_TOKEN_LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// Cached list of revocations, a few seconds old at most. One read at a time serves all callers that wait for it.
pub(crate) struct Revocations {
    pool: PgPool,
    list: Arc<RwLock<List>>,
    reading: SingleFlight<Option<RevocationSnapshot>>,
}

#[derive(Default)]
struct List {
    ids: RevokedIds,
    read_at: Option<Instant>,
    failed_at: Option<Instant>,
    /// Generation of the list. It rises when the list is invalidated, so that a read which began before is not
    /// trusted afterwards.
    forgotten: u64,
}

/// Ids that were revoked.
type RevokedIds = Arc<HashSet<String>>;

/// Result of a read, with the generation of the list at which the read began.
#[derive(Clone)]
struct RevocationSnapshot {
    ids: RevokedIds,
    forgotten: u64,
}

impl Revocations {
    pub fn new(pool: PgPool) -> Self {
        Self { pool, list: Arc::default(), reading: SingleFlight::default() }
    }

    /// Returns true if one of `ids` was revoked: a family, an application, or a token by its own id.
    ///
    /// The answer comes at once while the list is fresh enough or the database has just failed. Otherwise it comes
    /// when the current read ends.
    pub async fn contain(&self, ids: [&str; 3]) -> Result<bool, sqlx::Error> {
        let is_in = |revoked: &RevokedIds| ids.iter().any(|id| revoked.contains(*id));
        let forgotten = {
            let list = self.list.read();
            let is_recent = |at: Option<Instant>, most: Duration| at.is_some_and(|at| at.elapsed() < most);
            let has_failed = is_recent(list.failed_at, FAILURE_BACKOFF);
            if is_recent(list.read_at, MAX_AGE) {
                if !has_failed && !is_recent(list.read_at, REFRESH_AGE) {
                    drop(self.read_anew());
                }
                return Ok(is_in(&list.ids));
            }
            if has_failed {
                return Err(sqlx::Error::PoolTimedOut);
            }
            list.forgotten
        };
        // A read that began before the list was invalidated does not count; the next one does.
        for _ in 0..2 {
            let reading = self.read_anew().await.flatten().ok_or(sqlx::Error::PoolTimedOut)?;
            if reading.forgotten >= forgotten {
                return Ok(is_in(&reading.ids));
            }
        }
        Err(sqlx::Error::PoolTimedOut)
    }

    /// Invalidates the list, so that it is read again before it is trusted.
    pub fn forget(&self) {
        let mut list = self.list.write();
        list.read_at = None;
        list.forgotten += 1;
    }

    /// Joins the current read or starts one; gives nothing if the database does not answer.
    fn read_anew(&self) -> SharedResult<Option<RevocationSnapshot>> {
        self.reading.join(|| read_list(self.pool.clone(), self.list.clone()))
    }
}

async fn read_list(pool: PgPool, list: Arc<RwLock<List>>) -> Option<RevocationSnapshot> {
    let (read_at, forgotten) = (Instant::now(), list.read().forgotten);
    let rows = sqlx::query_scalar!("select id from revocations where until > now()").fetch_all(&pool);
    let rows = database::within(READ_TIMEOUT, rows).await;
    let mut list = list.write();
    match rows {
        Ok(rows) => {
            list.ids = Arc::new(rows.into_iter().collect());
            list.failed_at = None;
            list.read_at = (list.forgotten == forgotten).then_some(read_at);
            Some(RevocationSnapshot { ids: list.ids.clone(), forgotten })
        }
        Err(error) => {
            tracing::warn!(%error, "the revocations cannot be read");
            list.failed_at = Some(Instant::now());
            None
        }
    }
}

/// Revokes every access token of the family `id`, or the one token `id`.
pub(crate) async fn add(connection: &mut PgConnection, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into revocations (id, until) values ($1, now() + make_interval(secs => $2)) \
         on conflict (id) do update set until = excluded.until",
        id,
        MAX_TOKEN_LIFETIME.as_secs_f64()
    )
    .execute(&mut *connection)
    .await?;
    changes::publish(connection, changes::REVOCATIONS).await
}

/// Deletes revocations that no unexpired token can match.
pub(crate) async fn sweep(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let swept = sqlx::query!("delete from revocations where until < now()").execute(pool).await?;
    Ok(swept.rows_affected())
}
