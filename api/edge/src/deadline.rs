//! An end to a request whose answer does not come, whatever it hangs on.
//!
//! Whoever waits for the database has a time-out of its own, but a request asks many times, and waits would add up. So the whole
//! of it has one end; what was under way is dropped there.

use std::time::Duration;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};

use crate::ApiError;

/// When a caller whose request took too long may try again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// What a request may take, and what is answered at the end of that.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    /// The longest that a request may take.
    pub time: Duration,
    /// The answer in the shape of those who ask here.
    pub late: fn(ApiError) -> Response,
}

/// Answers within the deadline.
pub async fn in_time(
    State(Deadline { time, late }): State<Deadline>,
    request: Request,
    next: Next,
) -> Response {
    tokio::time::timeout(time, next.run(request)).await.unwrap_or_else(|_| late(ApiError::late()))
}

impl ApiError {
    /// The answer did not come in time, and is given up.
    #[must_use]
    pub fn late() -> Self {
        tracing::warn!("a request was given up at its deadline");
        Self::Unavailable { retry_after: RETRY_AFTER, reason: "The service did not answer in time" }
    }
}
