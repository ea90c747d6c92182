//! The only place where a status code is chosen.

use std::time::Duration;

use axum::{
    Json,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use contract::{ErrorBody, ErrorItem, Location};
use serde_json::json;

use crate::auth::{self, FormError, Page, Throttled};

/// How a request of the service's API fails.
#[derive(Debug)]
pub enum ApiError {
    /// The schema refuses the request, for all these reasons.
    Invalid(Vec<ErrorItem>),
    /// Well formed, but it names something that is not there, or contradicts itself.
    BadReference,
    NotFound,
    MethodNotAllowed,
    BodyIncomplete,
    BodyTooSlow,
    BodyTooLarge,
    NotJson,
    Unauthorized(Challenge),
    Forbidden {
        scope: &'static str,
    },
    /// It may be seen, and is another account's.
    NotYours,
    RateLimited {
        retry_after: Duration,
    },
    /// A worker's answer does not fit the response schema, or is not the answer to the request.
    BadAnswer(Vec<ErrorItem>),
    /// A fault of ours, logged where this was made.
    Internal,
    /// The request may succeed later.
    Unavailable {
        retry_after: Duration,
        reason: &'static str,
    },
    DeadlinePassed {
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
    /// Logs `error`, which is a fault of ours, and says nothing of it to the caller.
    pub fn internal(error: &dyn std::error::Error) -> Self {
        tracing::error!(error = %chain(error), "a request failed by a fault of ours");
        Self::Internal
    }

    fn status(&self) -> StatusCode {
        match self {
            Self::Invalid(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::BadReference | Self::BodyIncomplete => StatusCode::BAD_REQUEST,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::BodyTooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::NotJson => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Unauthorized(_) => StatusCode::UNAUTHORIZED,
            Self::Forbidden { .. } | Self::NotYours => StatusCode::FORBIDDEN,
            Self::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::BadAnswer(_) | Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Unavailable { .. } => StatusCode::SERVICE_UNAVAILABLE,
            Self::DeadlinePassed { .. } => StatusCode::GATEWAY_TIMEOUT,
        }
    }

    /// The body; `None` is the contract's `null`.
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
            Self::BodyTooLarge => one(vec!["body".into()], "body_too_large", "The body is larger than 1 MiB"),
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
            Self::NotYours => one(vec![], "not_yours", "Only the account that made the sample can delete it"),
            Self::RateLimited { .. } => {
                one(vec![], "rate_limited", "The rate limit of this account is spent")
            }
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
            Self::RateLimited { retry_after } | Self::Unavailable { retry_after, .. } => {
                Some((header::RETRY_AFTER, whole_seconds(*retry_after)))
            }
            // What is left of the body is not read: the connection has no future.
            Self::BodyTooLarge | Self::BodyTooSlow => Some((header::CONNECTION, "close".to_owned())),
            _ => None,
        };
        let body = self.detail().map(|detail| ErrorBody { detail });
        with_header((status, Json(body)).into_response(), header)
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

impl From<queue::QueueError> for ApiError {
    fn from(error: queue::QueueError) -> Self {
        match error {
            queue::QueueError::Database(error) => error.into(),
            error => Self::internal(&error),
        }
    }
}

/// Whether `error` means that there is no connection, rather than that a statement failed.
pub fn is_away(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_)
        | sqlx::Error::Tls(_)
        | sqlx::Error::Protocol(_)
        | sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed => true,
        // Classes "connection exception", "operator intervention" (shutdown, start-up), "insufficient
        // resources".
        sqlx::Error::Database(error) => {
            error.code().is_some_and(|code| ["08", "57P", "53"].iter().any(|class| code.starts_with(class)))
        }
        _ => false,
    }
}

/// How the token endpoint fails (RFC 6749, section 5.2).
#[derive(Debug)]
pub enum TokenError {
    InvalidRequest(&'static str),
    /// The application is unknown, or did not prove itself.
    InvalidClient(ClientProof),
    InvalidGrant(&'static str),
    /// The application is not registered for this flow.
    UnauthorizedClient,
    UnsupportedGrantType,
    InvalidScope,
    /// The person has not decided yet whether the device may in (RFC 8628, section 3.5).
    AuthorizationPending,
    /// The device asks more often than it may.
    SlowDown,
    /// The person refused.
    AccessDenied,
    /// The device's code has run out.
    ExpiredToken,
    /// Too many attempts on one account or from one address.
    TooMany {
        retry_after: Duration,
    },
    /// Not about the grant.
    Other(ApiError),
}

/// Where an application shows its secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientProof {
    /// In `Authorization: Basic …`.
    Header,
    /// In the form, or nowhere.
    Form,
}

impl IntoResponse for TokenError {
    fn into_response(self) -> Response {
        let (status, code, description) = match &self {
            Self::InvalidRequest(why) => (StatusCode::BAD_REQUEST, "invalid_request", *why),
            Self::InvalidClient(ClientProof::Form) => {
                (StatusCode::BAD_REQUEST, "invalid_client", "no such application, or a wrong secret")
            }
            Self::InvalidClient(ClientProof::Header) => {
                (StatusCode::UNAUTHORIZED, "invalid_client", "no such application, or a wrong secret")
            }
            Self::UnauthorizedClient => {
                (StatusCode::BAD_REQUEST, "unauthorized_client", "the application may not use this grant")
            }
            Self::InvalidGrant(why) => (StatusCode::BAD_REQUEST, "invalid_grant", *why),
            Self::UnsupportedGrantType => {
                (StatusCode::BAD_REQUEST, "unsupported_grant_type", "there is no such grant here")
            }
            Self::InvalidScope => {
                (StatusCode::BAD_REQUEST, "invalid_scope", "a scope is unknown or not this account's")
            }
            Self::AuthorizationPending => {
                (StatusCode::BAD_REQUEST, "authorization_pending", "the person has not decided yet")
            }
            Self::SlowDown => (StatusCode::BAD_REQUEST, "slow_down", "ask five seconds later than so far"),
            Self::AccessDenied => (StatusCode::BAD_REQUEST, "access_denied", "the person refused"),
            Self::ExpiredToken => (StatusCode::BAD_REQUEST, "expired_token", "the code has run out"),
            Self::TooMany { .. } => (StatusCode::TOO_MANY_REQUESTS, "slow_down", "too many attempts"),
            Self::Other(error) => (error.status(), "server_error", "the request could not be served"),
        };
        let header = match self {
            Self::InvalidClient(ClientProof::Header) => {
                Some((header::WWW_AUTHENTICATE, "Basic realm=\"retort\"".to_owned()))
            }
            Self::TooMany { retry_after } | Self::Other(ApiError::Unavailable { retry_after, .. }) => {
                Some((header::RETRY_AFTER, whole_seconds(retry_after)))
            }
            _ => None,
        };
        let body = Json(json!({ "error": code, "error_description": description }));
        with_header((status, [(header::CACHE_CONTROL, "no-store")], body).into_response(), header)
    }
}

impl From<FormError> for TokenError {
    fn from(error: FormError) -> Self {
        match error {
            FormError::NotAForm => {
                Self::InvalidRequest("the body should be application/x-www-form-urlencoded")
            }
            FormError::Repeated => Self::InvalidRequest("a parameter is repeated"),
            FormError::Nul => Self::InvalidRequest("a parameter holds a NUL character"),
            FormError::Body(error) => Self::Other(error),
        }
    }
}

impl From<ApiError> for TokenError {
    fn from(error: ApiError) -> Self {
        Self::Other(error)
    }
}

impl From<sqlx::Error> for TokenError {
    fn from(error: sqlx::Error) -> Self {
        Self::Other(error.into())
    }
}

impl From<Throttled> for TokenError {
    fn from(error: Throttled) -> Self {
        match error {
            Throttled::TooMany { retry_after } => Self::TooMany { retry_after },
            Throttled::Database(error) => error.into(),
        }
    }
}

/// How a page of the authorization server fails: a person reads it, nobody is redirected.
#[derive(Debug)]
pub enum PageError {
    /// What the browser was sent here with cannot be answered, and why.
    BadRequest(&'static str),
    /// The form is not from our own page, or from one that is too old.
    Forged,
    /// Too many attempts on one account or from one address.
    TooMany { retry_after: Duration },
    /// A fault of ours, or of what we need.
    Other(ApiError),
}

impl IntoResponse for PageError {
    fn into_response(self) -> Response {
        let (status, why) = match &self {
            Self::BadRequest(why) => (StatusCode::BAD_REQUEST, *why),
            Self::Forged => {
                (StatusCode::FORBIDDEN, "This form is too old. Go back to the application and begin again.")
            }
            Self::TooMany { .. } => {
                (StatusCode::TOO_MANY_REQUESTS, "Too many attempts. Wait a minute, then try again.")
            }
            Self::Other(error) => {
                (error.status(), "The service cannot do this at the moment. Try again in a while.")
            }
        };
        let retry_after = match self {
            Self::TooMany { retry_after } | Self::Other(ApiError::Unavailable { retry_after, .. }) => {
                Some((header::RETRY_AFTER, whole_seconds(retry_after)))
            }
            _ => None,
        };
        with_header((status, auth::failure_page(why)).into_response(), retry_after)
    }
}

impl From<FormError> for PageError {
    fn from(error: FormError) -> Self {
        match error {
            FormError::NotAForm | FormError::Repeated | FormError::Nul => {
                Self::BadRequest("The request of the application is malformed.")
            }
            FormError::Body(error) => Self::Other(error),
        }
    }
}

impl From<ApiError> for PageError {
    fn from(error: ApiError) -> Self {
        Self::Other(error)
    }
}

impl From<sqlx::Error> for PageError {
    fn from(error: sqlx::Error) -> Self {
        Self::Other(error.into())
    }
}

impl From<Throttled> for PageError {
    fn from(error: Throttled) -> Self {
        match error {
            Throttled::TooMany { retry_after } => Self::TooMany { retry_after },
            Throttled::Database(error) => error.into(),
        }
    }
}

/// A form's page once more, after wrong words.
pub struct RefusedForm(pub Page);

impl IntoResponse for RefusedForm {
    fn into_response(self) -> Response {
        (StatusCode::FORBIDDEN, self.0).into_response()
    }
}

/// The answer of `/readyz`: ready only when nothing is missing.
pub struct Readiness {
    /// Each check with what it found; `None` is good.
    pub checks: Vec<(&'static str, Option<String>)>,
    /// What is worth knowing and keeps nobody from serving.
    pub notes: Vec<(String, String)>,
}

impl IntoResponse for Readiness {
    fn into_response(self) -> Response {
        let ready = self.checks.iter().all(|(_, fault)| fault.is_none());
        let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        let missing: Vec<_> =
            self.checks.iter().filter(|(_, fault)| fault.is_some()).map(|(name, _)| *name).collect();
        let checks: serde_json::Map<_, _> = self
            .checks
            .iter()
            .map(|(name, fault)| ((*name).to_owned(), json!(fault.as_deref().unwrap_or("ok"))))
            .chain(self.notes.iter().map(|(name, state)| (name.clone(), json!(state))))
            .collect();
        let body = json!({
            "status": if ready { "ready" } else { "not ready" }, "missing": missing, "checks": checks
        });
        (status, [(header::CACHE_CONTROL, "no-store")], Json(body)).into_response()
    }
}

fn authorization() -> Vec<Location> {
    vec!["header".into(), "authorization".into()]
}

/// `duration` rounded up, since a caller that comes back too early is refused again.
pub fn whole_seconds(duration: Duration) -> String {
    duration.as_millis().div_ceil(1000).max(1).to_string()
}

fn with_header(mut response: Response, header: Option<(HeaderName, String)>) -> Response {
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
