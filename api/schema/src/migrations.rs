//! Application of migrations without downtime.
//!
//! While a migration waits for a lock on a table, every later statement on that table queues behind it. So it waits
//! for two seconds, gives up, lets the others through, and tries again.

use std::{error::Error, sync::LazyLock, time::Duration};

use sqlx::{
    Connection, PgConnection, PgExecutor,
    migrate::Migrator,
    postgres::{PgConnectOptions, PgPoolOptions},
};

/// The project's embedded migrations; a database may have later ones.
pub static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| {
    let mut migrations = sqlx::migrate!("../../migrations");
    migrations.set_ignore_missing(true);
    migrations
});

/// Advisory lock that protects changes of the schema: an arbitrary number, the same in every process.
const SCHEMA_LOCK_ID: i64 = 0x7265_746f_7274_6d69;

/// Settings while the schema is changed: a short wait for every lock, and no time limit for the change itself.
const SESSION_SETTINGS: [(&str, &str); 2] = [("lock_timeout", "2s"), ("statement_timeout", "0")];

/// Maximum number of attempts to get a lock.
const MAX_ATTEMPTS: u32 = 12;

/// Pause between two attempts, in which statements that queued behind the first can finish.
const RETRY_DELAY: Duration = Duration::from_secs(5);

/// PostgreSQL error codes.
const LOCK_NOT_AVAILABLE: &str = "55P03";
const UNDEFINED_TABLE: &str = "42P01";

/// Error of an update of the schema.
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

impl MigrateError {
    /// Returns true if a lock could not be had in time.
    fn is_lock_timeout(&self) -> bool {
        let mut error: Option<&(dyn Error + 'static)> = Some(self);
        while let Some(cause) = error {
            if cause.downcast_ref().is_some_and(|cause| has_code(cause, LOCK_NOT_AVAILABLE)) {
                return true;
            }
            error = cause.source();
        }
        false
    }
}

fn has_code(error: &sqlx::Error, code: &str) -> bool {
    error.as_database_error().and_then(|error| error.code()).is_some_and(|found| found == code)
}

/// Updates the schema of the database at `url`, ours and the queue's, with the rights of the role that `url` names. A
/// schema that is newer than this binary is left unchanged.
///
/// # Errors
/// Fails when the database or a migration does, and when others hold a required lock for a minute.
pub async fn migrate(url: &str) -> Result<(), MigrateError> {
    let options = url.parse::<PgConnectOptions>()?.options(SESSION_SETTINGS);
    for attempt in 1..MAX_ATTEMPTS {
        match apply(&options).await {
            Err(error) if error.is_lock_timeout() => tracing::warn!(
                attempt,
                "others hold what has to be locked ({}); trying again in {RETRY_DELAY:?}",
                error.source().map_or_else(|| error.to_string(), ToString::to_string)
            ),
            applied => return applied,
        }
        tokio::time::sleep(RETRY_DELAY).await;
    }
    apply(&options).await
}

async fn apply(options: &PgConnectOptions) -> Result<(), MigrateError> {
    // Separate connections, so that their locks are released in any case.
    let mut guard = PgConnection::connect_with(options).await?;
    sqlx::query!("select pg_advisory_lock($1)", SCHEMA_LOCK_ID).execute(&mut guard).await?;
    MIGRATIONS.run(&mut guard).await?;
    let later = applied(&mut guard).await?.into_iter().filter(|version| !MIGRATIONS.version_exists(*version));
    match later.max() {
        // A newer binary's version of the queue's functions is not reverted.
        Some(version) => tracing::info!(version, "the schema is newer than this binary, and stays as it is"),
        None => {
            let pool = PgPoolOptions::new().max_connections(1).connect_with(options.clone()).await?;
            queue::setup(&pool).await?;
            pool.close().await;
        }
    }
    guard.close().await?;
    Ok(())
}

/// Returns the migrations that this binary knows and the database lacks.
///
/// # Errors
/// Fails when the database does.
pub async fn pending(database: impl PgExecutor<'_>) -> Result<Vec<i64>, sqlx::Error> {
    let applied = match applied(database).await {
        Err(error) if has_code(&error, UNDEFINED_TABLE) => Vec::new(),
        applied => applied?,
    };
    let known = MIGRATIONS.iter().map(|migration| migration.version);
    Ok(known.filter(|version| !applied.contains(version)).collect())
}

async fn applied(database: impl PgExecutor<'_>) -> Result<Vec<i64>, sqlx::Error> {
    // Not checked at compile time: the migrator creates the table, not a migration.
    sqlx::query_scalar("select version from _sqlx_migrations where success").fetch_all(database).await
}
