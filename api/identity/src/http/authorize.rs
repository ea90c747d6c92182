//! `/auth/authorize`: from an application's request, over login and consent as needed, to a code or a token.
//!
//! The server stores nothing between the steps except the login. Each form sends the request back, and it is parsed
//! again as if it were new.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, Method},
    response::{IntoResponse, Redirect, Response},
};
use chrono::Utc;

use crate::{
    error::PageError,
    form::Form,
    http::{
        csrf::{self, Purpose},
        login,
        pages::{self, Page},
        request::{AuthorizationError, AuthorizationRequest, ParsedRequest, Prompt, RequestedResponse},
    },
    identity::Identity,
    scopes,
    tables::{
        applications::Application,
        codes::{self, CodeGrant},
        consents,
        sessions::{Session, SessionAccount},
    },
    tokens::mint::{self, IdTokenContext, TokenSubject},
};

/// `GET` and `POST /auth/authorize`.
pub async fn authorize(
    State(identity): State<Arc<Identity>>,
    request: Request,
) -> Result<Response, PageError> {
    if request.method() == Method::POST {
        // Browsers do not send the session cookie with a form from another site, but do after the redirect.
        let form = Form::read(request).await?;
        return Ok(Redirect::to(&format!("/auth/authorize?{}", form.to_query())).into_response());
    }
    let wanted =
        match AuthorizationRequest::read(&identity, request.uri().query().unwrap_or_default()).await? {
            ParsedRequest::Wanted(wanted) => wanted,
            ParsedRequest::Refused(refusal) => return Ok(refusal.send(&identity)),
        };
    let session = csrf::session(&identity.pool, &identity.settings, request.headers()).await?;
    let Some(session) = session.filter(|session| is_login_enough(&wanted, session)) else {
        if wanted.prompt == Prompt::Nothing {
            return Ok(wanted.refuse("login_required", "the person is not logged in").send(&identity));
        }
        return Ok(login_page(&identity, request.headers(), &wanted).into_response());
    };
    let granted = match grantable(&wanted, &session.person) {
        Ok(granted) => granted,
        Err(refusal) => return Ok(refusal.send(&identity)),
    };
    if needs_consent(&identity, &wanted, &session.person, &granted).await? {
        if wanted.prompt == Prompt::Nothing {
            return Ok(wanted.refuse("consent_required", "the person has not agreed").send(&identity));
        }
        return Ok(consent_page(&wanted, &session, &granted).into_response());
    }
    issue(&identity, &wanted, &session.person, &granted).await
}

/// `POST /auth/consent`.
pub async fn consent(State(identity): State<Arc<Identity>>, request: Request) -> Result<Response, PageError> {
    let headers = request.headers().clone();
    let form = Form::read(request).await?;
    let query = form.get("request").unwrap_or_default();
    let session =
        csrf::session(&identity.pool, &identity.settings, &headers).await?.ok_or(PageError::Forged)?;
    csrf::check(&identity.settings, &headers, &form, Purpose::Consent, &session.secret)?;
    let wanted = match AuthorizationRequest::read(&identity, query).await? {
        ParsedRequest::Wanted(wanted) => wanted,
        ParsedRequest::Refused(refusal) => return Ok(refusal.send(&identity)),
    };
    let granted = match grantable(&wanted, &session.person) {
        Ok(granted) => granted,
        Err(refusal) => return Ok(refusal.send(&identity)),
    };
    let (account_id, client_id) = (&session.person.account_id, &wanted.application.client_id);
    if form.get("decision") != Some("allow") {
        tracing::info!(target: "audit", { account.id = account_id, client_id }, "a person refused an application");
        return Ok(wanted.refuse("access_denied", "the person refused").send(&identity));
    }
    tracing::info!(target: "audit", { account.id = account_id, client_id }, "a person allowed an application");
    consents::keep(&identity.pool, account_id, client_id, &granted).await?;
    issue(&identity, &wanted, &session.person, &granted).await
}

fn is_login_enough(wanted: &AuthorizationRequest, session: &Session) -> bool {
    if matches!(wanted.prompt, Prompt::Login | Prompt::LoginAndConsent) {
        return false;
    }
    let age = Utc::now() - session.person.authenticated_at;
    wanted.max_age_seconds.is_none_or(|most| age.num_seconds() <= i64::from(most))
}

