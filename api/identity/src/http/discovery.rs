//! Metadata by which clients find and verify the authorization server; it lists only what exists.

use std::sync::Arc;

use axum::{Json, extract::State, http::header, response::IntoResponse};
use contract::scope;
use serde_json::json;

use crate::{http::token::DEVICE_CODE, identity::Identity, settings::Switch};

/// `GET /auth/jwks.json`.
pub async fn jwks(State(identity): State<Arc<Identity>>) -> impl IntoResponse {
    ([(header::CACHE_CONTROL, "public, max-age=300")], Json(identity.keys.jwks().await))
}

/// `GET /auth/.well-known/openid-configuration` (OpenID Connect Discovery), and the same under the path that RFC 8414
/// defines.
pub async fn configuration(State(identity): State<Arc<Identity>>) -> impl IntoResponse {
    let issuer = identity.settings.issuer();
    let scopes: Vec<_> = scope::ALL.iter().map(|(name, _)| *name).collect();
    let implicit = identity.settings.implicit_flow == Switch::On;
    let mut response_types = vec!["code"];
    let mut grant_types = vec!["authorization_code", "refresh_token", DEVICE_CODE];
    if implicit {
        response_types.extend(["token", "id_token token"]);
        grant_types.push("implicit");
    }
    if identity.settings.password_grant == Switch::On {
        grant_types.push("password");
    }
    let document = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "userinfo_endpoint": format!("{issuer}/userinfo"),
        "device_authorization_endpoint": format!("{issuer}/device_authorization"),
        "revocation_endpoint": format!("{issuer}/revoke"),
        "introspection_endpoint": format!("{issuer}/introspect"),
        "end_session_endpoint": format!("{issuer}/logout"),
        "jwks_uri": format!("{issuer}/jwks.json"),
        "service_documentation": format!("{}/docs", identity.settings.public_url),
        "scopes_supported": scopes,
        "response_types_supported": response_types,
        "response_modes_supported": ["query", "fragment"],
        "grant_types_supported": grant_types,
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
        "revocation_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
        "introspection_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["EdDSA"],
        "claims_supported": [
            "iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "at_hash", "name", "email", "email_verified",
            "organisation",
        ],
        "prompt_values_supported": ["none", "login", "consent", "select_account"],
        "claims_parameter_supported": false,
        "request_parameter_supported": false,
        "request_uri_parameter_supported": false,
        "authorization_response_iss_parameter_supported": true,
    });
    ([(header::CACHE_CONTROL, "public, max-age=300")], Json(document))
}
