//! `POST /auth/token`: exchanges a code, a device code, a refresh token or a password for an access token (RFC 6749).
//!
//! The password grant is off unless the operator enables it. Even then only the command-line tool may use it, which
//! an account's owner runs.

use std::{net::IpAddr, sync::Arc};

use axum::{
    Json,
    extract::{Request, State},
    http::header,
    response::{IntoResponse, Response},
};
use chrono::{DateTime, Utc};
use contract::{Flow, scope};
use serde_json::json;

use crate::{
    error::TokenError,
    form::Form,
    http::{client, client_address::ClientAddress},
    identity::{AuthenticatedLogin, Identity},
    scopes,
    settings::Switch,
    tables::{
        accounts::Account,
        applications::Application,
        codes::{self, CodeGrant, RedeemRequest},
        device_codes::{self, PollResult},
        refresh_tokens::{self, Grant, RotationResult},
    },
    throttle::Browser,
    tokens::mint::{self, IdTokenContext, TokenSubject},
};

/// Grant type of RFC 8628.
pub const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";

pub async fn issue(
    State(identity): State<Arc<Identity>>,
    ClientAddress(address): ClientAddress,
    request: Request,
) -> Result<Response, TokenError> {
    let headers = request.headers().clone();
    let form = Form::read(request).await?;
    let grant_type = form.get("grant_type").ok_or(TokenError::MISSING)?.to_owned();
    let known = ["authorization_code", "refresh_token", DEVICE_CODE, "password"];
    let password_is_off = grant_type == "password" && identity.settings.password_grant == Switch::Off;
    if !known.contains(&grant_type.as_str()) || password_is_off {
        return Err(TokenError::UnsupportedGrantType);
    }
    let application = client::authenticate(&identity.pool, &headers, &form).await?;
    identity.throttle.take_program(&application.client_id, address).await?;
    match grant_type.as_str() {
        "authorization_code" => code(&identity, &application, &form).await,
        "refresh_token" => refresh(&identity, &application, &form).await,
        DEVICE_CODE => device(&identity, &application, &form).await,
        _ => password(&identity, &application, &form, address).await,
    }
}

async fn code(identity: &Identity, application: &Application, form: &Form) -> Result<Response, TokenError> {
    let presented = RedeemRequest {
        code: form.get("code").ok_or(TokenError::MISSING)?,
        client_id: &application.client_id,
        redirect_uri: form.get("redirect_uri").ok_or(TokenError::MISSING)?,
        verifier: form.get("code_verifier").ok_or(TokenError::MISSING)?,
    };
    let mut transaction = identity.pool.begin().await?;
    let promise = codes::redeem(&mut transaction, &presented).await?;
    let mut refresh_token = None;
    if let Some(promise) = &promise
        && scopes::has(&promise.scopes, scope::OFFLINE_ACCESS)
    {
        let lifetime = identity.settings.refresh_token_lifetime;
        refresh_token = Some(refresh_tokens::begin(&mut transaction, &promise.grant(), lifetime).await?);
    }
    transaction.commit().await?;
    let Some(promise) = promise else {
        identity.revocations.forget();
        return Err(TokenError::InvalidGrant("the code is not valid"));
    };
    let account = identity.accounts.find(&promise.account_id).await?;
    let account = account.ok_or(TokenError::InvalidGrant("the code is not valid"))?;
    let id_token =
        id_token_context(&account, &promise.scopes, promise.authenticated_at, promise.nonce.as_deref());
    answer(identity, promise.grant().bearer(&promise.scopes), refresh_token, id_token).await
}

async fn device(identity: &Identity, application: &Application, form: &Form) -> Result<Response, TokenError> {
    let code = form.get("device_code").ok_or(TokenError::MISSING)?;
    let refused = TokenError::InvalidGrant("the device code is not valid");
    let allowed = match device_codes::poll(&identity.pool, code, &application.client_id).await? {
        PollResult::Allowed(allowed) => allowed,
        PollResult::Unknown => return Err(refused),
        PollResult::Expired => return Err(TokenError::ExpiredToken),
        PollResult::Pending => return Err(TokenError::AuthorizationPending),
        PollResult::TooOften => return Err(TokenError::SlowDown),
        PollResult::Refused => return Err(TokenError::AccessDenied),
    };
    let account = identity.accounts.find(&allowed.account_id).await?;
    let account = account.filter(|account| account.active).ok_or(refused)?;
    let grant = Grant {
        family: codes::new_family(),
        account_id: allowed.account_id,
        client_id: application.client_id.clone(),
        scopes: scopes::narrow(&allowed.scopes, &account.scopes),
        authenticated_at: allowed.authenticated_at,
    };
    let refresh_token = issue_first_refresh_token(identity, &grant).await?;
    let id_token = id_token_context(&account, &grant.scopes, allowed.authenticated_at, None);
    answer(identity, grant.bearer(&grant.scopes), refresh_token, id_token).await
}

/// Returns the claims of an ID token about the login, if the scopes ask for one.
fn id_token_context<'a>(
    account: &'a Account,
    scopes: &[String],
    authenticated_at: DateTime<Utc>,
    nonce: Option<&'a str>,
) -> Option<IdTokenContext<'a>> {
    let id_token = IdTokenContext { email: &account.email, name: &account.name, authenticated_at, nonce };
    scopes::has(scopes, scope::OPENID).then_some(id_token)
}

