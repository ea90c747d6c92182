//! Who calls: bearer tokens, and the built-in authorization server that issues them.
//!
//! [`guard`] stands before every operation of the contract: it checks the token, then the scope, then takes
//! one request from the account's rate limit, so that an operation starts with a [`Caller`] or not at all.
//! The browser flows of the authorization server (`/authorize`, `/revoke`, `/userinfo`, applications) are to
//! join [`token`] as modules of their own beside it; what they need of keys and accounts is here.

mod accounts;
mod discovery;
mod keys;
mod passwords;
mod refresh;
mod throttle;
mod token;

use std::sync::Arc;

use axum::{
    Router,
    extract::{FromRequestParts, Request, State},
    http::{HeaderMap, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
    routing::{get, post},
};

use crate::{
    app::App,
    error::{ApiError, Challenge},
    limits::{Headroom, Operation},
};

pub use accounts::Accounts;
pub use keys::{Keys, KeysError};
pub use passwords::Passwords;
pub use throttle::Throttle;

/// The audience of access tokens.
pub const AUDIENCE: &str = "retort";

/// An account with a valid token for the operation at hand.
#[derive(Debug, Clone)]
pub struct Caller {
    pub account_id: String,
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        // Without the guard there is no caller: an operation that forgot it answers 401 to everybody.
        parts.extensions.get().cloned().ok_or(ApiError::Unauthorized(Challenge::NoToken))
    }
}

/// The addresses under `/auth`.
pub fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/auth/token", post(token::issue))
        .route("/auth/jwks.json", get(discovery::jwks))
        .route("/auth/.well-known/openid-configuration", get(discovery::configuration))
}

/// Lets a request through to `operation` with its [`Caller`].
pub async fn guard(
    State((app, operation)): State<(Arc<App>, Operation)>,
    mut request: Request,
    next: Next,
) -> Response {
    match admit(&app, operation, request.headers()).await {
        Ok((caller, headroom)) => {
            tracing::Span::current().record("account.id", &caller.account_id);
            request.extensions_mut().insert(caller);
            headroom.attach(next.run(request).await)
        }
        Err(Refusal { error, headroom }) => headroom.attach(error.into_response()),
    }
}

struct Refusal {
    error: ApiError,
    headroom: Headroom,
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        Self { error, headroom: Headroom::Unlimited }
    }
}

async fn admit(app: &App, operation: Operation, headers: &HeaderMap) -> Result<(Caller, Headroom), Refusal> {
    let claims = app.keys.verify(bearer(headers)?).await?;
    if !app.accounts.is_active(&claims.sub).await? {
        return Err(refused("the account is unknown or disabled").into());
    }
    if let Some(scope) = operation.scope()
        && !claims.scope.split(' ').any(|held| held == scope)
    {
        return Err(ApiError::Forbidden { scope }.into());
    }
    let headroom = app.limits.take(operation, &claims.sub);
    match headroom.spent() {
        Some(retry_after) => Err(Refusal { error: ApiError::RateLimited { retry_after }, headroom }),
        None => Ok((Caller { account_id: claims.sub }, headroom)),
    }
}

fn refused(why: &'static str) -> ApiError {
    ApiError::Unauthorized(Challenge::InvalidToken(why))
}

fn bearer(headers: &HeaderMap) -> Result<&str, ApiError> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = match (values.next(), values.next()) {
        (None, _) => return Err(ApiError::Unauthorized(Challenge::NoToken)),
        (Some(value), None) => value,
        (Some(_), Some(_)) => return Err(refused("more than one authorization header")),
    };
    let text = value.to_str().map_err(|_| refused("the authorization header is not ASCII"))?;
    match text.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") && !token.trim().is_empty() => {
            Ok(token.trim())
        }
        _ if text.trim().eq_ignore_ascii_case("bearer") => Err(refused("the access token is missing")),
        // Another scheme is no attempt at a bearer token.
        _ => Err(ApiError::Unauthorized(Challenge::NoToken)),
    }
}
