//! A connection pool with tested connections.
//!
//! Before sqlx's pool reuses a connection, it reads the rest of any running query without a time limit. From a frozen
//! server, or over a network that drops packets, nothing arrives. So each connection on which a query timed out would
//! be missing from the pool for as long as the kernel waits. Here a connection is tested, with a time limit, when it
//! is handed out and when it is returned. One that does not answer is replaced.

use std::time::Duration;

use opentelemetry::KeyValue;
use sqlx::{
    Connection, PgConnection, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use crate::within;

/// Time limit for a connection to answer before it is closed.
const HEALTH_CHECK_TIMEOUT: Duration = Duration::from_secs(1);

/// Age of an answer that still counts: under load, a test before each use would double the round trips.
const HEALTH_CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Lifetime of a connection, limited because the server's memory for it grows.
const MAX_LIFETIME: Duration = Duration::from_secs(1800);

/// Opens a pool of at most `connections`, one of which is made now. A caller that gets none within `timeout`
/// receives an error. Metrics name the pool `name`.
///
/// # Errors
/// Fails when no connection can be made within `timeout`.
pub async fn pool(
    name: &'static str,
    options: PgConnectOptions,
    connections: u32,
    timeout: Duration,
) -> Result<PgPool, sqlx::Error> {
    let pool = PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(timeout)
        .max_lifetime(MAX_LIFETIME)
        // sqlx's own test has no time limit; the one below has.
        .test_before_acquire(false)
        .before_acquire(|connection, state| {
            Box::pin(async move {
                match state.idle_for < HEALTH_CHECK_INTERVAL {
                    true => Ok(true),
                    false => is_healthy(connection).await,
                }
            })
        })
        .after_release(|connection, _| Box::pin(is_healthy(connection)))
        .connect_with(options)
        .await?;
    register_metrics(name, &pool);
    Ok(pool)
}

/// Publishes metrics of the pool's connections, by the semantic conventions for database clients.
fn register_metrics(name: &'static str, pool: &PgPool) {
    let meter = telemetry::meter();
    let named = move || KeyValue::new("db.client.connection.pool.name", name);
    let shown = pool.clone();
    meter
        .i64_observable_up_down_counter("db.client.connection.count")
        .with_unit("{connection}")
        .with_description("Connections of a pool, by state")
        .with_callback(move |observer| {
            let (all, idle) = (i64::from(shown.size()), i64::try_from(shown.num_idle()).unwrap_or(i64::MAX));
            for (state, connections) in [("idle", idle), ("used", all.saturating_sub(idle))] {
                observer.observe(connections, &[named(), KeyValue::new("db.client.connection.state", state)]);
            }
        })
        .build();
    let most = i64::from(pool.options().get_max_connections());
    meter
        .i64_observable_up_down_counter("db.client.connection.max")
        .with_unit("{connection}")
        .with_description("Connections that a pool may have")
        .with_callback(move |observer| observer.observe(most, &[named()]))
        .build();
}

/// Checks that the connection answers and that no earlier query is left on it. An error closes it without another
/// message to the server.
async fn is_healthy(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    within(HEALTH_CHECK_TIMEOUT, connection.ping()).await.map(|()| true)
}
