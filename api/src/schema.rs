//! The pool, and the schema.

use std::time::Duration;

use database::Terms;
use secrecy::ExposeSecret;
use sqlx::{PgPool, migrate::Migrator};

use crate::config::Config;

/// The project's migrations, embedded.
pub static MIGRATIONS: Migrator = sqlx::migrate!("../migrations");

/// Any number, the same in every process: who holds this lock may change the schema.
const LOCK: i64 = 0x7265_746f_7274_6d69;

/// A request that waits longer for a connection is better refused.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(3);

/// How long a transaction may stand idle: none here waits for anything but the database.
const IDLE_TRANSACTION: Duration = Duration::from_secs(60);

/// Opens the pool of everything but the queue. Connections that were idle are tested before use, so a restart of Postgres costs at
/// most the requests in flight and those of the second before.
///
/// # Errors
/// Fails when no connection can be made.
pub async fn connect(config: &Config) -> Result<PgPool, sqlx::Error> {
    let terms = Terms {
        process: "retort-api",
        statement: Some(config.request_time),
        idle_transaction: Some(IDLE_TRANSACTION),
    };
    let options = database::options(config.database_url.expose_secret(), terms)?;
    database::pool(options, config.database_connections.of_requests(), ACQUIRE_TIMEOUT).await
}

/// The schema could not be brought up to date.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MigrateError {
    /// The database failed.
    #[error("the database failed")]
    Database(#[from] sqlx::Error),
    /// A migration failed.
    #[error("a migration failed")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// The queue's own tables could not be made.
    #[error("the queue's tables could not be made")]
    Queue(#[from] queue::QueueError),
}

/// Brings the schema up to date, ours and the queue's; processes that start together wait for each other.
///
/// # Errors
/// Fails when the database or a migration does.
pub async fn migrate(pool: &PgPool) -> Result<(), MigrateError> {
    // A table may take minutes to change, and another process may be at it.
    let unhurried = [("statement_timeout", "0"), ("lock_timeout", "0")];
    let options = (*pool.connect_options()).clone().options(unhurried);
    let pool = database::pool(options, 1, ACQUIRE_TIMEOUT).await?;
    // Out of the pool, so that the lock goes with the connection whatever happens.
    let mut guard = pool.acquire().await?.detach();
    sqlx::query!("select pg_advisory_lock($1)", LOCK).execute(&mut guard).await?;
    MIGRATIONS.run(&pool).await?;
    queue::setup(&pool).await?;
    sqlx::Connection::close(guard).await?;
    pool.close().await;
    Ok(())
}

/// The migrations that this binary knows and the database lacks.
pub async fn pending_migrations(pool: &PgPool) -> Result<Vec<i64>, sqlx::Error> {
    // Unchecked: the table is the migrator's own, so no migration makes it.
    let done: Vec<i64> =
        sqlx::query_scalar("select version from _sqlx_migrations where success").fetch_all(pool).await?;
    let known = MIGRATIONS.iter().map(|migration| migration.version);
    Ok(known.filter(|version| !done.contains(version)).collect())
}
