//! Connections of the process to PostgreSQL, whose total the operator sets.
//!
//! Each running job has one connection to read and store, and one for the queue. In addition there are two for the
//! catalogue or the reservoir, the queue's own, and the listeners.

use std::time::Duration;

use anyhow::{Result, ensure};
use database::{ConnectionLimits, Database};
use queue::WorkerConfig;

/// Connections beside those of the jobs: the catalogue's version and its reading, or the reservoir.
const NON_JOB_CONNECTIONS: u32 = 2;

/// Timeout of acquiring a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// Timeout of a statement: one statement reads a catalogue of millions of offers.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(600);

/// Idle timeout of a transaction: no transaction here waits for anything but the database.
const IDLE_TRANSACTION_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum numbers of connections of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionShares {
    /// Pool size of the handlers: the rest after the queue and the listeners.
    pub handlers: u32,
    /// Listener connections.
    pub listeners: u32,
    /// Total number of connections.
    pub all: u32,
}

/// Divides `all` connections among the queues of a process; the default total is the number needed. `pooled` and
/// `listeners` are the numbers beside the queues' own: a listener bypasses a pooler.
///
/// # Errors
/// Fails if `all` is less than the process needs.
pub fn divide_connections(
    all: Option<u32>,
    configs: &[&WorkerConfig],
    pooled: u32,
    listeners: u32,
) -> Result<ConnectionShares> {
    let count = |connections: usize| u32::try_from(connections).unwrap_or(u32::MAX);
    let of_queues = configs.iter().map(|config| config.connections()).fold(0, u32::saturating_add);
    let others = of_queues.saturating_add(pooled + listeners);
    let max_running_jobs =
        configs.iter().map(|config| config.max_running_jobs()).fold(0, usize::saturating_add);
    let of_jobs = configs.iter().map(|config| config.job_connections()).fold(0, u32::saturating_add);
    let least = of_jobs.saturating_add(NON_JOB_CONNECTIONS);
    let needed = least.saturating_add(others);
    let all = all.unwrap_or(needed);
    ensure!(
        all >= needed,
        "DATABASE_CONNECTIONS is `{all}`: this worker needs at least {needed} with {max_running_jobs} jobs in hand"
    );
    let listeners = listeners + queue::LISTENER_CONNECTIONS * count(configs.len());
    Ok(ConnectionShares { handlers: all - others, listeners, all })
}

/// Opens a pool of at most `connections` to the database at `url`, for a process named `process`. `direct` is the
/// address that bypasses a pooler.
///
/// # Errors
/// Fails when no connection can be made.
pub async fn connect(
    (url, direct): (&str, &str),
    process: &'static str,
    connections: u32,
) -> Result<Database, sqlx::Error> {
    let terms = ConnectionLimits {
        process,
        statement: Some(STATEMENT_TIMEOUT),
        idle_transaction: Some(IDLE_TRANSACTION_TIMEOUT),
    };
    let pool = database::pool("jobs", database::options(url, terms)?, connections, ACQUIRE_TIMEOUT).await?;
    Ok(Database::new(pool, database::options(direct, terms)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_says_how_many_connections_it_needs() {
        let config = WorkerConfig { slots: 2, ready_places: 1, ..WorkerConfig::default() };

        // Three running jobs and two more; as many jobs and five in the queue; one listener of its own.
        let shares = |handlers, all| ConnectionShares { handlers, listeners: 2, all };
        assert_eq!(divide_connections(None, &[&config], 0, 1).unwrap(), shares(5, 14));
        assert_eq!(divide_connections(Some(14), &[&config], 0, 1).unwrap(), shares(5, 14));
        assert_eq!(divide_connections(Some(20), &[&config], 0, 1).unwrap(), shares(11, 20));
        // Jobs of another queue share one.
        let background = WorkerConfig { slots: 9, connections_of_jobs: Some(1), ..WorkerConfig::default() };
        let both = divide_connections(None, &[&config, &background], 0, 1).unwrap();
        assert_eq!(both, ConnectionShares { handlers: 6, listeners: 3, all: 21 });
        // A pool of its own goes through a pooler, as the handlers' does.
        let pooled = divide_connections(None, &[&config], 2, 1).unwrap();
        assert_eq!(pooled, ConnectionShares { handlers: 5, listeners: 2, all: 16 });
        let fault = divide_connections(Some(13), &[&config], 0, 1).unwrap_err().to_string();
        assert_eq!(fault, "DATABASE_CONNECTIONS is `13`: this worker needs at least 14 with 3 jobs in hand");
    }
}
