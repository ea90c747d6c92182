//! Deadlines of operations, from the first line of the request to the response.
//!
//! A sample and a search wait for a worker. Their deadlines cover everything: authentication, quotas, the queue, the
//! worker, and reading the result. Everything else is a few queries and has the operator's `REQUEST_SECONDS`. So has
//! the part before any operation, since authentication and quotas are a few queries as well.

use std::time::{Duration, Instant};

use axum::{
    extract::{FromRequestParts, Request, State},
    http::request::Parts,
    middleware::Next,
    response::{IntoResponse, Response},
};
use http_errors::ApiError;

use crate::{config::Config, operation::DeadlineKind};

/// Extra time for an operation's own response at its deadline, which says more than the one here.
const RESPONSE_GRACE: Duration = Duration::from_millis(500);

/// Longest time for reading and storing a hundred thousand targets.
const BATCH_TIMEOUT: Duration = Duration::from_secs(90);

/// Deadlines by operation.
#[derive(Debug, Clone, Copy)]
pub struct Deadlines {
    /// Deadline of every request that the database alone answers.
    pub request: Duration,
    sample: Duration,
    search_slack: Duration,
    longest_search: Duration,
}

impl Deadlines {
    pub fn new(config: &Config) -> Self {
        Self {
            request: config.request_time,
            sample: config.sample_deadline,
            search_slack: config.search_slack,
            longest_search: seconds(config.max_seconds_limit),
        }
    }

    fn of(&self, kind: DeadlineKind) -> Duration {
        match kind {
            DeadlineKind::Request => self.request,
            DeadlineKind::Sample => self.sample + RESPONSE_GRACE,
            DeadlineKind::Search => self.longest_search + self.search_slack + RESPONSE_GRACE,
            DeadlineKind::Batch => self.request.max(BATCH_TIMEOUT),
        }
    }

    /// Returns the answer of `search` or of a bulk query, for a request that came at `arrival` and asks for
    /// `max_seconds`.
    pub async fn search<T>(
        &self,
        Arrival(arrival): Arrival,
        max_seconds: f64,
        search: impl Future<Output = Result<T, ApiError>>,
    ) -> Result<T, ApiError> {
        let end = arrival + seconds(max_seconds) + self.search_slack + RESPONSE_GRACE;
        tokio::time::timeout_at(end.into(), search).await.unwrap_or_else(|_| Err(passed()))
    }
}

/// Arrival time of a request.
#[derive(Debug, Clone, Copy)]
pub struct Arrival(Instant);

impl Arrival {
    /// Returns `time` after the arrival.
    pub fn within(self, time: Duration) -> Instant {
        self.0 + time
    }
}

impl<S: Sync> FromRequestParts<S> for Arrival {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        Ok(parts.extensions.get().copied().unwrap_or_else(|| Self(Instant::now())))
    }
}

/// Answers a request within its deadline.
pub async fn enforce(
    State((deadlines, kind)): State<(Deadlines, DeadlineKind)>,
    mut request: Request,
    next: Next,
) -> Response {
    let arrival = Instant::now();
    request.extensions_mut().insert(Arrival(arrival));
    let end = arrival + deadlines.of(kind);
    let timed_out = || match kind {
        DeadlineKind::Sample | DeadlineKind::Search => passed(),
        DeadlineKind::Request | DeadlineKind::Batch => ApiError::late(),
    };
    tokio::time::timeout_at(end.into(), next.run(request))
        .await
        .unwrap_or_else(|_| timed_out().into_response())
}

fn passed() -> ApiError {
    tracing::warn!("a job was abandoned at its request's deadline");
    ApiError::DeadlinePassed { message: "The deadline passed before the answer was ready".to_owned() }
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}
