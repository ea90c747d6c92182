//! Database for a single test, with the project's schema, dropped at the test's end.

use sqlx::{Connection as _, PgConnection};

/// Runs `test` with a connection to a fresh database.
pub async fn with_database<F>(test: F)
where
    F: AsyncFnOnce(&mut PgConnection),
{
    let database = scratch::Database::with_schema().await;
    let mut connection = PgConnection::connect(&database.url()).await.unwrap();
    test(&mut connection).await;
}