/// Issues the first refresh token of the grant, if it is to have one.
async fn issue_first_refresh_token(identity: &Identity, grant: &Grant) -> Result<Option<String>, TokenError> {
    if !scopes::has(&grant.scopes, scope::OFFLINE_ACCESS) {
        return Ok(None);
    }
    let mut transaction = identity.pool.begin().await?;
    let token =
        refresh_tokens::begin(&mut transaction, grant, identity.settings.refresh_token_lifetime).await?;
    transaction.commit().await?;
    Ok(Some(token))
}

async fn password(
    identity: &Identity,
    application: &Application,
    form: &Form,
    address: Option<IpAddr>,
) -> Result<Response, TokenError> {
    if !application.allows(Flow::Password) {
        return Err(TokenError::UnauthorizedClient);
    }
    let email = form.get("username").ok_or(TokenError::MISSING)?.trim();
    let password = form.get("password").ok_or(TokenError::MISSING)?;
    identity.throttle.take(email, address, Browser::Strange).await?;
    let Some(AuthenticatedLogin { account, at }) = identity.authenticate(email, password).await? else {
        return Err(TokenError::InvalidGrant("the account or the password is wrong"));
    };

    let scopes = requested_scopes(form, &scopes::narrow(&account.scopes, &application.scopes))?;
    let grant = Grant {
        family: codes::new_family(),
        account_id: account.id,
        client_id: application.client_id.clone(),
        scopes,
        authenticated_at: at,
    };
    let refresh_token = issue_first_refresh_token(identity, &grant).await?;
    answer(identity, grant.bearer(&grant.scopes), refresh_token, None).await
}

async fn refresh(
    identity: &Identity,
    application: &Application,
    form: &Form,
) -> Result<Response, TokenError> {
    let token = form.get("refresh_token").ok_or(TokenError::MISSING)?;
    if let Some(held) = refresh_tokens::scopes(&identity.pool, token).await? {
        // A request for too many scopes is rejected before it uses up the token.
        requested_scopes(form, &held)?;
    }
    let lifetime = identity.settings.refresh_token_lifetime;
    let used = refresh_tokens::rotate(&identity.pool, token, &application.client_id, lifetime).await?;
    let RotationResult::Rotated { grant, token } = used else {
        identity.revocations.forget();
        return Err(TokenError::InvalidGrant("the refresh token is not valid"));
    };
    // The access token may be narrower than the grant; the grant itself stays unchanged (RFC 6749, section 6). Scopes
    // that the operator has since taken from the account or the application are gone.
    let account = identity.accounts.find(&grant.account_id).await?;
    let held = account.map(|account| account.scopes).unwrap_or_default();
    let scopes = requested_scopes(form, &grant.scopes)?;
    let scopes = scopes::narrow(&scopes::narrow(&scopes, &held), &application.scopes);
    answer(identity, grant.bearer(&scopes), Some(token), None).await
}

/// Parses the requested scopes, which must all be `held`; without the parameter, returns all `held` scopes.
fn requested_scopes(form: &Form, held: &[String]) -> Result<Vec<String>, TokenError> {
    let Some(scopes) = form.get("scope") else { return Ok(held.to_vec()) };
    let scopes = scopes::parse(scopes);
    if scopes::covers(held, &scopes) { Ok(scopes) } else { Err(TokenError::InvalidScope) }
}

impl Grant {
    fn bearer<'a>(&'a self, scopes: &'a [String]) -> TokenSubject<'a> {
        TokenSubject {
            account_id: &self.account_id,
            client_id: &self.client_id,
            family: &self.family,
            scopes,
            authenticated_at: self.authenticated_at,
        }
    }
}

impl CodeGrant {
    fn grant(&self) -> Grant {
        Grant {
            family: self.family.clone(),
            account_id: self.account_id.clone(),
            client_id: self.client_id.clone(),
            scopes: self.scopes.clone(),
            authenticated_at: self.authenticated_at,
        }
    }
}

/// Builds the answer, with an ID token if `id_token` has its claims.
#[expect(clippy::indexing_slicing, reason = "an object of ours takes every field")]
async fn answer(
    identity: &Identity,
    bearer: TokenSubject<'_>,
    refresh_token: Option<String>,
    id_token: Option<IdTokenContext<'_>>,
) -> Result<Response, TokenError> {
    let access = mint::access_token(identity, bearer).await?;
    tracing::info!(
        target: "audit", { account.id = bearer.account_id, client_id = bearer.client_id, scope = access.scope },
        "issued an access token"
    );
    let mut body = json!({
        "access_token": access.text, "token_type": "Bearer", "expires_in": access.expires_in_seconds,
        "scope": access.scope,
    });
    if let Some(refresh_token) = refresh_token {
        body["refresh_token"] = refresh_token.into();
    }
    if let Some(id_token) = id_token {
        body["id_token"] = mint::id_token(identity, bearer, &id_token, &access).await?.into();
    }
    Ok(([(header::CACHE_CONTROL, "no-store"), (header::PRAGMA, "no-cache")], Json(body)).into_response())
}
