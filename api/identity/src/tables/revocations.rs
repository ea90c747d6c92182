//! Access tokens that ended before their time.
//!
//! A signed token cannot be taken back, so what was revoked is kept until the last token of it has run out,
//! and every process keeps that short list, which it reads again when it is told of more, and every few seconds: a check
//! costs no query.

use std::{
    collections::HashSet,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
    time::{Duration, Instant},
};

use database::{Asked, Flight};
use sqlx::{PgConnection, PgPool};

use crate::changes;

/// How long the list is believed.
const BELIEVED: Duration = Duration::from_secs(10);

/// The age at which it is read anew, while those who ask go on believing it.
const FRESH: Duration = Duration::from_secs(5);

/// How long reading it may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long the database is not asked again that did not answer.
const FAILED: Duration = Duration::from_secs(1);

/// No access token lives longer than this; settings are checked against it.
pub const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// The list, as of some seconds ago. One reading at a time serves all who wait for it.
pub(crate) struct Revocations {
    pool: PgPool,
    list: Arc<RwLock<List>>,
    reading: Flight<Option<Reading>>,
}

#[derive(Default)]
struct List {
    ids: Ids,
    read_at: Option<Instant>,
    failed_at: Option<Instant>,
    /// Rises when the list is forgotten, so that what was read before is not believed after.
    forgotten: u64,
}

/// What was revoked.
type Ids = Arc<HashSet<String>>;

/// What was read, and how often the list had been forgotten when that began.
#[derive(Clone)]
struct Reading {
    ids: Ids,
    forgotten: u64,
}

impl Revocations {
    pub fn new(pool: PgPool) -> Self {
        Self { pool, list: Arc::default(), reading: Flight::default() }
    }

    /// Whether one of `ids` was revoked: a family, an application, or a token by its own id.
    ///
    /// The answer comes at once while the list is believed or the database is known not to answer, else when the reading ends that
    /// is under way.
    pub async fn contain(&self, ids: [&str; 3]) -> Result<bool, sqlx::Error> {
        let is_in = |revoked: &Ids| ids.iter().any(|id| revoked.contains(*id));
        let forgotten = {
            let list = read(&self.list);
            let is_recent = |at: Option<Instant>, most: Duration| at.is_some_and(|at| at.elapsed() < most);
            let has_failed = is_recent(list.failed_at, FAILED);
            if is_recent(list.read_at, BELIEVED) {
                if !has_failed && !is_recent(list.read_at, FRESH) {
                    drop(self.read_anew());
                }
                return Ok(is_in(&list.ids));
            }
            if has_failed {
                return Err(sqlx::Error::PoolTimedOut);
            }
            list.forgotten
        };
        // What was under way when the list was forgotten does not count, and the next one does.
        for _ in 0..2 {
            let reading = self.read_anew().await.flatten().ok_or(sqlx::Error::PoolTimedOut)?;
            if reading.forgotten >= forgotten {
                return Ok(is_in(&reading.ids));
            }
        }
        Err(sqlx::Error::PoolTimedOut)
    }

    /// Reads the list anew before it is believed again.
    pub fn forget(&self) {
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        list.read_at = None;
        list.forgotten += 1;
    }

    /// The reading that is under way, or a new one; nothing where the database does not answer.
    fn read_anew(&self) -> Asked<Option<Reading>> {
        self.reading.join(|| read_list(self.pool.clone(), self.list.clone()))
    }
}

async fn read_list(pool: PgPool, list: Arc<RwLock<List>>) -> Option<Reading> {
    let (read_at, forgotten) = (Instant::now(), read(&list).forgotten);
    let rows = sqlx::query_scalar!("select id from revocations where until > now()").fetch_all(&pool);
    let rows = database::within(PATIENCE, rows).await;
    let mut list = list.write().unwrap_or_else(PoisonError::into_inner);
    match rows {
        Ok(rows) => {
            list.ids = Arc::new(rows.into_iter().collect());
            list.failed_at = None;
            list.read_at = (list.forgotten == forgotten).then_some(read_at);
            Some(Reading { ids: list.ids.clone(), forgotten })
        }
        Err(error) => {
            tracing::warn!(%error, "the revocations cannot be read");
            list.failed_at = Some(Instant::now());
            None
        }
    }
}

fn read(list: &RwLock<List>) -> RwLockReadGuard<'_, List> {
    list.read().unwrap_or_else(PoisonError::into_inner)
}

/// Revokes every access token of the family, or the token, `id`.
pub(crate) async fn add(connection: &mut PgConnection, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into revocations (id, until) values ($1, now() + make_interval(secs => $2)) \
         on conflict (id) do update set until = excluded.until",
        id,
        LONGEST.as_secs_f64()
    )
    .execute(&mut *connection)
    .await?;
    changes::tell(connection, changes::REVOCATIONS).await
}

/// Forgets what no token can be of any more.
pub(crate) async fn sweep(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let swept = sqlx::query!("delete from revocations where until < now()").execute(pool).await?;
    Ok(swept.rows_affected())
}
