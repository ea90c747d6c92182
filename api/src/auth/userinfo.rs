//! `GET` and `POST /auth/userinfo`: who the token speaks for (OpenID Connect Core, section 5.3).

use std::sync::Arc;

use axum::{Json, extract::State, http::HeaderMap};
use contract::scope;
use serde_json::{Map, Value};

use super::{identify, mint, refused, scopes};
use crate::{app::App, error::ApiError};

pub async fn userinfo(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
) -> Result<Json<Map<String, Value>>, ApiError> {
    let (verified, _) = identify(&app, &headers).await?;
    let held = scopes::parse(&verified.scope);
    if !scopes::has(&held, scope::OPENID) {
        return Err(ApiError::Forbidden { scope: scope::OPENID });
    }
    let account = app.accounts.find(&verified.sub).await?;
    let account = account.ok_or_else(|| refused("the account is unknown or disabled"))?;
    Ok(Json(mint::person(&account.id, &account.email, &account.name, &held)))
}
