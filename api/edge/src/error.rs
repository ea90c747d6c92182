//! How a request of the service's API fails. Status codes are chosen here, and for the authorization server in `identity`.

use std::time::Duration;

use axum::{
    Json,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use contract::{ErrorBody, ErrorItem, Location};
use database::is_away;

/// What is told to who may see something and not change it.
const NOT_YOURS: &str = "Only the account that made it can change or delete it";

/// How a request of the service's API fails.
#[derive(Debug)]
pub enum ApiError {
    /// The schema refuses the request, for all these reasons.
    Invalid(Vec<ErrorItem>),
    /// Well formed, but it names something that is not there, or contradicts itself.
    BadReference,
    /// There is no such thing.
    NotFound,
    /// The address knows other methods.
    MethodNotAllowed,
    /// The body broke off.
    BodyIncomplete,
    /// The body did not arrive in time.
    BodyTooSlow,
    /// The body is over the limit.
    BodyTooLarge {
        /// The limit, in bytes.
        most: usize,
    },
    /// The body is of another type.
    NotJson,
    /// The caller is not known.
    Unauthorized(Challenge),
    /// The token lacks a scope.
    Forbidden {
        /// The one that it would need.
        scope: &'static str,
    },
    /// What is to be changed stands so that this cannot be done to it.
    Conflict {
        /// How it stands.
        message: String,
    },
    /// It may be seen, and is another account's.
    NotYours,
    /// The account has used up a ration.
    RateLimited {
        /// When there is some again.
        retry_after: Duration,
    },
    /// The account has as many requests in flight as it may.
    TooManyInFlight {
        /// When one of them may be done.
        retry_after: Duration,
    },
    /// A worker's answer does not fit the response schema, or is not the answer to the request.
    BadAnswer(Vec<ErrorItem>),
    /// A fault of ours, logged where this was made.
    Internal,
    /// The request may succeed later.
    Unavailable {
        /// When to try again.
        retry_after: Duration,
        /// What is missing.
        reason: &'static str,
    },
    /// The work was not done in time.
    DeadlinePassed {
        /// What was not done, and what becomes of it.
        message: String,
    },
}

/// Why a caller is not known (RFC 6750, section 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Challenge {
    /// No credentials: the challenge carries no error code.
    NoToken,
    /// Credentials that do not do, and why.
    InvalidToken(&'static str),
}

impl ApiError {
    /// Credentials that do not do, and why.
    #[must_use]
    pub const fn bad_token(why: &'static str) -> Self {
        Self::Unauthorized(Challenge::InvalidToken(why))
    }

    /// Logs `error`, which is a fault of ours, and says nothing of it to the caller.
    pub fn internal(error: &dyn std::error::Error) -> Self {
        tracing::error!(error = %chain(error), "a request failed by a fault of ours");
        Self::Internal
    }

    /// The status code that the contract gives it.
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

    /// The body; `None` is the contract's `null`.
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
            Self::NotYours => one(vec![], "not_yours", NOT_YOURS),
            Self::RateLimited { .. } => {
                one(vec![], "rate_limited", "The rate limit of this account is spent")
            }
            Self::TooManyInFlight { .. } => one(
                vec![],
                "too_many_in_flight",
                "This account has as many requests of this kind in flight as it may",
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
            // What is left of the body is not read: the connection has no future.
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
            Self::InvalidToken(why) => why,
        }
    }

    fn header(self) -> String {
        match self {
            Self::NoToken => "Bearer realm=\"retort\"".to_owned(),
            Self::InvalidToken(why) => {
                format!("Bearer realm=\"retort\", error=\"invalid_token\", error_description=\"{why}\"")
            }
        }
    }
}

impl From<sqlx::Error> for ApiError {
    /// A database that is away comes back; any other failure of it is a fault of ours.
    fn from(error: sqlx::Error) -> Self {
        if is_away(&error) {
            tracing::warn!(error = %chain(&error), "the database is away");
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

/// `duration` rounded up, since a caller that comes back too early is refused again.
#[must_use]
pub fn whole_seconds(duration: Duration) -> String {
    duration.as_millis().div_ceil(1000).max(1).to_string()
}

/// `response` with one more header.
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

/// `error` with its causes, on one line.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
