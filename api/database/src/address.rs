//! Where a process finds its database: through a pooler perhaps, and past it.
//!
//! A pooler in transaction mode (PgBouncer) lends a connection of the server for one transaction. Whatever lasts longer than that needs the
//! server itself: LISTEN hears on one connection for hours. So a process may have two addresses of one database; where it has
//! one, that is for both.

use sqlx::{PgPool, postgres::PgConnectOptions};

/// The connections of a process to one database.
#[derive(Debug, Clone)]
pub struct Database {
    /// For statements and transactions.
    pub pool: PgPool,
    direct: PgConnectOptions,
}

impl Database {
    /// What is reached by `pool`, and past a pooler by `direct`.
    #[must_use]
    pub fn new(pool: PgPool, direct: PgConnectOptions) -> Self {
        Self { pool, direct }
    }

    /// The address of the server itself.
    pub(crate) fn direct(&self) -> &PgConnectOptions {
        &self.direct
    }
}

/// A database that no pooler stands before.
impl From<PgPool> for Database {
    fn from(pool: PgPool) -> Self {
        Self { direct: (*pool.connect_options()).clone(), pool }
    }
}
