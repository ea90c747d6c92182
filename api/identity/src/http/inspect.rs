//! `/auth/revoke` (RFC 7009) and `/auth/introspect` (RFC 7662): an application revokes its tokens or queries their
//! state. It learns nothing about tokens of other applications. A script token belongs to no application: its holder
//! can revoke it without any other proof.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Request, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use http_errors::ApiError;
use serde_json::{Value, json};

use crate::{
    error::{ClientProof, TokenError},
    form::Form,
    http::{client, client_address::ClientAddress},
    identity::Identity,
    tables::{applications::ClientType, refresh_tokens, revocations, script_tokens},
    tokens::keys::AccessTokenClaims,
};

/// `POST /auth/revoke`: revokes the whole family of an access or refresh token.
///
/// An unknown token, or another application's, is no error: the caller wanted it to be invalid.
pub async fn revoke(
    State(identity): State<Arc<Identity>>,
    ClientAddress(address): ClientAddress,
    request: Request,
) -> Result<Response, TokenError> {
    let headers = request.headers().clone();
    let form = Form::read(request).await?;
    let done = (StatusCode::OK, [(header::CACHE_CONTROL, "no-store")]);
    if let Some(token) = form.get("token").filter(|token| script_tokens::has_prefix(token)) {
        identity.throttle.take_program("", address).await?;
        identity.script_tokens.revoke(token).await?;
        return Ok(done.into_response());
    }
    let application = client::authenticate(&identity.pool, &headers, &form).await?;
    identity.throttle.take_program(&application.client_id, address).await?;
    let token = form.get("token").ok_or(TokenError::MISSING)?;
    let client_id = &application.client_id;
    if let Some(family) = refresh_tokens::family(&identity.pool, token, client_id).await? {
        let mut transaction = identity.pool.begin().await?;
        refresh_tokens::end(&mut transaction, &family).await?;
        transaction.commit().await?;
    } else if let Some(verified) = own_access_token(&identity, token, client_id).await? {
        let mut transaction = identity.pool.begin().await?;
        if verified.family.is_empty() {
            revocations::add(&mut transaction, &verified.jti).await?;
        } else {
            refresh_tokens::end(&mut transaction, &verified.family).await?;
        }
        transaction.commit().await?;
    }
    identity.revocations.forget();
    tracing::info!(target: "audit", client_id, "an application revoked a token");
    Ok(done.into_response())
}

/// `POST /auth/introspect`, for applications that have a secret.
pub async fn introspect(
    State(identity): State<Arc<Identity>>,
    ClientAddress(address): ClientAddress,
    request: Request,
) -> Result<Response, TokenError> {
    let (application, form) = client::read(&identity.pool, request).await?;
    identity.throttle.take_program(&application.client_id, address).await?;
    if application.kind() == ClientType::Public {
        return Err(TokenError::InvalidClient(ClientProof::Header));
    }
    let token = form.get("token").ok_or(TokenError::MISSING)?;
    let description = describe(&identity, token, &application.client_id).await?;
    let description = description.unwrap_or_else(|| json!({ "active": false }));
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(description)).into_response())
}

#[expect(clippy::indexing_slicing, reason = "an object of ours takes every field")]
async fn describe(identity: &Identity, token: &str, client_id: &str) -> Result<Option<Value>, ApiError> {
    if let Some(token) = refresh_tokens::describe(&identity.pool, token, client_id).await? {
        return Ok(Some(json!({
            "active": true, "token_type": "refresh_token", "client_id": client_id, "sub": token.account_id,
            "scope": token.scopes.join(" "), "exp": token.expires_at.timestamp(),
            "iat": token.created_at.timestamp(), "iss": identity.settings.issuer(),
        })));
    }
    let verified = own_access_token(identity, token, client_id).await?;
    Ok(verified.map(|token| {
        let mut description = json!({
            "active": true, "token_type": "Bearer", "sub": token.sub,
            "scope": token.scope, "exp": token.exp, "iat": token.iat, "nbf": token.iat, "jti": token.jti,
            "aud": crate::settings::AUDIENCE, "iss": identity.settings.issuer(),
        });
        if !token.client_id.is_empty() {
            description["client_id"] = token.client_id.into();
        }
        description
    }))
}

/// Returns the access token, if it is valid now and is the application's or a script token.
async fn own_access_token(
    identity: &Identity,
    token: &str,
    client_id: &str,
) -> Result<Option<AccessTokenClaims>, ApiError> {
    let active = async {
        let mut verified = identity.verify(token).await?;
        identity.check_account_state(&mut verified).await?;
        Ok(verified)
    };
    match active.await {
        Ok(verified) => {
            Ok((script_tokens::has_prefix(token) || verified.client_id == client_id).then_some(verified))
        }
        Err(ApiError::Unauthorized(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
