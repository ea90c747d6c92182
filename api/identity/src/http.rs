//! The authorization server, with one file for each address.
//!
//! [`authorize`] leads a browser from an application's [`request`] over [`login`] and consent to a code, [`token`]
//! exchanges codes, refresh tokens and passwords for tokens, [`inspect`] revokes and introspects.

mod account;
mod authorize;
pub(crate) mod client;
mod client_address;
pub(crate) mod csrf;
mod device;
mod discovery;
mod inspect;
mod link;
mod login;
pub(crate) mod pages;
pub(crate) mod request;
mod token;
mod userinfo;

use std::sync::Arc;

use axum::{
    Router,
    middleware::from_fn_with_state,
    response::IntoResponse,
    routing::{get, post},
};
use http_errors::{Deadline, enforce_deadline};

use crate::{
    error::{PageError, TokenError},
    identity::Identity,
};

/// Routes under `/auth` that browsers show.
pub fn pages(identity: Arc<Identity>) -> Router {
    let timed_out = |error| PageError::from(error).into_response();
    let deadline = Deadline { time: identity.request_time, late: timed_out };
    Router::new()
        .route("/auth/authorize", get(authorize::authorize).post(authorize::authorize))
        .route("/auth/login", post(login::login))
        .route("/auth/account", get(account::look).post(account::end))
        .route("/auth/account/tokens", post(account::make_token))
        .route("/auth/link", get(link::ask).post(link::follow))
        .route("/auth/consent", post(authorize::consent))
        .route("/auth/logout", get(login::logout).post(login::logout))
        .route("/auth/device", get(device::ask).post(device::look))
        .route("/auth/device/decision", post(device::decide))
        .route("/auth/pages.css", get(pages::style))
        .layer(from_fn_with_state(deadline, enforce_deadline))
        .with_state(identity)
}

/// Routes under `/auth` that programs call.
pub fn endpoints(identity: Arc<Identity>) -> Router {
    let timed_out = |error| TokenError::from(error).into_response();
    let deadline = Deadline { time: identity.request_time, late: timed_out };
    Router::new()
        .route("/auth/device_authorization", post(device::authorization))
        .route("/auth/token", post(token::issue))
        .route("/auth/revoke", post(inspect::revoke))
        .route("/auth/introspect", post(inspect::introspect))
        .route("/auth/userinfo", get(userinfo::userinfo).post(userinfo::userinfo))
        .route("/auth/jwks.json", get(discovery::jwks))
        .route("/auth/.well-known/openid-configuration", get(discovery::configuration))
        .route("/.well-known/oauth-authorization-server/auth", get(discovery::configuration))
        .layer(from_fn_with_state(deadline, enforce_deadline))
        .with_state(identity)
}
