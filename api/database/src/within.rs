//! An end to waiting for the database.

use std::{io, time::Duration};

/// What `work` gives, or an error as of a broken connection where that takes longer than `time`.
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
