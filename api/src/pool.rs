//! Connection pool for all uses but the queue.

use std::time::Duration;

use database::{ConnectionLimits, Database};
use secrecy::ExposeSecret;

use crate::config::Config;

/// Timeout of acquiring a connection; a request that waits longer is better refused.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(3);

/// Idle timeout of a transaction: no transaction here waits for anything but the database.
const IDLE_TRANSACTION: Duration = Duration::from_secs(60);

/// Opens the pool for all uses but the queue, and determines the direct address of the server. Idle connections are
/// tested before use. So a restart of Postgres costs at most the requests in flight and those of the moment after.
///
/// # Errors
/// Fails when no connection can be made.
pub async fn connect(config: &Config) -> Result<Database, sqlx::Error> {
    let terms = ConnectionLimits {
        process: "retort-api",
        statement: Some(config.request_time),
        idle_transaction: Some(IDLE_TRANSACTION),
    };
    let options = database::options(config.database_url.expose_secret(), terms)?;
    let direct = database::options(config.database_direct_url.expose_secret(), terms)?;
    let connections = config.database_connections.request_share();
    let pool = database::pool("requests", options, connections, ACQUIRE_TIMEOUT).await?;
    Ok(Database::new(pool, direct))
}
