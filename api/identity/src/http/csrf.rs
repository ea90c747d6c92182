//! CSRF protection: a form must come from our own page, in the browser that received it.
//!
//! A form carries a proof: an HMAC, keyed with a secret in the browser's cookie, over the purpose of the form and the
//! request in it. A foreign page can make the browser send the cookie, but cannot know the proof; and a proof for one
//! request is invalid for another. The browser's own headers about the origin are checked too, where it sends them.

use axum::http::{HeaderMap, header};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use sqlx::PgPool;

use crate::{
    form::Form,
    settings::IdentitySettings,
    tables::sessions::{self, Cookie, Session},
};

/// Purpose of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Login,
    /// A login that leads to [`Purpose::Device`].
    DeviceLogin,
    /// A login by link.
    Link,
    Consent,
    Logout,
    /// The end of one of the person's logins.
    Account,
    /// A new script token.
    Token,
    /// The user code that a device shows.
    Device,
    /// Approval or refusal of that device.
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

/// Computes the proof for a form with `request` in a browser with `secret`.
pub fn proof(secret: &str, purpose: Purpose, request: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).expect("csrf: any length is a key");
    mac.update(purpose.as_str().as_bytes());
    mac.update(b"\0");
    mac.update(request.as_bytes());
    URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes())
}

/// Error for a form that is not from our own page, or from one that is too old.
#[derive(Debug)]
pub struct Forged;

/// Rejects a form that is not from our own page.
pub fn check(
    settings: &IdentitySettings,
    headers: &HeaderMap,
    form: &Form,
    purpose: Purpose,
    secret: &str,
) -> Result<(), Forged> {
    let expected = proof(secret, purpose, form.get("request").unwrap_or_default());
    let presented = form.get("proof").unwrap_or_default();
    let proven: bool = expected.as_bytes().ct_eq(presented.as_bytes()).into();
    if proven && is_same_origin(settings, headers) { Ok(()) } else { Err(Forged) }
}

/// Returns the session of the browser, if it has one.
pub async fn session(
    pool: &PgPool,
    settings: &IdentitySettings,
    headers: &HeaderMap,
) -> Result<Option<Session>, sqlx::Error> {
    match Cookie::Session.read(headers, settings.transport()) {
        Some(secret) => sessions::find(pool, secret).await,
        None => Ok(None),
    }
}

/// Returns true unless the browser's headers say that the form comes from elsewhere.
fn is_same_origin(settings: &IdentitySettings, headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    if let Some(site) = text("sec-fetch-site") {
        return site == "same-origin";
    }
    text(header::ORIGIN.as_str()).is_none_or(|origin| origin == settings.public_url)
}
