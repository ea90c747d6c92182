//! Whether a form was sent from our own page, by the browser that we gave it to.
//!
//! A form carries a proof: an HMAC, keyed with a secret of the browser's cookie, over what the form is for
//! and the request in it. A stranger's page can make the browser send the cookie, but cannot know the proof;
//! and a proof for one request is none for another. What the browser itself says of the origin is checked
//! too, where it says something.

use axum::http::{HeaderMap, header};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use sqlx::PgPool;

use crate::{
    form::Form,
    settings::Settings,
    tables::sessions::{self, Cookie, Session},
};

/// What a form is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Login,
    /// A login on the way to [`Purpose::Device`].
    DeviceLogin,
    /// A link that logs somebody in.
    Link,
    Consent,
    Logout,
    /// A login of the person's that ends.
    Account,
    /// A token for scripts that is made.
    Token,
    /// The code that a device shows.
    Device,
    /// Whether that device may in.
    DeviceDecision,
}

impl Purpose {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Login => "login",
            Self::DeviceLogin => "device-login",
            Self::Link => "link",
            Self::Consent => "consent",
            Self::Account => "account",
            Self::Token => "token",
            Self::Logout => "logout",
            Self::Device => "device",
            Self::DeviceDecision => "device-decision",
        }
    }
}

/// The proof for a form with `request` in a browser with `secret`.
pub fn proof(secret: &str, purpose: Purpose, request: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("csrf: any length is a key");
    mac.update(purpose.as_str().as_bytes());
    mac.update(b"\0");
    mac.update(request.as_bytes());
    URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
}

/// A form that is not from our own page, or from one that is too old.
#[derive(Debug)]
pub struct Forged;

/// Refuses a form that is not from our own page.
pub fn check(
    settings: &Settings,
    headers: &HeaderMap,
    form: &Form,
    purpose: Purpose,
    secret: &str,
) -> Result<(), Forged> {
    let expected = proof(secret, purpose, form.get("request").unwrap_or_default());
    let presented = form.get("proof").unwrap_or_default();
    let proven: bool = expected.as_bytes().ct_eq(presented.as_bytes()).into();
    if proven && is_from_here(settings, headers) { Ok(()) } else { Err(Forged) }
}

/// The session of the browser, if it has one.
pub async fn session(
    pool: &PgPool,
    settings: &Settings,
    headers: &HeaderMap,
) -> Result<Option<Session>, sqlx::Error> {
    match Cookie::Session.read(headers, settings.transport()) {
        Some(secret) => sessions::find(pool, secret).await,
        None => Ok(None),
    }
}

/// What the browser says of where the form comes from, if it says anything.
fn is_from_here(settings: &Settings, headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    if let Some(site) = text("sec-fetch-site") {
        return site == "same-origin";
    }
    text(header::ORIGIN.as_str()).is_none_or(|origin| origin == settings.public_url)
}
