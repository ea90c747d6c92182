//! `POST /auth/token`: a password or a refresh token for an access token (RFC 6749).
//!
//! The password grant is for the operator's command-line tool alone, which an account's owner runs.

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use axum::{
    Extension, Json,
    extract::{ConnectInfo, State, rejection::FormRejection},
    http::header,
    response::{IntoResponse, Response},
};
use chrono::Utc;
use contract::scope;
use serde_json::json;
use ulid::Ulid;

use super::{
    AUDIENCE,
    keys::Claims,
    refresh::{self, Used},
};
use crate::{
    app::App,
    error::{ApiError, TokenError},
};

/// The only client there is: public, without a secret.
const COMMAND_LINE_CLIENT: &str = "retort-cli";

pub async fn issue(
    State(app): State<Arc<App>>,
    peer: Option<Extension<ConnectInfo<SocketAddr>>>,
    pairs: Result<axum::Form<Vec<(String, String)>>, FormRejection>,
) -> Result<Response, TokenError> {
    let form = Form::read(pairs)?;
    match form.required("grant_type")? {
        "password" => password(&app, &form, peer.map(|Extension(ConnectInfo(address))| address.ip())).await,
        "refresh_token" => refresh(&app, &form).await,
        _ => Err(TokenError::UnsupportedGrantType),
    }
}

async fn password(app: &App, form: &Form, address: Option<IpAddr>) -> Result<Response, TokenError> {
    let client_id = form.client_id()?;
    let (email, password) = (form.required("username")?.trim(), form.required("password")?);
    app.throttle.take(email, address).map_err(|retry_after| TokenError::TooMany { retry_after })?;

    let account = app.accounts.find_by_email(email).await?;
    let hash = account.as_ref().map(|account| account.password_hash.clone());
    let right = app.passwords.check(password.to_owned(), hash).await?;
    let Some(account) = account.filter(|account| right && account.active) else {
        return Err(TokenError::InvalidGrant("the account or the password is wrong"));
    };

    let scopes = form.scopes(&account.scopes)?;
    let refresh_token = if scopes.iter().any(|scope| scope == scope::OFFLINE_ACCESS) {
        let lifetime = app.config.refresh_token_lifetime;
        Some(refresh::begin(&app.pool, &account.id, client_id, &scopes, lifetime).await?)
    } else {
        None
    };
    tracing::info!(account.id = account.id, client_id, "an account logged in");
    answer(app, &account.id, client_id, &scopes, refresh_token)
}

async fn refresh(app: &App, form: &Form) -> Result<Response, TokenError> {
    let client_id = form.client_id()?;
    let token = form.required("refresh_token")?;
    if let Some(held) = refresh::scopes(&app.pool, token).await? {
        // A request for too much is refused before it spends the token.
        form.scopes(&held)?;
    }
    let used = refresh::rotate(&app.pool, token, client_id, app.config.refresh_token_lifetime).await?;
    let Used::Rotated { grant, token } = used else {
        return Err(TokenError::InvalidGrant("the refresh token is not valid"));
    };
    // The access token may be narrower than the grant; the grant itself stays as it was (RFC 6749, section
    // 6).
    let scopes = form.scopes(&grant.scopes)?;
    answer(app, &grant.account_id, &grant.client_id, &scopes, Some(token))
}

fn answer(
    app: &App,
    account_id: &str,
    client_id: &str,
    scopes: &[String],
    refresh_token: Option<String>,
) -> Result<Response, TokenError> {
    let now = u64::try_from(Utc::now().timestamp()).unwrap_or_default();
    let lifetime = app.config.access_token_lifetime.as_secs();
    let scope = scopes.join(" ");
    let claims = Claims {
        iss: app.config.issuer(),
        sub: account_id.to_owned(),
        aud: AUDIENCE.to_owned(),
        exp: now + lifetime,
        nbf: now,
        iat: now,
        jti: Ulid::generate().to_string(),
        client_id: client_id.to_owned(),
        scope: scope.clone(),
    };
    let access_token = app.keys.sign(&claims).map_err(|error| ApiError::internal(&error))?;
    let mut body = json!({
        "access_token": access_token, "token_type": "Bearer", "expires_in": lifetime, "scope": scope,
    });
    if let Some(refresh_token) = refresh_token {
        body["refresh_token"] = refresh_token.into();
    }
    Ok(([(header::CACHE_CONTROL, "no-store"), (header::PRAGMA, "no-cache")], Json(body)).into_response())
}

/// The parameters of the request; an empty one counts as omitted.
struct Form(BTreeMap<String, String>);

impl Form {
    fn read(pairs: Result<axum::Form<Vec<(String, String)>>, FormRejection>) -> Result<Self, TokenError> {
        let malformed = TokenError::InvalidRequest("the body should be application/x-www-form-urlencoded");
        let Ok(axum::Form(pairs)) = pairs else { return Err(malformed) };
        let mut form = BTreeMap::new();
        for (name, value) in pairs {
            if !value.is_empty() && form.insert(name, value).is_some() {
                return Err(TokenError::InvalidRequest("a parameter is repeated"));
            }
        }
        Ok(Self(form))
    }

    fn required(&self, name: &'static str) -> Result<&str, TokenError> {
        self.0.get(name).map(String::as_str).ok_or(TokenError::InvalidRequest("a parameter is missing"))
    }

    fn client_id(&self) -> Result<&str, TokenError> {
        match self.required("client_id")? {
            COMMAND_LINE_CLIENT => Ok(COMMAND_LINE_CLIENT),
            _ => Err(TokenError::InvalidClient),
        }
    }

    /// The scopes asked for, which must all be `held`; without the parameter, all that are held.
    fn scopes(&self, held: &[String]) -> Result<Vec<String>, TokenError> {
        let Some(wanted) = self.0.get("scope") else { return Ok(held.to_vec()) };
        let mut scopes: Vec<String> = Vec::new();
        for scope in wanted.split(' ').filter(|scope| !scope.is_empty()) {
            if !held.iter().any(|other| other == scope) {
                return Err(TokenError::InvalidScope);
            }
            if !scopes.iter().any(|other| other == scope) {
                scopes.push(scope.to_owned());
            }
        }
        Ok(scopes)
    }
}
