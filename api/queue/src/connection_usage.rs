//! Check that PostgreSQL's connection limit covers all live processes.
//!
//! If a process opens one connection too many, some later statement fails, perhaps a week later, under load. So each
//! process stores its own limit in its row, and a starting process adds them up.

use std::fmt;

use database::interval;
use sqlx::{PgExecutor, PgPool};
use tracing::warn;

use crate::{
    config::{CALLER_DEAD_AFTER, DEAD_AFTER},
    worker_process::STATEMENT_TIMEOUT,
};

/// Connections that the live processes may open, and the server's limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionUsage {
    /// Live processes that state their connection limit.
    pub processes: i64,
    /// Sum of their limits.
    pub connections: i64,
    /// `max_connections` without the reserved ones.
    pub room: i64,
}

impl ConnectionUsage {
    /// Returns true if the limit covers all of them.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.connections <= self.room
    }
}

impl fmt::Display for ConnectionUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { processes, connections, room } = self;
        let many = if *processes == 1 { "process" } else { "processes" };
        write!(
            f,
            "{processes} {many} may open {connections} connections, and PostgreSQL has room for {room}"
        )?;
        if !self.fits() {
            write!(f, ": raise its max_connections, lower DATABASE_CONNECTIONS, or put a pooler before it")?;
        }
        Ok(())
    }
}

/// Returns the connections that the live processes may open.
///
/// # Errors
/// Fails when the database does.
pub async fn connection_usage(database: impl PgExecutor<'_>) -> Result<ConnectionUsage, sqlx::Error> {
    sqlx::query_as!(
        ConnectionUsage,
        r#"select count(*) as "processes!", coalesce(sum(connections), 0) as "connections!",
            current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint
                - coalesce(current_setting('reserved_connections', true), '0')::bigint as "room!"
        from (
            select connections from live_workers where last_seen > now() - $1::interval
            union all
            select connections from live_callers where last_seen > now() - $2::interval
        ) as process
        where connections > 0"#,
        interval(DEAD_AFTER),
        interval(CALLER_DEAD_AFTER)
    )
    .fetch_one(database)
    .await
}

/// Warns if the limit does not cover all processes; called once, at start.
pub(crate) async fn warn_where_short(pool: &PgPool) {
    match database::within(STATEMENT_TIMEOUT, connection_usage(pool)).await {
        Ok(usage) if usage.fits() => {}
        Ok(usage) => warn!("connections may run out: {usage}"),
        Err(error) => warn!("could not check whether PostgreSQL has room for all connections: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_connections_are_reported_with_advice() {
        let fitting = ConnectionUsage { processes: 3, connections: 97, room: 97 };
        let short = ConnectionUsage { connections: 98, ..fitting };

        assert_eq!(
            fitting.to_string(),
            "3 processes may open 97 connections, and PostgreSQL has room for 97"
        );
        assert!(short.to_string().ends_with(
            "room for 97: raise its max_connections, lower DATABASE_CONNECTIONS, or put a pooler before it"
        ));
    }
}
