//! The pool.

use std::time::Duration;

use secrecy::ExposeSecret;
use sqlx::{PgPool, postgres::PgPoolOptions};

use crate::config::Config;

/// A request that waits longer for a connection is better refused.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(3);

/// Opens the pool. Connections are tested before use, so a restart of Postgres costs at most the requests in
/// flight.
///
/// # Errors
/// Fails when no connection can be made.
pub async fn connect(config: &Config) -> Result<PgPool, sqlx::Error> {
    PgPoolOptions::new()
        .max_connections(config.database_connections)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .connect(config.database_url.expose_secret())
        .await
}
