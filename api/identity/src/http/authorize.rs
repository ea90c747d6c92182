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
        pages::{self, HtmlPage},
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
    let authorization =
        match AuthorizationRequest::read(&identity, request.uri().query().unwrap_or_default()).await? {
            ParsedRequest::Valid(authorization) => authorization,
            ParsedRequest::Refused(refusal) => return Ok(refusal.send(&identity)),
        };
    let session = csrf::session(&identity.pool, &identity.settings, request.headers()).await?;
    let Some(session) = session.filter(|session| is_login_enough(&authorization, session)) else {
        if authorization.prompt == Prompt::None {
            return Ok(authorization.refuse("login_required", "the person is not logged in").send(&identity));
        }
        return Ok(login_page(&identity, request.headers(), &authorization).into_response());
    };
    let granted = match grantable(&authorization, &session.person) {
        Ok(granted) => granted,
        Err(refusal) => return Ok(refusal.send(&identity)),
    };
    if needs_consent(&identity, &authorization, &session.person, &granted).await? {
        if authorization.prompt == Prompt::None {
            return Ok(authorization.refuse("consent_required", "the person has not agreed").send(&identity));
        }
        return Ok(consent_page(&authorization, &session, &granted).into_response());
    }
    issue(&identity, &authorization, &session.person, &granted).await
}

/// `POST /auth/consent`.
pub async fn consent(State(identity): State<Arc<Identity>>, request: Request) -> Result<Response, PageError> {
    let headers = request.headers().clone();
    let form = Form::read(request).await?;
    let query = form.get("request").unwrap_or_default();
    let session =
        csrf::session(&identity.pool, &identity.settings, &headers).await?.ok_or(PageError::Forged)?;
    csrf::check(&identity.settings, &headers, &form, Purpose::Consent, &session.secret)?;
    let authorization = match AuthorizationRequest::read(&identity, query).await? {
        ParsedRequest::Valid(authorization) => authorization,
        ParsedRequest::Refused(refusal) => return Ok(refusal.send(&identity)),
    };
    let granted = match grantable(&authorization, &session.person) {
        Ok(granted) => granted,
        Err(refusal) => return Ok(refusal.send(&identity)),
    };
    let (account_id, client_id) = (&session.person.account_id, &authorization.application.client_id);
    if form.get("decision") != Some("allow") {
        tracing::info!(target: "audit", { account.id = account_id, client_id }, "a person refused an application");
        return Ok(authorization.refuse("access_denied", "the person refused").send(&identity));
    }
    tracing::info!(target: "audit", { account.id = account_id, client_id }, "a person allowed an application");
    consents::keep(&identity.pool, account_id, client_id, &granted).await?;
    issue(&identity, &authorization, &session.person, &granted).await
}

fn is_login_enough(authorization: &AuthorizationRequest, session: &Session) -> bool {
    if matches!(authorization.prompt, Prompt::Login | Prompt::LoginAndConsent) {
        return false;
    }
    let age = Utc::now() - session.person.authenticated_at;
    authorization.max_age_seconds.is_none_or(|max_age| age.num_seconds() <= i64::from(max_age))
}

/// Returns the requested scopes that the account can grant.
fn grantable(
    authorization: &AuthorizationRequest,
    person: &SessionAccount,
) -> Result<Vec<String>, AuthorizationError> {
    let granted = scopes::narrow(&authorization.scopes, &person.scopes);
    if granted.is_empty() && !authorization.scopes.is_empty() {
        return Err(authorization.refuse("access_denied", "the account may not do this"));
    }
    Ok(granted)
}

async fn needs_consent(
    identity: &Identity,
    authorization: &AuthorizationRequest,
    person: &SessionAccount,
    granted: &[String],
) -> Result<bool, sqlx::Error> {
    if authorization.application.is_own() {
        return Ok(false);
    }
    let is_requested = matches!(authorization.prompt, Prompt::Consent | Prompt::LoginAndConsent);
    if is_requested || !authorization.application.is_exclusive_at(&authorization.reply.redirect_uri) {
        return Ok(true);
    }
    let client_id = &authorization.application.client_id;
    Ok(!consents::covers(&identity.pool, &person.account_id, client_id, granted).await?)
}

fn login_page(identity: &Identity, headers: &HeaderMap, authorization: &AuthorizationRequest) -> HtmlPage {
    let page = login::page(
        identity,
        headers,
        &pages::LoginPage {
            application: Some(&authorization.application.name),
            purpose: Purpose::Login,
            request: &authorization.form.to_query(),
            email: authorization.login_hint.as_deref().unwrap_or_default(),
        },
    );
    page.allow_redirect(&authorization.reply.redirect_uri)
}

fn consent_page(authorization: &AuthorizationRequest, session: &Session, granted: &[String]) -> HtmlPage {
    let request = authorization.form.to_query();
    let Application { name, .. } = &authorization.application;
    let page = pages::consent(&pages::Consent {
        application: name,
        address: &authorization.reply.redirect_uri,
        person: &session.person,
        scopes: granted,
        request: &request,
        csrf_token: &csrf::proof(&session.secret, Purpose::Consent, &request),
    });
    page.allow_redirect(&authorization.reply.redirect_uri)
}

/// Redirects the browser to the application with the requested code or token.
async fn issue(
    identity: &Identity,
    authorization: &AuthorizationRequest,
    person: &SessionAccount,
    granted: &[String],
) -> Result<Response, PageError> {
    identity.throttle.take_authorization(&person.account_id).await?;
    let client_id = &authorization.application.client_id;
    tracing::info!(
        target: "audit", { account.id = person.account_id, client_id, scope = granted.join(" ") },
        "an application was authorized"
    );
    let family = codes::new_family();
    let nonce = match &authorization.response {
        RequestedResponse::Code { challenge, nonce } => {
            let grant = CodeGrant {
                family,
                client_id: client_id.clone(),
                account_id: person.account_id.clone(),
                redirect_uri: authorization.reply.redirect_uri.clone(),
                code_challenge: challenge.clone(),
                scopes: granted.to_vec(),
                nonce: nonce.clone(),
                authenticated_at: person.authenticated_at,
            };
            let code = codes::issue(&identity.pool, &grant).await?;
            return Ok(authorization.reply.send(identity, &[("code", &code)]));
        }
        RequestedResponse::Token => None,
        RequestedResponse::TokenAndIdToken { nonce } => Some(nonce),
    };
    let subject = TokenSubject {
        account_id: &person.account_id,
        client_id,
        family: &family,
        scopes: granted,
        authenticated_at: person.authenticated_at,
    };
    let access = mint::access_token(identity, subject).await?;
    let expires_in = access.expires_in_seconds.to_string();
    let mut parameters = vec![
        ("access_token", access.text.as_str()),
        ("token_type", "Bearer"),
        ("expires_in", &expires_in),
        ("scope", &access.scope),
    ];
    let id_token = match nonce {
        Some(nonce) => {
            let token_context = IdTokenContext {
                email: &person.email,
                name: &person.name,
                authenticated_at: person.authenticated_at,
                nonce: Some(nonce),
            };
            Some(mint::id_token(identity, subject, &token_context, &access).await?)
        }
        None => None,
    };
    if let Some(id_token) = &id_token {
        parameters.push(("id_token", id_token));
    }
    Ok(authorization.reply.send(identity, &parameters))
}
