//! Number of open streams of each account, over all processes: the table `open_streams`.
//!
//! A stream is counted until it ends. Each process renews all its open streams in one statement. The rows of a
//! process that died expire.

use std::{collections::HashSet, sync::Arc, time::Duration};

use database::{Background, interval, run_after_drop, within};
use http_errors::ApiError;
use parking_lot::Mutex;
use sqlx::PgPool;

use super::readers::Readers;

/// Maximum number of open streams of an account.
const MAX_OPEN_STREAMS: i64 = 16;

/// `Retry-After` when the maximum is reached.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// Time after which a stream that is not renewed expires.
const LEASE: Duration = Duration::from_secs(20);

/// Renewal interval, and timeout of a renewal or a removal.
const RENEWAL: Duration = Duration::from_secs(5);

/// Streams of the process. Clones share them.
#[derive(Clone)]
pub struct Streams {
    pool: PgPool,
    open: OpenStreamIds,
    pub(super) readers: Readers,
    _renewal: Arc<Background>,
}

/// Row ids of the open streams of the process.
type OpenStreamIds = Arc<Mutex<HashSet<i64>>>;

impl Streams {
    /// Creates an empty set of streams.
    pub fn new(pool: PgPool) -> Self {
        let open = OpenStreamIds::default();
        let renewal = Background::supervise("counting open streams", {
            let (pool, open) = (pool.clone(), open.clone());
            move || renew_all(pool.clone(), open.clone())
        });
        Self { pool, open, readers: Readers::default(), _renewal: Arc::new(renewal) }
    }

    /// Opens a stream of the account.
    ///
    /// # Errors
    /// Fails if the account has its maximum of streams open, or on a database error.
    pub(super) async fn open(&self, account_id: &str) -> Result<OpenStream, ApiError> {
        let opened = sqlx::query_scalar!(
            "select open_stream($1, $2, $3)",
            account_id,
            MAX_OPEN_STREAMS,
            interval(LEASE)
        );
        let Some(id) = opened.fetch_one(&self.pool).await? else {
            return Err(ApiError::TooManyInFlight { retry_after: RETRY_AFTER });
        };
        self.open.lock().insert(id);
        Ok(OpenStream { streams: self.clone(), id })
    }
}

/// Open stream, counted for its account until it is dropped.
pub(super) struct OpenStream {
    pub(super) streams: Streams,
    id: i64,
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.streams.open.lock().remove(&self.id);
        let (pool, id) = (self.streams.pool.clone(), self.id);
        run_after_drop(async move {
            let closed = sqlx::query!("delete from open_streams where id = $1", id).execute(&pool);
            if let Err(error) = within(RENEWAL, closed).await {
                tracing::debug!(
                    "an ended stream could not be released and counts until its lease expires: {error}"
                );
            }
        });
    }
}

async fn renew_all(pool: PgPool, open: OpenStreamIds) {
    loop {
        tokio::time::sleep(RENEWAL).await;
        let ids: Vec<i64> = open.lock().iter().copied().collect();
        if ids.is_empty() {
            continue;
        }
        let renewed = sqlx::query!(
            "update open_streams set until = now() + $2 where id = any($1)",
            &ids,
            interval(LEASE)
        );
        if let Err(error) = within(RENEWAL, renewed.execute(&pool)).await {
            tracing::warn!("the leases of open streams could not be renewed: {error}");
        }
    }
}
