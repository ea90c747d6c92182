//! Deadline for a whole request.
//!
//! Every wait for the database has a timeout of its own, but a request queries it several times and the waits would
//! add up. So one deadline covers the whole request; work in progress is dropped there.

use std::time::Duration;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};

use crate::ApiError;

/// Retry delay for a caller whose request took too long.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Time limit of a request, and the answer when it has passed.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    /// Maximum duration of a request.
    pub time: Duration,
    /// Builds the late answer in the shape that this route's clients expect.
    pub late: fn(ApiError) -> Response,
}

/// Answers within the deadline.
pub async fn enforce_deadline(
    State(Deadline { time, late }): State<Deadline>,
    request: Request,
    next: Next,
) -> Response {
    tokio::time::timeout(time, next.run(request)).await.unwrap_or_else(|_| late(ApiError::late()))
}

impl ApiError {
    /// Builds and logs the error for a request that exceeded its deadline.
    #[must_use]
    pub fn late() -> Self {
        tracing::warn!("a request was abandoned at its deadline");
        Self::Unavailable { retry_after: RETRY_AFTER, reason: "The service did not answer in time" }
    }
}
