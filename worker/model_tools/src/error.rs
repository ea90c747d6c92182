//! Errors of work on models.

/// Reason why work on a model failed.
#[derive(Debug, thiserror::Error)]
pub enum ModelToolError {
    /// The request cannot be carried out as it was made.
    #[error("{0}")]
    Usage(String),
    /// Any other failure.
    #[error("{0:#}")]
    Other(#[from] anyhow::Error),
}
