//! `GET` and `POST /auth/userinfo`: claims about the token's account (OpenID Connect Core, section 5.3), with
//! `organisation`, a claim of our own: the name of the organisation that the account belongs to.

use std::sync::Arc;

use axum::{Json, extract::State, http::HeaderMap};
use contract::scope;
use http_errors::ApiError;
use serde_json::{Map, Value};

use crate::{identity::Identity, scopes, tables::organisations, tokens::mint};

pub async fn userinfo(
    State(identity): State<Arc<Identity>>,
    headers: HeaderMap,
) -> Result<Json<Map<String, Value>>, ApiError> {
    let (verified, _) = identity.identify(&headers).await?;
    let held = scopes::parse(&verified.scope);
    if !scopes::has(&held, scope::OPENID) {
        return Err(ApiError::Forbidden { scope: scope::OPENID });
    }
    let account = identity.accounts.find(&verified.sub).await?;
    let account = account.ok_or_else(|| ApiError::invalid_token("the account is unknown or disabled"))?;
    let mut claims = mint::person(&account.id, &account.email, &account.name, &held);
    if scopes::has(&held, scope::PROFILE)
        && let Some(organisation) = organisations::name_of(&identity.pool, &account.id).await?
    {
        claims.insert("organisation".to_owned(), organisation.into());
    }
    Ok(Json(claims))
}
