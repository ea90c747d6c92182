//! Authorization of a device without a browser, through another browser (RFC 8628).
//!
//! The person types the code that the device shows, even after a link that contains it. So a person who was sent a
//! stranger's link should notice that none of their devices shows that code.

use std::sync::Arc;

use axum::{
    Json,
    extract::{Request, State},
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};
use contract::Flow;
use serde_json::json;

use crate::{
    error::{PageError, RefusedForm, TokenError},
    form::Form,
    http::{
        client,
        client_address::ClientAddress,
        csrf::{self, Purpose},
        login, pages,
    },
    identity::Identity,
    scopes,
    tables::{
        consents,
        device_codes::{self, Decision},
        sessions::Session,
    },
};

/// `POST /auth/device_authorization`: a device asks for codes.
pub async fn authorization(
    State(identity): State<Arc<Identity>>,
    ClientAddress(address): ClientAddress,
    request: Request,
) -> Result<Response, TokenError> {
    let (application, form) = client::read(&identity.pool, request).await?;
    if !application.allows(Flow::Device) {
        return Err(TokenError::UnauthorizedClient);
    }
    identity.throttle.take_address(address).await?;
    let scopes = match form.get("scope").map(scopes::parse) {
        None => scopes::default_scopes(&application.scopes),
        Some(wanted) if scopes::covers(&application.scopes, &wanted) => wanted,
        Some(_) => return Err(TokenError::InvalidScope),
    };
    let codes = device_codes::issue(&identity.pool, &application.client_id, &scopes).await?;
    let user_code = device_codes::display(&codes.user_code);
    let page = format!("{}/device", identity.settings.issuer());
    let body = json!({
        "device_code": codes.device_code,
        "user_code": user_code,
        "verification_uri": page,
        "verification_uri_complete": format!("{page}?user_code={user_code}"),
        "expires_in": device_codes::LIFETIME_SECONDS,
        "interval": device_codes::INTERVAL_SECONDS,
    });
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(body)).into_response())
}

/// `GET /auth/device`: asks the person for the code.
pub async fn ask(State(identity): State<Arc<Identity>>, request: Request) -> Result<Response, PageError> {
    let query = Form::parse(request.uri().query().unwrap_or_default().as_bytes())?;
    let code = device_codes::normalise(query.get("user_code").unwrap_or_default());
    match csrf::session(&identity.pool, &identity.settings, request.headers()).await? {
        Some(session) => Ok(question(&session, &code, None).into_response()),
        None => Ok(login_page(&identity, request.headers(), &code).into_response()),
    }
}

/// `POST /auth/device`: checks the code that the person typed, and asks whether to allow the device.
pub async fn look(State(identity): State<Arc<Identity>>, request: Request) -> Result<Response, PageError> {
    let headers = request.headers().clone();
    let form = Form::read(request).await?;
    let session =
        csrf::session(&identity.pool, &identity.settings, &headers).await?.ok_or(PageError::Forged)?;
    csrf::check(&identity.settings, &headers, &form, Purpose::Device, &session.secret)?;
    identity.throttle.take_code(&session.person.account_id).await?;
    let code = device_codes::normalise(form.get("user_code").unwrap_or_default());
    let Some(waiting) = device_codes::find(&identity.pool, &code).await? else {
        return Ok(unknown_code_page(&session, &code));
    };
    let page = pages::allow_device(&pages::AllowDevice {
        application: &waiting.application,
        person: &session.person,
        scopes: &scopes::narrow(&waiting.scopes, &session.person.scopes),
        code: &device_codes::display(&code),
        request: &code,
        csrf_token: &csrf::proof(&session.secret, Purpose::DeviceDecision, &code),
    });
    Ok(page.into_response())
}

/// `POST /auth/device/decision`.
pub async fn decide(State(identity): State<Arc<Identity>>, request: Request) -> Result<Response, PageError> {
    let headers = request.headers().clone();
    let form = Form::read(request).await?;
    let session =
        csrf::session(&identity.pool, &identity.settings, &headers).await?.ok_or(PageError::Forged)?;
    csrf::check(&identity.settings, &headers, &form, Purpose::DeviceDecision, &session.secret)?;
    let code = form.get("request").unwrap_or_default();
    let person = &session.person;
    let decision = if form.get("decision") == Some("allow") { Decision::Allowed } else { Decision::Refused };
    let waiting = device_codes::find(&identity.pool, code).await?;
    let at = person.authenticated_at;
    let done = device_codes::decide(&identity.pool, code, decision, &person.account_id, at).await?;
    let Some(waiting) = waiting.filter(|_| done) else {
        return Ok(unknown_code_page(&session, code));
    };
    tracing::info!(
        target: "audit",
        { account.id = person.account_id, client_id = waiting.client_id, decision = ?decision },
        "a person decided on a device"
    );
    if decision == Decision::Allowed {
        let granted = scopes::narrow(&waiting.scopes, &person.scopes);
        consents::keep(&identity.pool, &person.account_id, &waiting.client_id, &granted).await?;
    }
    Ok(pages::device_decided(decision).into_response())
}

fn question(session: &Session, code: &str, failed: Option<&str>) -> pages::HtmlPage {
    let code = if code.is_empty() { String::new() } else { device_codes::display(code) };
    let proof = csrf::proof(&session.secret, Purpose::Device, "");
    pages::device(&code, &proof, failed)
}

/// Shows the form again, after a code that no device shows.
fn unknown_code_page(session: &Session, code: &str) -> Response {
    RefusedForm(question(session, code, Some("There is no such code, or it has expired."))).into_response()
}

fn login_page(identity: &Identity, headers: &HeaderMap, code: &str) -> pages::HtmlPage {
    let login =
        pages::LoginPage { application: None, purpose: Purpose::DeviceLogin, request: code, email: "" };
    login::page(identity, headers, &login)
}
