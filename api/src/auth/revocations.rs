//! Access tokens that ended before their time.
//!
//! A signed token cannot be taken back, so what was revoked is kept until the last token of it has run out,
//! and every process reads that short list every few seconds: a check costs no query.

use std::{
    collections::HashSet,
    sync::{PoisonError, RwLock},
    time::{Duration, Instant},
};

use sqlx::{PgConnection, PgPool};
use tokio::sync::Mutex;

/// How long the list is believed.
const BELIEVED: Duration = Duration::from_secs(10);

/// No access token lives longer than this; settings are checked against it.
pub const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// The list, as of some seconds ago.
pub struct Revocations {
    pool: PgPool,
    list: RwLock<List>,
    turn: Mutex<()>,
}

#[derive(Default)]
struct List {
    read_at: Option<Instant>,
    ids: HashSet<String>,
}

impl Revocations {
    pub fn new(pool: PgPool) -> Self {
        Self { pool, list: RwLock::default(), turn: Mutex::new(()) }
    }

    /// Whether one of `ids` was revoked: a family, an application, or a token by its own id.
    pub async fn contain(&self, ids: [&str; 3]) -> Result<bool, sqlx::Error> {
        if let Some(found) = self.look_up(ids) {
            return Ok(found);
        }
        let _turn = self.turn.lock().await;
        // Somebody before us in the queue may have read it.
        if let Some(found) = self.look_up(ids) {
            return Ok(found);
        }
        let read_at = Some(Instant::now());
        let rows: Vec<(String,)> =
            sqlx::query_as("select id from revocations where until > now()").fetch_all(&self.pool).await?;
        let ids_read = rows.into_iter().map(|(id,)| id).collect();
        *self.list.write().unwrap_or_else(PoisonError::into_inner) = List { read_at, ids: ids_read };
        Ok(self.look_up(ids).unwrap_or_default())
    }

    /// Lets this process see at once what it has just revoked.
    pub fn forget(&self) {
        self.list.write().unwrap_or_else(PoisonError::into_inner).read_at = None;
    }

    fn look_up(&self, ids: [&str; 3]) -> Option<bool> {
        let list = self.list.read().unwrap_or_else(PoisonError::into_inner);
        let believed = list.read_at.is_some_and(|read_at| read_at.elapsed() < BELIEVED);
        believed.then(|| ids.iter().any(|id| list.ids.contains(*id)))
    }
}

/// Revokes every access token of the family, or the token, `id`.
pub async fn add(connection: &mut PgConnection, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query("delete from revocations where until < now()").execute(&mut *connection).await?;
    sqlx::query(
        "insert into revocations (id, until) values ($1, now() + make_interval(secs => $2)) \
         on conflict (id) do update set until = excluded.until",
    )
    .bind(id)
    .bind(LONGEST.as_secs_f64())
    .execute(connection)
    .await?;
    Ok(())
}
