//! Who calls: bearer tokens, and the built-in authorization server that issues them.
//!
//! [`guard`] stands before every operation of the contract: it checks the token, then the scope, then takes
//! one request from the account's rate limit, so that an operation starts with a [`Caller`] or not at all.
//!
//! The authorization server is one file an address or a table: [`authorize`] leads a browser from an
//! application's [`request`] over [`login`] and consent to a code, [`token`] gives tokens for codes, refresh
//! tokens and passwords, [`inspect`] revokes and introspects. What ends before its time is in
//! [`revocations`], which every check of a token looks at.

mod accounts;
mod applications;
mod authorize;
mod client_address;
mod codes;
mod consents;
mod csrf;
mod device;
mod device_codes;
mod discovery;
mod form;
mod inspect;
mod issuers;
mod jwt;
mod keys;
mod login;
mod mint;
mod pages;
mod passwords;
mod refresh;
mod request;
mod revocations;
mod scopes;
mod secrets;
mod sessions;
mod throttle;
mod token;
mod userinfo;

use std::sync::Arc;

use axum::{
    Router,
    extract::{FromRequestParts, Request, State},
    http::{HeaderMap, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
    routing::{get, post},
};

use accounts::Standing;
use issuers::Foreigner;
use keys::Verified;

use crate::{
    app::App,
    error::{ApiError, Challenge},
    limits::{Headroom, Operation, Rations},
};

pub use accounts::Accounts;
pub use client_address::Network;
pub use form::FormError;
pub use issuers::Issuers;
pub use keys::{Keys, KeysError};
pub use pages::{Page, failure as failure_page};
pub use passwords::Passwords;
pub use revocations::{LONGEST as LONGEST_ACCESS_TOKEN, Revocations};
pub use sessions::Transport;
pub use throttle::{Throttle, Throttled};

/// The audience of access tokens.
pub const AUDIENCE: &str = "retort";

/// An account with a valid token for the operation at hand.
#[derive(Debug, Clone)]
pub struct Caller {
    pub account_id: String,
    /// Its own rations.
    pub rations: Rations,
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        // Without the guard there is no caller: an operation that forgot it answers 401 to everybody.
        parts.extensions.get().cloned().ok_or(ApiError::Unauthorized(Challenge::NoToken))
    }
}

/// The addresses under `/auth` that browsers show.
pub fn pages() -> Router<Arc<App>> {
    Router::new()
        .route("/auth/authorize", get(authorize::authorize).post(authorize::authorize))
        .route("/auth/login", post(login::login))
        .route("/auth/consent", post(authorize::consent))
        .route("/auth/logout", get(login::logout).post(login::logout))
        .route("/auth/device", get(device::ask).post(device::look))
        .route("/auth/device/decision", post(device::decide))
        .route("/auth/pages.css", get(pages::style))
}

/// The addresses under `/auth` that programs call.
pub fn endpoints() -> Router<Arc<App>> {
    Router::new()
        .route("/auth/device_authorization", post(device::authorization))
        .route("/auth/token", post(token::issue))
        .route("/auth/revoke", post(inspect::revoke))
        .route("/auth/introspect", post(inspect::introspect))
        .route("/auth/userinfo", get(userinfo::userinfo).post(userinfo::userinfo))
        .route("/auth/jwks.json", get(discovery::jwks))
        .route("/auth/.well-known/openid-configuration", get(discovery::configuration))
        .route("/.well-known/oauth-authorization-server/auth", get(discovery::configuration))
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
    let (claims, standing) = identify(app, headers).await?;
    if let Some(scope) = operation.scope()
        && !claims.scope.split(' ').any(|held| held == scope)
    {
        return Err(ApiError::Forbidden { scope }.into());
    }
    let rations = standing.rations;
    let headroom = app.limits.take(operation.ration(), &claims.sub, &rations, 1).await;
    let headroom = headroom.map_err(ApiError::from)?;
    match headroom.spent() {
        Some(retry_after) => Err(Refusal { error: ApiError::RateLimited { retry_after }, headroom }),
        None => Ok((Caller { account_id: claims.sub, rations }, headroom)),
    }
}

/// The claims of the request's token, if it is good now.
async fn identify(app: &App, headers: &HeaderMap) -> Result<(Verified, Standing), ApiError> {
    let token = bearer(headers)?;
    if let Some(foreigner) = app.issuers.verify(token).await? {
        return admit_foreigner(app, foreigner).await;
    }
    let mut verified = app.keys.verify(token).await?;
    let standing = check_standing(app, &mut verified).await?;
    Ok((verified, standing))
}

/// The account of somebody from elsewhere, made at the first token.
async fn admit_foreigner(app: &App, foreigner: Foreigner) -> Result<(Verified, Standing), ApiError> {
    let Foreigner { account_id, name, scopes, issued_at } = foreigner;
    if app.accounts.standing(&account_id).await?.is_none() {
        app.accounts.welcome(&account_id, &name).await?;
    }
    let mut verified =
        Verified { sub: account_id, scope: scopes.join(" "), iat: issued_at, ..Verified::default() };
    let standing = check_standing(app, &mut verified).await?;
    Ok((verified, standing))
}

/// Narrows the token to what its account may do by now, and refuses it where it has ended early.
async fn check_standing(app: &App, verified: &mut Verified) -> Result<Standing, ApiError> {
    let standing = app.accounts.standing(&verified.sub).await?;
    let standing = standing.ok_or_else(|| refused("the account is unknown or disabled"))?;
    let revoked = [verified.family.as_str(), &verified.client_id, &verified.jti];
    let made_at = i64::try_from(verified.iat).unwrap_or(i64::MAX);
    if made_at < standing.tokens_from || app.revocations.contain(revoked).await? {
        return Err(refused("the access token was revoked"));
    }
    verified.scope = scopes::narrow(&scopes::parse(&verified.scope), &standing.scopes).join(" ");
    Ok(standing)
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
