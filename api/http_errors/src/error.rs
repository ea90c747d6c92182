//! Errors of the service's API. Status codes are chosen here; those of the authorization server, in `identity`.

use std::time::Duration;

use axum::{
    Json,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use contract::{ErrorBody, ErrorItem, Location};
use database::is_away;

/// Message for a caller who may see a resource but not change it.
const NOT_OWNER_MESSAGE: &str = "Only the account that made it can change or delete it";

/// Error of a request to the service's API.
#[derive(Debug)]
pub enum ApiError {
    /// The request violates the schema, for all these reasons.
    Invalid(Vec<ErrorItem>),
    /// The request is well formed, but it names something that does not exist, or contradicts itself.
    BadReference,
    /// The resource does not exist.
    NotFound,
    /// The path does not support this method.
    MethodNotAllowed,
    /// The body broke off.
    BodyIncomplete,
    /// The body did not arrive in time.
    BodyTooSlow,
    /// The body is over the limit.
    BodyTooLarge {
        /// Limit in bytes.
        most: usize,
    },
    /// The body is not JSON.
    NotJson,
    /// The caller is not authenticated.
    Unauthorized(Challenge),
    /// The token lacks a scope.
    Forbidden {
        /// Scope that the request needs.
        scope: &'static str,
    },
    /// The resource's current state does not allow the change.
    Conflict {
        /// Description of that state.
        message: String,
    },
    /// The account may see the resource, but it belongs to another account.
    NotYours,
    /// The account has exhausted a rate limit or quota.
    RateLimited {
        /// Time until some of it is available again.
        retry_after: Duration,
    },
    /// The account has reached its limit of requests in flight.
    TooManyInFlight {
        /// Time until one of them may be finished.
        retry_after: Duration,
    },
    /// A worker's answer does not fit the response schema, or is not the answer to the request.
    BadAnswer(Vec<ErrorItem>),
    /// Internal error, logged where this value was made.
    Internal,
    /// The request may succeed later.
    Unavailable {
        /// Time until the next attempt.
        retry_after: Duration,
        /// Description of the missing part.
        reason: &'static str,
    },
    /// The work was not done in time.
    DeadlinePassed {
        /// Description of the unfinished work and what happens to it.
        message: String,
    },
}

/// Reason why a caller is not authenticated (RFC 6750, section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Challenge {
    /// No credentials: the challenge carries no error code.
    NoToken,
    /// Invalid credentials, with the reason.
    InvalidToken(&'static str),
}

impl ApiError {
    /// Builds the error for invalid credentials, with the reason.
    #[must_use]
    pub const fn invalid_token(reason: &'static str) -> Self {
        Self::Unauthorized(Challenge::InvalidToken(reason))
    }

    /// Logs the internal error `error` and hides it from the caller.
    pub fn internal(error: &dyn std::error::Error) -> Self {
        tracing::error!(error = %error_chain(error), "a request failed by an internal error");
        Self::Internal
    }

    /// Returns the status code that the contract assigns to the error.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Invalid(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::BadReference | Self::BodyIncomplete => StatusCode::BAD_REQUEST,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::BodyTooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::BodyTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            Self::NotJson => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Unauthorized(_) => StatusCode::UNAUTHORIZED,
            Self::Forbidden { .. } | Self::NotYours => StatusCode::FORBIDDEN,
            Self::Conflict { .. } => StatusCode::CONFLICT,
            Self::RateLimited { .. } | Self::TooManyInFlight { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::BadAnswer(_) | Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Unavailable { .. } => StatusCode::SERVICE_UNAVAILABLE,
            Self::DeadlinePassed { .. } => StatusCode::GATEWAY_TIMEOUT,
        }
    }

    /// Returns the body; `None` is the contract's `null`.
    #[must_use]
    pub fn body(self) -> Option<ErrorBody> {
        self.detail().map(|detail| ErrorBody { detail })
    }

    fn detail(self) -> Option<Vec<ErrorItem>> {
        let one = |loc: Vec<Location>, kind: &str, msg: &str| {
            Some(vec![ErrorItem { loc, msg: msg.to_owned(), kind: kind.to_owned() }])
        };
        match self {
            Self::Invalid(items) | Self::BadAnswer(items) => Some(items),
            Self::BadReference | Self::NotFound | Self::BodyIncomplete => None,
            Self::MethodNotAllowed => one(vec![], "method_not_allowed", "Method not allowed"),
            Self::BodyTooSlow => {
                one(vec!["body".into()], "body_too_slow", "The body took too long to arrive")
            }
            Self::BodyTooLarge { most } => {
                let msg = format!("The body is larger than {} MiB", most >> 20);
                one(vec!["body".into()], "body_too_large", &msg)
            }
            Self::NotJson => one(
                vec!["header".into(), "content-type".into()],
                "unsupported_media_type",
                "The body should be application/json",
            ),
            Self::Unauthorized(challenge) => one(authorization(), challenge.code(), challenge.description()),
            Self::Forbidden { scope } => one(
                authorization(),
                "insufficient_scope",
                &format!("The access token lacks the scope {scope}"),
            ),
            Self::Conflict { message } => one(vec![], "conflict", &message),
            Self::NotYours => one(vec![], "not_yours", NOT_OWNER_MESSAGE),
            Self::RateLimited { .. } => {
                one(vec![], "rate_limited", "The rate limit of this account is spent")
            }
            Self::TooManyInFlight { .. } => one(
                vec![],
                "too_many_in_flight",
                "This account has the largest allowed number of requests of this kind in flight",
            ),
            Self::Internal => one(vec![], "internal_error", "Internal error"),
            Self::Unavailable { reason, .. } => one(vec![], "unavailable", reason),
            Self::DeadlinePassed { message } => one(vec![], "deadline_passed", &message),
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = self.status();
        let header = match &self {
            Self::Unauthorized(challenge) => Some((header::WWW_AUTHENTICATE, challenge.header())),
            Self::Forbidden { scope } => Some((
                header::WWW_AUTHENTICATE,
                format!(
                    "Bearer realm=\"retort\", error=\"insufficient_scope\", \
                     error_description=\"the access token lacks a scope\", scope=\"{scope}\""
                ),
            )),
            Self::RateLimited { retry_after }
            | Self::TooManyInFlight { retry_after }
            | Self::Unavailable { retry_after, .. } => {
                Some((header::RETRY_AFTER, whole_seconds(*retry_after)))
            }
            // The rest of the body is not read, since the connection is closed.
            Self::BodyTooLarge { .. } | Self::BodyTooSlow => Some((header::CONNECTION, "close".to_owned())),
            _ => None,
        };
        with_header((status, Json(self.body())).into_response(), header)
    }
}

impl Challenge {
    fn code(self) -> &'static str {
        match self {
            Self::NoToken => "not_authenticated",
            Self::InvalidToken(_) => "invalid_token",
        }
    }

    fn description(self) -> &'static str {
        match self {
            Self::NoToken => "an access token is required",
            Self::InvalidToken(reason) => reason,
        }
    }

    fn header(self) -> String {
        match self {
            Self::NoToken => "Bearer realm=\"retort\"".to_owned(),
            Self::InvalidToken(reason) => {
                format!("Bearer realm=\"retort\", error=\"invalid_token\", error_description=\"{reason}\"")
            }
        }
    }
}

impl From<sqlx::Error> for ApiError {
    /// An unavailable database comes back; any other database error is an internal error.
    fn from(error: sqlx::Error) -> Self {
        if is_away(&error) {
            tracing::warn!(error = %error_chain(&error), "the database is not available");
            return Self::Unavailable {
                retry_after: Duration::from_secs(1),
                reason: "The database cannot be reached",
            };
        }
        Self::internal(&error)
    }
}

fn authorization() -> Vec<Location> {
    vec!["header".into(), "authorization".into()]
}

/// Formats `duration` in seconds, rounded up, since a caller that comes back too early is rejected again.
#[must_use]
pub fn whole_seconds(duration: Duration) -> String {
    duration.as_millis().div_ceil(1000).max(1).to_string()
}

/// Returns `response` with one more header.
///
/// # Panics
/// Panics when the value is not plain ASCII.
#[must_use]
pub fn with_header(mut response: Response, header: Option<(HeaderName, String)>) -> Response {
    if let Some((name, value)) = header {
        let value = HeaderValue::try_from(value).expect("error: header values here are plain ASCII");
        response.headers_mut().insert(name, value);
    }
    response
}

/// Formats `error` with its causes on one line.
fn error_chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
