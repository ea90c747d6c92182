//! Periodic deletion of expired rows, for all accounts.

use std::time::Duration;

use database::Background;
use sqlx::PgPool;

use crate::tables::{
    browsers, codes, device_codes, login_links, rate_limits, refresh_tokens, revocations, script_tokens,
    sessions,
};

/// Interval between two sweeps of a process.
const INTERVAL: Duration = Duration::from_secs(600);

/// Timeout of a sweep.
const SWEEP_TIMEOUT: Duration = Duration::from_secs(60);

/// Sweeps every table periodically until dropped.
pub(crate) fn spawn_periodic(pool: &PgPool) -> Background {
    let pool = pool.clone();
    Background::supervise("deleting expired logins and codes", move || {
        let pool = pool.clone();
        async move {
            loop {
                tokio::time::sleep(INTERVAL).await;
                if let Err(error) = database::within(SWEEP_TIMEOUT, sweep(&pool)).await {
                    tracing::warn!(%error, "expired logins and codes could not be deleted");
                }
            }
        }
    })
}

/// Deletes expired rows, unless the clock has jumped ahead; returns the number of rows. Each process does this every
/// ten minutes by itself.
///
/// # Errors
/// Fails when the database does.
pub async fn sweep(pool: &PgPool) -> Result<u64, sqlx::Error> {
    if !database::is_clock_steady(pool).await? {
        return Ok(0);
    }
    Ok(refresh_tokens::sweep(pool).await?
        + sessions::sweep(pool).await?
        + browsers::sweep(pool).await?
        + codes::sweep(pool).await?
        + device_codes::sweep(pool).await?
        + login_links::sweep(pool).await?
        + revocations::sweep(pool).await?
        + script_tokens::sweep(pool).await?
        + rate_limits::sweep(pool).await?)
}
