//! Addresses of a process's database: through a pooler, if there is one, and directly.
//!
//! A pooler in transaction mode (PgBouncer) lends a server connection for one transaction. Anything longer needs a
//! direct connection to the server: LISTEN holds one for hours. So a process may have two addresses of one database;
//! a single address serves both purposes.

use sqlx::{PgPool, postgres::PgConnectOptions};

/// The connections of a process to one database.
#[derive(Debug, Clone)]
pub struct Database {
    /// Pool for statements and transactions.
    pub pool: PgPool,
    direct: PgConnectOptions,
}

impl Database {
    /// Combines `pool` with `direct`, the address that bypasses a pooler.
    #[must_use]
    pub fn new(pool: PgPool, direct: PgConnectOptions) -> Self {
        Self { pool, direct }
    }

    /// Returns the address of the server itself.
    pub(crate) fn direct(&self) -> &PgConnectOptions {
        &self.direct
    }
}

/// Wraps the pool of a database without a pooler.
impl From<PgPool> for Database {
    fn from(pool: PgPool) -> Self {
        Self { direct: (*pool.connect_options()).clone(), pool }
    }
}
