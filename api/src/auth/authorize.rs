//! `/auth/authorize`: from an application's request, over a login and a consent as they are needed, to a
//! code or a token.
//!
//! Nothing is kept on the server between the steps but the login: each form brings the request back, and it
//! is read anew, as if it had just come.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::{HeaderMap, Method},
    response::{IntoResponse, Redirect, Response},
};
use chrono::Utc;

use super::{
    applications::Application,
    codes::{self, Promise},
    consents,
    csrf::{self, Purpose},
    form::Form,
    login,
    mint::{self, Authentication, Bearer},
    pages::{self, Page},
    request::{AuthorizationRequest, Prompt, Read, Refusal, Wanted},
    scopes,
    sessions::{Person, Session},
};
use crate::{
    app::App,
    error::{ApiError, PageError},
};

/// `GET` and `POST /auth/authorize`.
pub async fn authorize(State(app): State<Arc<App>>, request: Request) -> Result<Response, PageError> {
    if request.method() == Method::POST {
        // The session's cookie does not come with a form from elsewhere, but with where that leads.
        let form = Form::read(request).await?;
        return Ok(Redirect::to(&format!("/auth/authorize?{}", form.to_query())).into_response());
    }
    let wanted = match AuthorizationRequest::read(&app, request.uri().query().unwrap_or_default()).await? {
        Read::Wanted(wanted) => wanted,
        Read::Refused(refusal) => return Ok(refusal.send(&app)),
    };
    let session = csrf::session(&app, request.headers()).await?;
    let Some(session) = session.filter(|session| is_login_enough(&wanted, session)) else {
        if wanted.prompt == Prompt::Nothing {
            return Ok(wanted.refuse("login_required", "the person is not logged in").send(&app));
        }
        return Ok(login_page(&app, request.headers(), &wanted).into_response());
    };
    let granted = match grantable(&wanted, &session.person) {
        Ok(granted) => granted,
        Err(refusal) => return Ok(refusal.send(&app)),
    };
    if needs_consent(&app, &wanted, &session.person, &granted).await? {
        if wanted.prompt == Prompt::Nothing {
            return Ok(wanted.refuse("consent_required", "the person has not agreed").send(&app));
        }
        return Ok(consent_page(&wanted, &session, &granted).into_response());
    }
    Ok(issue(&app, &wanted, &session.person, &granted).await?)
}

/// `POST /auth/consent`.
pub async fn consent(State(app): State<Arc<App>>, request: Request) -> Result<Response, PageError> {
    let headers = request.headers().clone();
    let form = Form::read(request).await?;
    let query = form.get("request").unwrap_or_default();
    let session = csrf::session(&app, &headers).await?.ok_or(PageError::Forged)?;
    csrf::check(&app, &headers, &form, Purpose::Consent, &session.secret)?;
    let wanted = match AuthorizationRequest::read(&app, query).await? {
        Read::Wanted(wanted) => wanted,
        Read::Refused(refusal) => return Ok(refusal.send(&app)),
    };
    let granted = match grantable(&wanted, &session.person) {
        Ok(granted) => granted,
        Err(refusal) => return Ok(refusal.send(&app)),
    };
    let (account_id, client_id) = (&session.person.account_id, &wanted.application.client_id);
    if form.get("decision") != Some("allow") {
        tracing::info!(target: "audit", { account.id = account_id, client_id }, "a person refused an application");
        return Ok(wanted.refuse("access_denied", "the person refused").send(&app));
    }
    tracing::info!(target: "audit", { account.id = account_id, client_id }, "a person allowed an application");
    consents::keep(&app.pool, account_id, client_id, &granted).await?;
    Ok(issue(&app, &wanted, &session.person, &granted).await?)
}

fn is_login_enough(wanted: &AuthorizationRequest, session: &Session) -> bool {
    if matches!(wanted.prompt, Prompt::Login | Prompt::LoginAndConsent) {
        return false;
    }
    let age = Utc::now() - session.person.authenticated_at;
    wanted.max_age_seconds.is_none_or(|most| age.num_seconds() <= i64::from(most))
}

/// What of the request the account can give.
fn grantable(wanted: &AuthorizationRequest, person: &Person) -> Result<Vec<String>, Refusal> {
    let granted = scopes::narrow(&wanted.scopes, &person.scopes);
    if granted.is_empty() && !wanted.scopes.is_empty() {
        return Err(wanted.refuse("access_denied", "the account may not do this"));
    }
    Ok(granted)
}

async fn needs_consent(
    app: &App,
    wanted: &AuthorizationRequest,
    person: &Person,
    granted: &[String],
) -> Result<bool, sqlx::Error> {
    let asked_for = matches!(wanted.prompt, Prompt::Consent | Prompt::LoginAndConsent);
    if asked_for || !wanted.application.is_certain_at(&wanted.reply.redirect_uri) {
        return Ok(true);
    }
    let client_id = &wanted.application.client_id;
    Ok(!consents::covers(&app.pool, &person.account_id, client_id, granted).await?)
}

fn login_page(app: &App, headers: &HeaderMap, wanted: &AuthorizationRequest) -> Page {
    let page = login::page(
        app,
        headers,
        &pages::Login {
            application: Some(&wanted.application.name),
            to: Purpose::Login,
            request: &wanted.form.to_query(),
            email: wanted.login_hint.as_deref().unwrap_or_default(),
        },
    );
    page.leads_to(&wanted.reply.redirect_uri)
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
    page.leads_to(&wanted.reply.redirect_uri)
}

/// Sends the browser to the application with what it wants.
async fn issue(
    app: &App,
    wanted: &AuthorizationRequest,
    person: &Person,
    granted: &[String],
) -> Result<Response, ApiError> {
    let client_id = &wanted.application.client_id;
    tracing::info!(
        target: "audit", { account.id = person.account_id, client_id, scope = granted.join(" ") },
        "an application was let in"
    );
    let family = codes::new_family();
    let nonce = match &wanted.wanted {
        Wanted::Code { challenge, nonce } => {
            let promise = Promise {
                family,
                client_id: client_id.clone(),
                account_id: person.account_id.clone(),
                redirect_uri: wanted.reply.redirect_uri.clone(),
                code_challenge: challenge.clone(),
                scopes: granted.to_vec(),
                nonce: nonce.clone(),
                authenticated_at: person.authenticated_at,
            };
            let code = codes::issue(&app.pool, &promise).await?;
            return Ok(wanted.reply.send(app, &[("code", &code)]));
        }
        Wanted::Token => None,
        Wanted::TokenAndIdToken { nonce } => Some(nonce),
    };
    let bearer = Bearer { account_id: &person.account_id, client_id, family: &family, scopes: granted };
    let access = mint::access_token(app, bearer).await?;
    let expires_in = access.expires_in_seconds.to_string();
    let mut pairs = vec![
        ("access_token", access.text.as_str()),
        ("token_type", "Bearer"),
        ("expires_in", &expires_in),
        ("scope", &access.scope),
    ];
    let id_token = match nonce {
        Some(nonce) => {
            let told = Authentication {
                email: &person.email,
                name: &person.name,
                authenticated_at: person.authenticated_at,
                nonce: Some(nonce),
            };
            Some(mint::id_token(app, bearer, &told, &access).await?)
        }
        None => None,
    };
    if let Some(id_token) = &id_token {
        pairs.push(("id_token", id_token));
    }
    Ok(wanted.reply.send(app, &pairs))
}
