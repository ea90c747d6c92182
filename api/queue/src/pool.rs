//! The queue's own connections and apalis' schema.

use std::time::Duration;

use apalis_postgres::PostgresStorage;
use sqlx::PgPool;

use crate::QueueError;

/// How long a query waits for a connection before it fails.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// A pool on the database of `pool` for the queue alone, whose commits do not wait for the disk.
///
/// A crash of Postgres can then lose the last milliseconds of queued jobs. Their callers are waiting and
/// see an error, so nothing that was acknowledged is lost; samples are written through the caller's own
/// pool, which waits.
pub(crate) async fn own(pool: &PgPool, max_connections: u32) -> Result<PgPool, sqlx::Error> {
    let options = (*pool.connect_options()).clone().options([("synchronous_commit", "off")]);
    database::pool("queue", options, max_connections, ACQUIRE_TIMEOUT).await
}

/// The functions by which jobs are taken and dealt, and what becomes of apalis' table.
const OVER_APALIS: [&str; 3] =
    [include_str!("admit.sql"), include_str!("deal.sql"), include_str!("tasks.sql")];

/// Makes apalis' own schema, and what the queue puts over it; the project's migrations, which come first, make the rest.
/// Running it again changes nothing; two processes must not run it at the same time.
///
/// # Errors
/// Fails when the database does, or when the extension `hstore` cannot be made.
pub async fn setup(pool: &PgPool) -> Result<(), QueueError> {
    PostgresStorage::setup(pool).await?;
    for statements in OVER_APALIS {
        sqlx::raw_sql(statements).execute(pool).await?;
    }
    Ok(())
}
