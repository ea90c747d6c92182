//! `POST /auth/login` and `/auth/logout`: start and end of a browser session.

use std::{net::IpAddr, sync::Arc};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, header},
    response::{IntoResponse, Redirect, Response},
};
use chrono::{DateTime, Utc};
use url::form_urlencoded;

use crate::{
    error::{PageError, RefusedForm},
    form::Form,
    http::{
        client_address::ClientAddress,
        csrf::{self, Purpose},
        pages,
        request::{AuthorizationRequest, ParsedRequest},
    },
    identity::{AuthenticatedLogin, Identity},
    scopes, secrets,
    tables::{
        applications, browsers,
        sessions::{self, Cookie},
    },
    throttle::Browser,
};

/// Builds the login page, with the cookie that its form has to send back.
pub fn page(identity: &Identity, headers: &HeaderMap, login: &pages::LoginPage<'_>) -> pages::HtmlPage {
    let transport = identity.settings.transport();
    let secret = Cookie::Form.read(headers, transport).unwrap_or_else(secrets::fresh);
    let proof = csrf::proof(&secret, login.purpose, login.request);
    pages::login(login, &proof, None).sets(Cookie::Form.set(&secret, transport))
}

/// `POST /auth/login`.
pub async fn login(
    State(identity): State<Arc<Identity>>,
    ClientAddress(address): ClientAddress,
    request: Request,
) -> Result<Response, PageError> {
    let headers = request.headers().clone();
    let form = Form::read(request).await?;
    let transport = identity.settings.transport();
    let secret = Cookie::Form.read(&headers, transport).ok_or(PageError::Forged)?;
    let purpose = if form.get("to") == Some(Purpose::DeviceLogin.as_str()) {
        Purpose::DeviceLogin
    } else {
        Purpose::Login
    };
    csrf::check(&identity.settings, &headers, &form, purpose, &secret)?;
    let query = form.get("request").unwrap_or_default();
    let authorization = match purpose {
        Purpose::DeviceLogin => None,
        _ => match AuthorizationRequest::read(&identity, query).await? {
            ParsedRequest::Valid(authorization) => Some(authorization),
            ParsedRequest::Refused(refusal) => return Ok(refusal.send(&identity)),
        },
    };

    let email = form.get("email").unwrap_or_default().trim();
    let password = form.get("password").unwrap_or_default();
    let Some(AuthenticatedLogin { account, at }) =
        attempt(&identity, &headers, address, (email, password)).await?
    else {
        let application = authorization.as_ref().map(|authorization| authorization.application.name.as_str());
        let login = pages::LoginPage { application, purpose, request: query, email };
        let failed = Some("The e-mail address or the password is wrong.");
        let page = pages::login(&login, &csrf::proof(&secret, purpose, query), failed);
        return Ok(RefusedForm(match &authorization {
            Some(authorization) => page.allow_redirect(&authorization.reply.redirect_uri),
            None => page,
        })
        .into_response());
    };

    let location = match authorization {
        Some(authorization) => format!("/auth/authorize?{}", after_login(authorization.form)),
        // The proof covers it, so it is a code that we wrote: only letters.
        None => format!("/auth/device?user_code={query}"),
    };
    start_session(&identity, &headers, AuthenticatedAccount { account_id: &account.id, at }, &location).await
}

/// Counts a password attempt against the rate limit and checks it; `None` where it is wrong.
pub(super) async fn attempt(
    identity: &Identity,
    headers: &HeaderMap,
    address: Option<IpAddr>,
    (email, password): (&str, &str),
) -> Result<Option<AuthenticatedLogin>, PageError> {
    let device = Cookie::Device.read(headers, identity.settings.transport());
    let browser = match &device {
        Some(device) if browsers::is_known(&identity.pool, device, email).await? => Browser::Known,
        _ => Browser::Strange,
    };
    identity.throttle.take(email, address, browser).await?;
    Ok(identity.authenticate(email, password).await?)
}

/// An account that has just authenticated, and the time at which it was read.
#[derive(Debug, Clone, Copy)]
pub struct AuthenticatedAccount<'a> {
    pub account_id: &'a str,
    pub at: DateTime<Utc>,
}

