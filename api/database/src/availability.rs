//! Classification of a failed statement: the database is unavailable, or the statement was wrong.

use std::error::Error;

/// Returns true if `error` means that the database cannot work at present, rather than that a statement was wrong.
#[must_use]
pub fn is_away(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => true,
        // Classes "connection exception", "operator intervention" (shutdown, start-up, a statement that took too long),
        // "insufficient resources" (a full disk), and a lock or a transaction that took too long.
        sqlx::Error::Database(error) => error.code().is_some_and(|code| {
            ["08", "57", "53", "55P03", "25P03"].iter().any(|class| code.starts_with(class))
        }),
        _ => false,
    }
}

/// Returns true if `error` was caused by an unavailable database, however many other errors wrap it.
#[must_use]
pub fn comes_from_database_away(error: &(dyn Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |&error| error.source());
    causes.any(|cause| cause.downcast_ref().is_some_and(is_away))
}
