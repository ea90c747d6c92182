//! What has run out goes, now and then, whoever it belonged to.

use std::{
    sync::{Arc, Weak},
    time::Duration,
};

use sqlx::PgPool;

use crate::tables::{browsers, codes, device_codes, rate_limits, refresh, revocations, sessions};

/// The time between two sweeps of a process.
const INTERVAL: Duration = Duration::from_secs(600);

/// Sweeps every table as long as `whoever` needs them.
pub(crate) fn every_now_and_then<T: Send + Sync + 'static>(whoever: &Arc<T>, pool: &PgPool) {
    let (whoever, pool) = (Arc::downgrade(whoever), pool.clone());
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(INTERVAL).await;
            if Weak::strong_count(&whoever) == 0 || pool.is_closed() {
                return;
            }
            if let Err(error) = sweep(&pool).await {
                tracing::warn!(%error, "what has run out could not be swept up");
            }
        }
    });
}

/// Forgets what has run out; returns how many rows went. A process does so by itself every ten minutes.
///
/// # Errors
/// Fails when the database does.
pub async fn sweep(pool: &PgPool) -> Result<u64, sqlx::Error> {
    Ok(refresh::sweep(pool).await?
        + sessions::sweep(pool).await?
        + browsers::sweep(pool).await?
        + codes::sweep(pool).await?
        + device_codes::sweep(pool).await?
        + revocations::sweep(pool).await?
        + rate_limits::sweep(pool).await?)
}
