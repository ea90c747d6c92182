//! A pool whose connections answer.
//!
//! What comes back to sqlx's pool is first read to the end of whatever was under way, with no bound: of a server that is frozen, or a
//! network that drops packets, nothing comes, and each connection on which a query timed out would be gone from the pool for as
//! long as the kernel waits. Here it has a bound on both ways, and what does not answer makes room for a new connection.

use std::time::Duration;

use opentelemetry::KeyValue;
use sqlx::{
    Connection, PgConnection, PgPool,
    postgres::{PgConnectOptions, PgPoolOptions},
};

use crate::within;

/// How long a connection may take to answer before it is closed.
const ANSWER: Duration = Duration::from_secs(1);

/// A connection that answered this long ago is not asked again: under load a test each time would double the round trips.
const RECENT: Duration = Duration::from_millis(100);

/// How long a connection lives: what a server keeps of one grows.
const LIFETIME: Duration = Duration::from_secs(1800);

/// A pool of at most `connections`, one of which is made now; whoever gets none within `patience` is told so. Metrics call it
/// `name`.
///
/// # Errors
/// Fails when no connection can be made within `patience`.
pub async fn pool(
    name: &'static str,
    options: PgConnectOptions,
    connections: u32,
    patience: Duration,
) -> Result<PgPool, sqlx::Error> {
    let pool = PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(patience)
        .max_lifetime(LIFETIME)
        // Has no bound of its own; the one below has.
        .test_before_acquire(false)
        .before_acquire(|connection, state| {
            Box::pin(async move {
                match state.idle_for < RECENT {
                    true => Ok(true),
                    false => answers(connection).await,
                }
            })
        })
        .after_release(|connection, _| Box::pin(answers(connection)))
        .connect_with(options)
        .await?;
    show(name, &pool);
    Ok(pool)
}

/// Shows the pool's connections, by the semantic conventions for database clients.
fn show(name: &'static str, pool: &PgPool) {
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

/// Whether nothing is left of what was asked before. An error closes the connection without another word to the server.
async fn answers(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    within(ANSWER, connection.ping()).await.map(|()| true)
}