/// Returns the requested scopes that the account can grant.
fn grantable(
    wanted: &AuthorizationRequest,
    person: &SessionAccount,
) -> Result<Vec<String>, AuthorizationError> {
    let granted = scopes::narrow(&wanted.scopes, &person.scopes);
    if granted.is_empty() && !wanted.scopes.is_empty() {
        return Err(wanted.refuse("access_denied", "the account may not do this"));
    }
    Ok(granted)
}

async fn needs_consent(
    identity: &Identity,
    wanted: &AuthorizationRequest,
    person: &SessionAccount,
    granted: &[String],
) -> Result<bool, sqlx::Error> {
    if wanted.application.is_own() {
        return Ok(false);
    }
    let asked_for = matches!(wanted.prompt, Prompt::Consent | Prompt::LoginAndConsent);
    if asked_for || !wanted.application.is_exclusive_at(&wanted.reply.redirect_uri) {
        return Ok(true);
    }
    let client_id = &wanted.application.client_id;
    Ok(!consents::covers(&identity.pool, &person.account_id, client_id, granted).await?)
}

fn login_page(identity: &Identity, headers: &HeaderMap, wanted: &AuthorizationRequest) -> Page {
    let page = login::page(
        identity,
        headers,
        &pages::Login {
            application: Some(&wanted.application.name),
            to: Purpose::Login,
            request: &wanted.form.to_query(),
            email: wanted.login_hint.as_deref().unwrap_or_default(),
        },
    );
    page.allow_redirect(&wanted.reply.redirect_uri)
}

fn consent_page(wanted: &AuthorizationRequest, session: &Session, granted: &[String]) -> Page {
    let request = wanted.form.to_query();
    let Application { name, .. } = &wanted.application;
    let page = pages::consent(&pages::Consent {
        application: name,
        address: &wanted.reply.redirect_uri,
        person: &session.person,
        scopes: granted,
        request: &request,
        proof: &csrf::proof(&session.secret, Purpose::Consent, &request),
    });
    page.allow_redirect(&wanted.reply.redirect_uri)
}

/// Redirects the browser to the application with the requested code or token.
async fn issue(
    identity: &Identity,
    wanted: &AuthorizationRequest,
    person: &SessionAccount,
    granted: &[String],
) -> Result<Response, PageError> {
    identity.throttle.take_authorization(&person.account_id).await?;
    let client_id = &wanted.application.client_id;
    tracing::info!(
        target: "audit", { account.id = person.account_id, client_id, scope = granted.join(" ") },
        "an application was let in"
    );
    let family = codes::new_family();
    let nonce = match &wanted.wanted {
        RequestedResponse::Code { challenge, nonce } => {
            let promise = CodeGrant {
                family,
                client_id: client_id.clone(),
                account_id: person.account_id.clone(),
                redirect_uri: wanted.reply.redirect_uri.clone(),
                code_challenge: challenge.clone(),
                scopes: granted.to_vec(),
                nonce: nonce.clone(),
                authenticated_at: person.authenticated_at,
            };
            let code = codes::issue(&identity.pool, &promise).await?;
            return Ok(wanted.reply.send(identity, &[("code", &code)]));
        }
        RequestedResponse::Token => None,
        RequestedResponse::TokenAndIdToken { nonce } => Some(nonce),
    };
    let bearer = TokenSubject {
        account_id: &person.account_id,
        client_id,
        family: &family,
        scopes: granted,
        authenticated_at: person.authenticated_at,
    };
    let access = mint::access_token(identity, bearer).await?;
    let expires_in = access.expires_in_seconds.to_string();
    let mut pairs = vec![
        ("access_token", access.text.as_str()),
        ("token_type", "Bearer"),
        ("expires_in", &expires_in),
        ("scope", &access.scope),
    ];
    let id_token = match nonce {
        Some(nonce) => {
            let told = IdTokenContext {
                email: &person.email,
                name: &person.name,
                authenticated_at: person.authenticated_at,
                nonce: Some(nonce),
            };
            Some(mint::id_token(identity, bearer, &told, &access).await?)
        }
        None => None,
    };
    if let Some(id_token) = &id_token {
        pairs.push(("id_token", id_token));
    }
    Ok(wanted.reply.send(identity, &pairs))
}
