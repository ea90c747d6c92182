//! Applying migrations without stopping those who work.
//!
//! A migration that waits for a table lets nobody else near it meanwhile. So it waits for two seconds, gives up, lets
//! everybody through, and tries again.

use std::{error::Error, sync::LazyLock, time::Duration};

use sqlx::{
    Connection, PgConnection, PgExecutor,
    migrate::Migrator,
    postgres::{PgConnectOptions, PgPoolOptions},
};

/// The project's migrations, embedded; a database may have later ones.
pub static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| {
    let mut migrations = sqlx::migrate!("../../migrations");
    migrations.set_ignore_missing(true);
    migrations
});

/// Any number, the same in every process: who holds this lock may change the schema.
const LOCK: i64 = 0x7265_746f_7274_6d69;

/// What holds while the schema is changed: a short wait for every lock, and as long as it takes once it is had.
const SETTINGS: [(&str, &str); 2] = [("lock_timeout", "2s"), ("statement_timeout", "0")];

/// How often a lock is asked for.
const ATTEMPTS: u32 = 12;

/// Between two attempts, so that what queued behind the first is done.
const PAUSE: Duration = Duration::from_secs(5);

/// PostgreSQL's codes.
const LOCK_NOT_AVAILABLE: &str = "55P03";
const UNDEFINED_TABLE: &str = "42P01";

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

impl MigrateError {
    /// Whether somebody else held a lock for too long.
    fn is_for_a_lock(&self) -> bool {
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

/// Brings the schema of the database at `url` up to date, ours and the queue's, with the rights of the role that `url` names.
/// A schema that is newer than this binary stays as it is.
///
/// # Errors
/// Fails when the database or a migration does, and when others hold a lock that it needs for a minute.
pub async fn migrate(url: &str) -> Result<(), MigrateError> {
    let options = url.parse::<PgConnectOptions>()?.options(SETTINGS);
    for attempt in 1..ATTEMPTS {
        match apply(&options).await {
            Err(error) if error.is_for_a_lock() => tracing::warn!(
                attempt,
                "others hold what has to be locked ({}); trying again in {PAUSE:?}",
                error.source().map_or_else(|| error.to_string(), ToString::to_string)
            ),
            applied => return applied,
        }
        tokio::time::sleep(PAUSE).await;
    }
    apply(&options).await
}

async fn apply(options: &PgConnectOptions) -> Result<(), MigrateError> {
    // Connections of its own, so that locks go with them whatever happens.
    let mut guard = PgConnection::connect_with(options).await?;
    sqlx::query!("select pg_advisory_lock($1)", LOCK).execute(&mut guard).await?;
    MIGRATIONS.run(&mut guard).await?;
    let later = applied(&mut guard).await?.into_iter().filter(|version| !MIGRATIONS.version_exists(*version));
    match later.max() {
        // What a later binary made of the queue's functions is not undone.
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

/// The migrations that this binary knows and the database lacks.
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
    // Unchecked: the table is the migrator's own, so no migration makes it.
    sqlx::query_scalar("select version from _sqlx_migrations where success").fetch_all(database).await
}
