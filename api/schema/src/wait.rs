//! The wait for a usable database.
//!
//! Machines start in any order and databases are restarted. So a process without a database waits and retries with
//! growing pauses. An error that waiting cannot fix ends the process at once: a role, a password or a database that
//! does not exist.

use std::{io, time::Duration};

use sqlx::{Connection, PgConnection, postgres::PgConnectOptions};
use tokio::time::Instant;

use crate::migrations::pending;

/// Pause after the first attempt; it doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// Longest pause: the maximum delay between the database's return and the process's.
const MAX_PAUSE: Duration = Duration::from_secs(2);

/// Timeout of an attempt.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(5);

/// Minimum interval between identical log lines.
const LOG_INTERVAL: Duration = Duration::from_secs(60);

/// The missing part that is waited for.
#[derive(Debug)]
pub enum Missing {
    /// The database cannot be reached.
    Database(sqlx::Error),
    /// Number of missing migrations.
    Migrations(usize),
}

/// The database cannot be used, and waiting does not change that.
#[derive(Debug, thiserror::Error)]
#[error("the database cannot be used")]
pub struct DatabaseUnusable(#[source] sqlx::Error);

/// Waits until the database at `url` is there and has every migration that this binary knows. Calls `report` after
/// every check that finds something missing.
///
/// # Errors
/// Fails when waiting would not fix the problem.
pub async fn wait(url: &str, mut report: impl FnMut(&Missing)) -> Result<(), DatabaseUnusable> {
    let options = url.parse().map_err(DatabaseUnusable)?;
    let mut pause = FIRST_PAUSE;
    let mut reported: Option<(Instant, String)> = None;
    loop {
        let missing = match count_migrations(&options).await {
            Ok(0) => {
                if reported.is_some() {
                    tracing::info!("the database can be used now");
                }
                return Ok(());
            }
            Ok(count) => Missing::Migrations(count),
            Err(error) if is_permanent(&error) => return Err(DatabaseUnusable(error)),
            Err(error) => Missing::Database(error),
        };
        let words = missing.to_string();
        if reported.as_ref().is_none_or(|(at, before)| *before != words || at.elapsed() >= LOG_INTERVAL) {
            tracing::warn!("waiting: {words}");
            reported = Some((Instant::now(), words));
        }
        report(&missing);
        tokio::time::sleep(pause).await;
        pause = (2 * pause).min(MAX_PAUSE);
    }
}

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Database(error) => write!(f, "the database cannot be reached: {error}"),
            Self::Migrations(count) => {
                write!(f, "{count} migrations are not applied; run `retort-api migrate`")
            }
        }
    }
}

/// Counts the migrations that the database lacks.
async fn count_migrations(options: &PgConnectOptions) -> Result<usize, sqlx::Error> {
    let query = async {
        let mut connection = PgConnection::connect_with(options).await?;
        let count = pending(&mut connection).await?.len();
        connection.close().await?;
        Ok(count)
    };
    let timed_out = || sqlx::Error::Io(io::Error::new(io::ErrorKind::TimedOut, "no answer in time"));
    tokio::time::timeout(ATTEMPT_TIMEOUT, query).await.unwrap_or_else(|_| Err(timed_out()))
}

/// Returns true if an operator has to act, because the configuration on either side is wrong.
fn is_permanent(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Configuration(_) => true,
        // PostgreSQL, appendix A: class 28 is "Invalid Authorization Specification", 3D000 "invalid_catalog_name", 42501
        // "insufficient_privilege".
        sqlx::Error::Database(error) => error
            .code()
            .is_some_and(|code| code.starts_with("28") || ["3D000", "42501"].contains(&code.as_ref())),
        _ => false,
    }
}
