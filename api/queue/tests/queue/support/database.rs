//! A database for each test, dropped at its end.

use std::path::{Path, PathBuf};

use contract::JobId;
use queue::{Client, Connections};
use sqlx::{
    AssertSqlSafe, Connection, PgConnection, PgPool,
    migrate::Migrator,
    postgres::{PgConnectOptions, PgPoolOptions},
};

/// A database of its own; `drop_database` ends it.
pub struct Database {
    pub pool: PgPool,
    name: String,
    server: String,
}

impl Database {
    pub async fn create() -> Self {
        let server = std::env::var("TEST_DATABASE_URL")
            .expect("TEST_DATABASE_URL names no PostgreSQL server for tests; ./ops/test starts one");
        let name = format!("queue_{}", JobId::generate().to_string().to_lowercase());
        let mut admin = PgConnection::connect(&server).await.unwrap();
        sqlx::raw_sql(AssertSqlSafe(format!("create database {name}"))).execute(&mut admin).await.unwrap();
        let options = server.parse::<PgConnectOptions>().unwrap().database(&name);
        let pool = PgPoolOptions::new().max_connections(5).connect_with(options).await.unwrap();
        Migrator::new(migrations()).await.unwrap().run(&pool).await.unwrap();
        queue::setup(&pool).await.unwrap();
        Self { pool, name, server }
    }

    pub async fn client(&self) -> Client {
        Client::connect(self.pool.clone(), Connections { queue: 16, process: 32 }).await.unwrap()
    }

    pub async fn drop_database(self) {
        self.pool.close().await;
        let mut admin = PgConnection::connect(&self.server).await.unwrap();
        let statement = format!("drop database {} with (force)", self.name);
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut admin).await.unwrap();
    }
}

/// The folder of migrations, from whichever package's tests this is compiled into.
fn migrations() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().map(|folder| folder.join("migrations")).find(|folder| folder.is_dir()).unwrap()
}
