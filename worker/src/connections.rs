//! The process' connections to PostgreSQL, which add up to what the operator sets.
//!
//! Each job in hand has one for what it reads and stores and one for the queue; beside the jobs there are two for the
//! catalogue or the reservoir, the queue's own, and those that listen.

use std::time::Duration;

use anyhow::{Result, ensure};
use database::Terms;
use queue::WorkerConfig;
use sqlx::PgPool;

/// Connections beside the jobs': the catalogue's version and its reading, or the reservoir.
const BESIDE: u32 = 2;

/// How long a connection is waited for.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a statement may take: a catalogue of millions of offers is read by one.
const STATEMENT: Duration = Duration::from_secs(600);

/// How long a transaction may stand idle: none here waits for anything but the database.
const IDLE_TRANSACTION: Duration = Duration::from_secs(60);

/// The connections of the pool that handlers use: what is left of `all`, which is by default what the process needs, by the queue
/// and by `listeners`.
///
/// # Errors
/// Fails when `all` is less than the process needs.
pub fn of_handlers(all: Option<u32>, config: &WorkerConfig, listeners: u32) -> Result<u32> {
    let others = config.connections().saturating_add(listeners);
    let least = u32::try_from(config.in_hand()).unwrap_or(u32::MAX).saturating_add(BESIDE);
    let needed = least.saturating_add(others);
    let all = all.unwrap_or(needed);
    ensure!(
        all >= needed,
        "DATABASE_CONNECTIONS is `{all}`: this worker needs at least {needed} with {} jobs in hand",
        config.in_hand()
    );
    Ok(all - others)
}

/// A pool of at most `connections` to the database at `url`, for a process called `process`.
///
/// # Errors
/// Fails when no connection can be made.
pub async fn connect(url: &str, process: &'static str, connections: u32) -> Result<PgPool, sqlx::Error> {
    let terms = Terms { process, statement: Some(STATEMENT), idle_transaction: Some(IDLE_TRANSACTION) };
    database::pool("jobs", database::options(url, terms)?, connections, ACQUIRE_TIMEOUT).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_says_how_many_connections_it_needs() {
        let config = WorkerConfig { slots: 2, ready_places: 1, ..WorkerConfig::default() };

        // Three jobs in hand and two beside them; as many jobs and five in the queue; one listener of its own.
        assert_eq!(of_handlers(None, &config, 1).unwrap(), 5);
        assert_eq!(of_handlers(Some(14), &config, 1).unwrap(), 5);
        assert_eq!(of_handlers(Some(20), &config, 1).unwrap(), 11);
        let fault = of_handlers(Some(13), &config, 1).unwrap_err().to_string();
        assert_eq!(fault, "DATABASE_CONNECTIONS is `13`: this worker needs at least 14 with 3 jobs in hand");
    }
}
