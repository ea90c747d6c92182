//! `/auth/link`: a link that logs a person in, once.
//!
//! Opening the link changes nothing, since mail programs and chats open every link. The page names the account that
//! would be logged in, since anybody can send a link to their own account. Submitting the form uses the link up. The
//! page links nowhere else, and its referrer policy hides the address from other sites.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    http::header,
    response::{IntoResponse, Response},
};

use crate::{
    error::PageError,
    form::Form,
    http::{
        client_address::ClientAddress,
        csrf::{self, Purpose},
        login::{self, AuthenticatedAccount},
        pages,
    },
    identity::Identity,
    secrets,
    tables::{
        login_links::{self, LinkState},
        sessions::Cookie,
    },
};

/// Start page after a login by link.
const HOME: &str = "/";

/// `GET /auth/link`: asks whether to log in.
pub async fn ask(
    State(identity): State<Arc<Identity>>,
    ClientAddress(address): ClientAddress,
    request: Request,
) -> Result<Response, PageError> {
    let query = Form::parse(request.uri().query().unwrap_or_default().as_bytes())?;
    let code = query.get("code").unwrap_or_default();
    identity.throttle.take_address(address).await?;
    let state = read_state(&identity, code).await?;
    let LinkState::Good { email } = state else { return Err(refusal(&state)) };
    let transport = identity.settings.transport();
    let secret = Cookie::Form.read(request.headers(), transport).unwrap_or_else(secrets::fresh);
    let proof = csrf::proof(&secret, Purpose::Link, code);
    let page = pages::link(&email, code, &proof).sets(Cookie::Form.set(&secret, transport));
    Ok(([(header::CACHE_CONTROL, "no-store")], page).into_response())
}

/// `POST /auth/link`: logs in.
pub async fn follow(
    State(identity): State<Arc<Identity>>,
    ClientAddress(address): ClientAddress,
    request: Request,
) -> Result<Response, PageError> {
    let headers = request.headers().clone();
    let form = Form::read(request).await?;
    let transport = identity.settings.transport();
    let secret = Cookie::Form.read(&headers, transport).ok_or(PageError::Forged)?;
    csrf::check(&identity.settings, &headers, &form, Purpose::Link, &secret)?;
    identity.throttle.take_address(address).await?;
    let code = form.get("request").unwrap_or_default();
    let Some(follower) = login_links::follow(&identity.pool, code).await? else {
        return Err(refusal(&read_state(&identity, code).await?));
    };
    tracing::info!(target: "audit", { account.id = follower.account_id }, "a person logged in by a link");
    let entered = AuthenticatedAccount { account_id: &follower.account_id, at: follower.at };
    login::start_session(&identity, &headers, entered, HOME).await
}

async fn read_state(identity: &Identity, code: &str) -> Result<LinkState, sqlx::Error> {
    if secrets::is_wellformed(code) {
        login_links::state(&identity.pool, code).await
    } else {
        Ok(LinkState::Unknown)
    }
}

fn refusal(state: &LinkState) -> PageError {
    PageError::BadRequest(match state {
        LinkState::Spent => "This link has been used. A link logs in once: an operator can make another.",
        LinkState::Late => "This link is too old. A link is valid for minutes: an operator can make another.",
        LinkState::Good { .. } | LinkState::Unknown => {
            "This link is not valid. Was it copied whole? An operator can make another."
        }
    })
}
