//! A separate database for each test, in the PostgreSQL server of `TEST_DATABASE_URL`.
//!
//! The schema is created once per server, in a template database that all others are copied from. A copy takes a
//! fifth of the time of the migrations, and hundreds of tests need one.

use std::hash::{DefaultHasher, Hash, Hasher as _};

use queue::{Client, ClientConnections};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, PgPool, postgres::PgPoolOptions};
use ulid::Ulid;

/// Arbitrary unique number of the advisory lock. Its holder creates the template database.
const LOCK: i64 = 0x0073_6372_6174_6368;

/// A database, dropped with this value even if connections are open.
#[derive(Debug)]
pub struct TestDatabase {
    /// Up to five connections, opened when needed.
    pub pool: PgPool,
    server: String,
    name: String,
}

impl TestDatabase {
    /// Creates an empty database.
    ///
    /// # Panics
    /// Panics if `TEST_DATABASE_URL` names no PostgreSQL in which databases can be created.
    pub async fn empty() -> Self {
        let server = server();
        let mut connection = connect(&server).await;
        Self::copy_of("template1", server, &mut connection).await
    }

    /// Creates a database with the project's schema.
    ///
    /// # Panics
    /// Panics as [`Self::empty`] does, and if a migration fails.
    pub async fn with_schema() -> Self {
        let server = server();
        let mut connection = connect(&server).await;
        let model = model(&server, &mut connection).await;
        let database = Self::copy_of(&model, server, &mut connection).await;
        // A server that outlives the run may have a template with older functions of the queue.
        schema::migrate(&database.url()).await.expect("the schema can be brought up to date");
        database
    }

    async fn copy_of(model: &str, server: String, connection: &mut PgConnection) -> Self {
        let name = format!("test_{}", Ulid::generate().to_string().to_lowercase());
        run(connection, format!("create database {name} template {model}")).await;
        let pool = PgPoolOptions::new().max_connections(5).connect_lazy(&url(&server, &name));
        Self { pool: pool.expect("the address of a database"), server, name }
    }

    /// Connection URL.
    #[must_use]
    pub fn url(&self) -> String {
        url(&self.server, &self.name)
    }

    /// Connects a client of the queue.
    ///
    /// # Panics
    /// Panics if the database is empty or does not answer.
    pub async fn client(&self) -> Client {
        Client::connect(self.pool.clone(), ClientConnections { queue: 16, process: 32 }).await.unwrap()
    }
}

/// Runs `test` with a connection to a database of its own, with the project's schema.
///
/// # Panics
/// Panics if `test` does, or if no database can be created.
pub async fn with_database<F>(test: F)
where
    F: AsyncFnOnce(&mut PgConnection),
{
    let database = TestDatabase::with_schema().await;
    let mut connection = PgConnection::connect(&database.url()).await.unwrap();
    test(&mut connection).await;
}

impl Drop for TestDatabase {
    #[expect(
        clippy::print_stdout,
        reason = "who runs tests on a server of their own has to know what stays there"
    )]
    fn drop(&mut self) {
        let (server, statement) =
            (self.server.clone(), format!("drop database if exists {} with (force)", self.name));
        // A separate runtime, because the test's runtime may be shutting down.
        let dropped = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let mut connection = PgConnection::connect(&server).await?;
                sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut connection).await
            })
        });
        if !matches!(dropped.join(), Ok(Ok(_))) {
            println!("the database {} is left behind", self.name);
        }
    }
}

/// Name of the template database for these migrations, created if it does not exist.
async fn model(server: &str, connection: &mut PgConnection) -> String {
    let mut hasher = DefaultHasher::new();
    schema::MIGRATIONS.iter().for_each(|migration| migration.checksum.hash(&mut hasher));
    let model = format!("test_schema_{:016x}", hasher.finish());
    // Released with the connection if a migration fails.
    run(connection, format!("select pg_advisory_lock({LOCK})")).await;
    let known: bool = sqlx::query_scalar("select exists (select from pg_database where datname = $1)")
        .bind(&model)
        .fetch_one(&mut *connection)
        .await
        .expect("databases can be listed");
    if !known {
        // Renamed once it is complete, so that a killed test leaves no partial template.
        let unfinished = format!("{model}_unfinished");
        run(connection, format!("drop database if exists {unfinished} with (force)")).await;
        run(connection, format!("create database {unfinished}")).await;
        schema::migrate(&url(server, &unfinished)).await.expect("the migrations can be applied");
        run(connection, format!("alter database {unfinished} rename to {model}")).await;
    }
    run(connection, format!("select pg_advisory_unlock({LOCK})")).await;
    model
}

async fn run(connection: &mut PgConnection, statement: String) {
    let printed = statement.clone();
    if let Err(error) = sqlx::raw_sql(AssertSqlSafe(statement)).execute(connection).await {
        panic!("{printed}: {error}");
    }
}

async fn connect(server: &str) -> PgConnection {
    PgConnection::connect(server).await.expect("the PostgreSQL of TEST_DATABASE_URL answers")
}

fn server() -> String {
    std::env::var("TEST_DATABASE_URL").expect(
        "TEST_DATABASE_URL names no PostgreSQL: ./ops/test starts one; else it is the address of a superuser",
    )
}

/// Connection URL of a database on the server.
fn url(server: &str, name: &str) -> String {
    let (address, _) = server.rsplit_once('/').expect("TEST_DATABASE_URL ends with a database");
    format!("{address}/{name}")
}
