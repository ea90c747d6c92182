//! Errors of the catalogue's tables.

/// Reason why the catalogue could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// The database failed.
    #[error("{doing}: {source}")]
    Database {
        /// Operation that failed.
        doing: &'static str,
        /// Cause.
        source: sqlx::Error,
    },
    /// Any other failure.
    #[error("{0:#}")]
    Other(#[from] anyhow::Error),
}

impl CatalogueError {
    /// Returns the conversion of errors of the operation `doing`.
    pub(crate) fn of(doing: &'static str) -> impl Fn(sqlx::Error) -> Self + Copy {
        move |source| Self::Database { doing, source }
    }
}
