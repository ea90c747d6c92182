//! Errors of the authorization server: for programs as OAuth defines them, for people in words.

use std::time::Duration;

use axum::{
    Json,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use http_errors::{ApiError, whole_seconds, with_header};
use serde_json::json;

use crate::{
    form::FormError,
    http::{
        csrf::Forged,
        pages::{HtmlPage, failure},
    },
    throttle::RateLimitError,
};

/// Error of the token endpoint (RFC 6749, section 5.2).
#[derive(Debug)]
pub enum TokenError {
    InvalidRequest(&'static str),
    /// The application is unknown, or its authentication failed.
    InvalidClient(ClientProof),
    InvalidGrant(&'static str),
    /// The application is not registered for this flow.
    UnauthorizedClient,
    UnsupportedGrantType,
    InvalidScope,
    /// The person has not yet decided on the device (RFC 8628, section 3.5).
    AuthorizationPending,
    /// The device polls more often than it may.
    SlowDown,
    /// The person refused.
    AccessDenied,
    /// The device code has expired.
    ExpiredToken,
    /// Too many attempts on one account or from one address.
    TooMany {
        retry_after: Duration,
    },
    /// Error unrelated to the grant.
    Other(ApiError),
}

impl TokenError {
    /// A required parameter is missing.
    pub const MISSING: Self = Self::InvalidRequest("a parameter is missing");
}

/// Location of the client secret in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientProof {
    /// In `Authorization: Basic …`.
    Header,
    /// In the form, or absent.
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
            Self::ExpiredToken => (StatusCode::BAD_REQUEST, "expired_token", "the code has expired"),
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

impl From<RateLimitError> for TokenError {
    fn from(error: RateLimitError) -> Self {
        match error {
            RateLimitError::TooMany { retry_after } => Self::TooMany { retry_after },
            RateLimitError::Database(error) => error.into(),
        }
    }
}

/// Error of a page of the authorization server, shown to a person without a redirect.
#[derive(Debug)]
pub enum PageError {
    /// The browser was sent here with an invalid request, for this reason.
    BadRequest(&'static str),
    /// The form was not sent from our own page, or its page is too old.
    Forged,
    /// Too many attempts on one account or from one address.
    TooMany { retry_after: Duration },
    /// Internal error, or a failure of a service that we depend on.
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
        with_header((status, failure(why)).into_response(), retry_after)
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

impl From<RateLimitError> for PageError {
    fn from(error: RateLimitError) -> Self {
        match error {
            RateLimitError::TooMany { retry_after } => Self::TooMany { retry_after },
            RateLimitError::Database(error) => error.into(),
        }
    }
}

/// A form's page, shown again after wrong input.
pub struct RefusedForm(pub HtmlPage);

impl IntoResponse for RefusedForm {
    fn into_response(self) -> Response {
        (StatusCode::FORBIDDEN, self.0).into_response()
    }
}

impl From<Forged> for PageError {
    fn from(_: Forged) -> Self {
        Self::Forged
    }
}
