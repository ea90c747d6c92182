//! Database of its own for each test, with the queue in it.

use queue::{Client, Connections};
use sqlx::{PgPool, postgres::PgPoolOptions};

/// A test database, and connections to it.
pub struct Database {
    pub pool: PgPool,
    database: scratch::Database,
}

impl Database {
    pub async fn create() -> Self {
        let database = scratch::Database::with_schema().await;
        let pool = PgPoolOptions::new().max_connections(5).connect(&database.url()).await.unwrap();
        Self { pool, database }
    }

    pub fn url(&self) -> String {
        self.database.url()
    }

    pub async fn client(&self) -> Client {
        Client::connect(self.pool.clone(), Connections { queue: 16, process: 32 }).await.unwrap()
    }
}
