//! What clients read to find and trust the authorization server; it names only what exists.

use std::sync::Arc;

use axum::{Json, extract::State, http::header, response::IntoResponse};
use contract::scope;
use serde_json::json;

use crate::app::App;

/// `GET /auth/jwks.json`.
pub async fn jwks(State(app): State<Arc<App>>) -> impl IntoResponse {
    ([(header::CACHE_CONTROL, "public, max-age=300")], Json(app.keys.jwks()))
}

/// `GET /auth/.well-known/openid-configuration`.
pub async fn configuration(State(app): State<Arc<App>>) -> impl IntoResponse {
    let issuer = app.config.issuer();
    let scopes: Vec<_> = scope::ALL.iter().map(|(name, _)| *name).collect();
    Json(json!({
        "issuer": issuer,
        "token_endpoint": format!("{issuer}/token"),
        "jwks_uri": format!("{issuer}/jwks.json"),
        "scopes_supported": scopes,
        "response_types_supported": [],
        "grant_types_supported": ["password", "refresh_token"],
        "token_endpoint_auth_methods_supported": ["none"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["EdDSA"],
    }))
}