/// Starts a session of the browser, in place of any old one, and redirects it to `location`.
pub async fn start_session(
    identity: &Identity,
    headers: &HeaderMap,
    entered: AuthenticatedAccount<'_>,
    location: &str,
) -> Result<Response, PageError> {
    let transport = identity.settings.transport();
    if let Some(old) = Cookie::Session.read(headers, transport) {
        sessions::end(&identity.pool, &old).await?;
    }
    let AuthenticatedAccount { account_id, at } = entered;
    let session = sessions::begin(&identity.pool, account_id, at, identity.settings.session_lifetime).await?;
    let device = Cookie::Device.read(headers, transport).unwrap_or_else(secrets::fresh);
    browsers::keep(&identity.pool, &device, account_id).await?;
    let mut response = Redirect::to(location).into_response();
    for cookie in [
        Cookie::Session.set(&session, transport),
        Cookie::Form.clear(transport),
        Cookie::Device.set(&device, transport),
    ] {
        let cookie = HeaderValue::try_from(cookie).expect("login: cookies of ours are plain ASCII");
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    Ok(response)
}

/// Returns the request without the parts that only a login can satisfy: one has just happened.
fn after_login(mut form: Form) -> String {
    let prompt = scopes::parse(form.get("prompt").unwrap_or_default());
    let rest = prompt.iter().any(|word| word == "consent").then_some("consent");
    form.set("prompt", rest);
    form.set("max_age", None);
    form.to_query()
}

/// `GET` and `POST /auth/logout` (OpenID Connect RP-Initiated Logout).
///
/// The person is asked first, since any page can send a browser here; submitting the form ends the session.
pub async fn logout(State(identity): State<Arc<Identity>>, request: Request) -> Result<Response, PageError> {
    let headers = request.headers().clone();
    let is_answer = request.method() == Method::POST;
    let form = if is_answer {
        Form::read(request).await?
    } else {
        Form::parse(request.uri().query().unwrap_or_default().as_bytes())?
    };
    if is_answer && form.get("proof").is_some() {
        return end_session(&identity, &headers, &form).await;
    }
    let session = csrf::session(&identity.pool, &identity.settings, &headers).await?;
    let target = return_address(&identity, &form).await?;
    let Some(session) = session else {
        return Ok(match target {
            Some(target) => Redirect::to(&target).into_response(),
            None => pages::logged_out().into_response(),
        });
    };
    let request = form.to_query();
    let proof = csrf::proof(&session.secret, Purpose::Logout, &request);
    let page = pages::logout(&session.person, &request, &proof);
    Ok(match &target {
        Some(target) => page.allow_redirect(target).into_response(),
        None => page.into_response(),
    })
}

async fn end_session(identity: &Identity, headers: &HeaderMap, form: &Form) -> Result<Response, PageError> {
    let session =
        csrf::session(&identity.pool, &identity.settings, headers).await?.ok_or(PageError::Forged)?;
    csrf::check(&identity.settings, headers, form, Purpose::Logout, &session.secret)?;
    sessions::end(&identity.pool, &session.secret).await?;
    tracing::info!(target: "audit", { account.id = session.person.account_id }, "a person logged out");
    let request_form = Form::parse(form.get("request").unwrap_or_default().as_bytes())?;
    let mut response = match return_address(identity, &request_form).await? {
        Some(target) => Redirect::to(&target).into_response(),
        None => pages::logged_out().into_response(),
    };
    let cookie = Cookie::Session.clear(identity.settings.transport());
    let cookie = HeaderValue::try_from(cookie).expect("logout: cookies of ours are plain ASCII");
    response.headers_mut().append(header::SET_COOKIE, cookie);
    Ok(response)
}

/// Returns the application's address to redirect to after the logout, if the application and the address are
/// registered.
async fn return_address(identity: &Identity, form: &Form) -> Result<Option<String>, PageError> {
    let Some(address) = form.get("post_logout_redirect_uri") else { return Ok(None) };
    let refused =
        PageError::BadRequest("The application asks to send you to an address that is not its own.");
    let hint = match form.get("id_token_hint") {
        Some(token) => identity.keys.read_hint(token).await?,
        None => None,
    };
    let named = form.get("client_id");
    let client_id = match (named, &hint) {
        (Some(named), Some(hint)) if named != hint.aud => return Err(refused),
        (Some(named), _) => named,
        (None, Some(hint)) => &hint.aud,
        (None, None) => return Err(refused),
    };
    let application = applications::find(&identity.pool, client_id).await?;
    if !application.is_some_and(|application| application.allows_logout_redirect_to(address)) {
        return Err(refused);
    }
    let Some(state) = form.get("state") else { return Ok(Some(address.to_owned())) };
    let join = if address.contains('?') { '&' } else { '?' };
    let state = form_urlencoded::Serializer::new(String::new()).append_pair("state", state).finish();
    Ok(Some(format!("{address}{join}{state}")))
}
