//! A database of a test's own, with the project's schema, gone at the test's end.

use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

/// Runs `test` with a connection to a fresh, migrated database.
pub async fn with_database<F>(test: F)
where
    F: AsyncFnOnce(&mut PgConnection),
{
    let url = std::env::var("TEST_DATABASE_URL")
        .expect("TEST_DATABASE_URL names no PostgreSQL to test with; ./ops/test sets one up");
    let name = format!("ops_{}", ulid::Ulid::generate().to_string().to_lowercase());
    let mut server = PgConnection::connect(&url).await.unwrap();
    sqlx::query(AssertSqlSafe(format!("create database {name}"))).execute(&mut server).await.unwrap();
    let (address, _) = url.rsplit_once('/').unwrap();
    let mut database = PgConnection::connect(&format!("{address}/{name}")).await.unwrap();
    schema::MIGRATIONS.run(&mut database).await.unwrap();

    test(&mut database).await;

    // A test that panics leaves its database behind, to be looked at; the throw-away cluster takes it along.
    database.close().await.unwrap();
    sqlx::query(AssertSqlSafe(format!("drop database {name}"))).execute(&mut server).await.unwrap();
}
