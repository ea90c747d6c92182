//! The connections of everything but the queue.

use std::time::Duration;

use database::{Database, Terms};
use secrecy::ExposeSecret;

use crate::config::Config;

/// A request that waits longer for a connection is better refused.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a transaction may stand idle: none here waits for anything but the database.
const IDLE_TRANSACTION: Duration = Duration::from_secs(60);

/// Opens the pool of everything but the queue, and says where the server itself is. Connections that were idle are tested before use, so a restart of Postgres costs at
/// most the requests in flight and those of the moment after.
///
/// # Errors
/// Fails when no connection can be made.
pub async fn connect(config: &Config) -> Result<Database, sqlx::Error> {
    let terms = Terms {
        process: "retort-api",
        statement: Some(config.request_time),
        idle_transaction: Some(IDLE_TRANSACTION),
    };
    let options = database::options(config.database_url.expose_secret(), terms)?;
    let direct = database::options(config.database_direct_url.expose_secret(), terms)?;
    let connections = config.database_connections.of_requests();
    let pool = database::pool("requests", options, connections, ACQUIRE_TIMEOUT).await?;
    Ok(Database::new(pool, direct))
}
