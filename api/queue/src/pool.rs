//! Connection pool of the queue and apalis' schema.

use std::time::Duration;

use apalis_postgres::PostgresStorage;
use sqlx::PgPool;

use crate::QueueError;

/// Time that a query waits for a connection before it fails.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// Opens a pool for the queue alone on the database of `pool`; its commits do not wait for the disk.
///
/// A crash of Postgres can then lose the last milliseconds of queued jobs. Their callers still wait and see an error,
/// so no acknowledged work is lost. Samples are written through the caller's own pool, which waits for the disk.
pub(crate) async fn own(pool: &PgPool, max_connections: u32) -> Result<PgPool, sqlx::Error> {
    let options = (*pool.connect_options()).clone().options([("synchronous_commit", "off")]);
    database::pool("queue", options, max_connections, ACQUIRE_TIMEOUT).await
}

/// SQL functions that admit and claim jobs, and the changes to apalis' table.
const QUEUE_FUNCTIONS_SQL: [&str; 3] =
    [include_str!("admit.sql"), include_str!("claim.sql"), include_str!("tasks.sql")];

/// Creates apalis' own schema and the queue's functions over it; the project's migrations, which run first, create
/// the rest. Running it again changes nothing; two processes must not run it at the same time.
///
/// # Errors
/// Fails when the database does, or when the extension `hstore` cannot be made.
pub async fn setup(pool: &PgPool) -> Result<(), QueueError> {
    PostgresStorage::setup(pool).await?;
    for statements in QUEUE_FUNCTIONS_SQL {
        sqlx::raw_sql(statements).execute(pool).await?;
    }
    Ok(())
}
