//! What has run out goes, now and then, whoever it belonged to.

use std::time::Duration;

use database::Background;
use sqlx::PgPool;

use crate::tables::{
    browsers, codes, device_codes, login_links, rate_limits, refresh, revocations, script_tokens, sessions,
};

/// The time between two sweeps of a process.
const INTERVAL: Duration = Duration::from_secs(600);

/// How long one may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sweeps every table until dropped.
pub(crate) fn every_now_and_then(pool: &PgPool) -> Background {
    let pool = pool.clone();
    Background::keep("sweeping up what has run out", move || {
        let pool = pool.clone();
        async move {
            loop {
                tokio::time::sleep(INTERVAL).await;
                if let Err(error) = database::within(PATIENCE, sweep(&pool)).await {
                    tracing::warn!(%error, "what has run out could not be swept up");
                }
            }
        }
    })
}

/// Forgets what has run out, unless the clock has jumped ahead; returns how many rows went. A process does so by itself every ten minutes.
///
/// # Errors
/// Fails when the database does.
pub async fn sweep(pool: &PgPool) -> Result<u64, sqlx::Error> {
    if !database::is_clock_steady(pool).await? {
        return Ok(0);
    }
    Ok(refresh::sweep(pool).await?
        + sessions::sweep(pool).await?
        + browsers::sweep(pool).await?
        + codes::sweep(pool).await?
        + device_codes::sweep(pool).await?
        + login_links::sweep(pool).await?
        + revocations::sweep(pool).await?
        + script_tokens::sweep(pool).await?
        + rate_limits::sweep(pool).await?)
}
