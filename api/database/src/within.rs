//! A time limit for waits on the database.

use std::{io, time::Duration};

/// Awaits `work`, or returns an error like that of a broken connection after `time`.
///
/// # Errors
/// Fails when `work` does or takes too long.
pub async fn within<T, E: From<sqlx::Error>>(
    time: Duration,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    tokio::time::timeout(time, work).await.unwrap_or_else(|_| Err(silent(time).into()))
}

fn silent(time: Duration) -> sqlx::Error {
    sqlx::Error::Io(io::Error::new(
        io::ErrorKind::TimedOut,
        format!("the database has not answered for {time:?}"),
    ))
}
