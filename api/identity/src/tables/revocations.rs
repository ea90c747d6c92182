//! Access tokens that ended before their time.
//!
//! A signed token cannot be taken back, so what was revoked is kept until the last token of it has run out,
//! and every process keeps that short list, which it reads again when it is told of more, and every few seconds: a check
//! costs no query.

use std::{
    collections::HashSet,
    sync::{PoisonError, RwLock, RwLockReadGuard},
    time::{Duration, Instant},
};

use sqlx::{PgConnection, PgPool};
use tokio::sync::Mutex;

use crate::changes;

/// How long the list is believed.
const BELIEVED: Duration = Duration::from_secs(10);

/// How long the database is not asked again that did not answer.
const FAILED: Duration = Duration::from_secs(1);

/// No access token lives longer than this; settings are checked against it.
pub const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// The list, as of some seconds ago.
pub(crate) struct Revocations {
    pool: PgPool,
    list: RwLock<List>,
    turn: Mutex<()>,
}

#[derive(Default)]
struct List {
    read_at: Option<Instant>,
    failed_at: Option<Instant>,
    ids: HashSet<String>,
    /// Rises when the list is forgotten, so that what was read before is not believed after.
    forgotten: u64,
}

impl Revocations {
    pub fn new(pool: PgPool) -> Self {
        Self { pool, list: RwLock::default(), turn: Mutex::new(()) }
    }

    /// Whether one of `ids` was revoked: a family, an application, or a token by its own id.
    pub async fn contain(&self, ids: [&str; 3]) -> Result<bool, sqlx::Error> {
        if let Some(found) = self.look_up(ids) {
            return found;
        }
        let _turn = self.turn.lock().await;
        // Somebody before us in the queue may have read it, or failed.
        if let Some(found) = self.look_up(ids) {
            return found;
        }
        let (read_at, forgotten) = (Instant::now(), self.read().forgotten);
        let rows =
            sqlx::query_scalar!("select id from revocations where until > now()").fetch_all(&self.pool);
        let rows = rows.await;
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        match rows {
            Ok(rows) => {
                list.ids = rows.into_iter().collect();
                list.failed_at = None;
                list.read_at = (list.forgotten == forgotten).then_some(read_at);
                Ok(ids.iter().any(|id| list.ids.contains(*id)))
            }
            Err(error) => {
                list.failed_at = Some(Instant::now());
                Err(error)
            }
        }
    }

    /// Reads the list anew before it is believed again.
    pub fn forget(&self) {
        let mut list = self.list.write().unwrap_or_else(PoisonError::into_inner);
        list.read_at = None;
        list.forgotten += 1;
    }

    /// What is known without asking; that the database did not answer is known for a moment, so that a queue of callers does not
    /// wait for it one by one.
    fn look_up(&self, ids: [&str; 3]) -> Option<Result<bool, sqlx::Error>> {
        let list = self.read();
        let is_recent = |at: Option<Instant>, most: Duration| at.is_some_and(|at| at.elapsed() < most);
        if is_recent(list.read_at, BELIEVED) {
            return Some(Ok(ids.iter().any(|id| list.ids.contains(*id))));
        }
        is_recent(list.failed_at, FAILED).then(|| Err(sqlx::Error::PoolTimedOut))
    }

    fn read(&self) -> RwLockReadGuard<'_, List> {
        self.list.read().unwrap_or_else(PoisonError::into_inner)
    }
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
