//! The applications table, as the API reads it; `retort app` writes it.
//!
//! A redirect address counts only when it is, byte for byte, one that was registered. The one exception is
//! the port of a loopback address, which a program on the person's machine cannot choose beforehand
//! (RFC 8252, section 7.3). Nothing is parsed, so there are no two parsers to disagree.

use axum::http::{HeaderMap, header};
use base64::{Engine, engine::general_purpose::STANDARD};
use contract::Flow;
use sqlx::{FromRow, PgPool};
use subtle::ConstantTimeEq;
use url::form_urlencoded;

use super::{form::Form, secrets};
use crate::error::{ClientProof, TokenError};

/// A registered application.
#[derive(Debug, Clone, FromRow)]
pub struct Application {
    pub client_id: String,
    pub name: String,
    secret_hash: Option<Vec<u8>>,
    redirect_uris: Vec<String>,
    logout_uris: Vec<String>,
    flows: Vec<String>,
    pub scopes: Vec<String>,
}

/// Whether an application can keep a secret (RFC 6749, section 2.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Public,
    Confidential,
}

impl Application {
    pub fn kind(&self) -> Kind {
        if self.secret_hash.is_some() { Kind::Confidential } else { Kind::Public }
    }

    pub fn allows(&self, flow: Flow) -> bool {
        self.flows.iter().any(|allowed| allowed == flow.as_str())
    }

    /// Whether answers may be sent to `address`.
    pub fn redirects_to(&self, address: &str) -> bool {
        self.redirect_uris.iter().any(|registered| is_same_address(registered, address))
    }

    /// Whether a browser may be sent to `address` after a logout.
    pub fn returns_to(&self, address: &str) -> bool {
        self.logout_uris.iter().any(|registered| registered == address)
    }

    /// Whether whoever gets an answer at `address` is this application and no other: then a person who
    /// agreed once need not be asked again. Any program can listen on a loopback port or claim a scheme.
    pub fn is_certain_at(&self, address: &str) -> bool {
        self.kind() == Kind::Confidential || address.starts_with("https://")
    }
}

pub async fn find(pool: &PgPool, client_id: &str) -> Result<Option<Application>, sqlx::Error> {
    sqlx::query_as(
        "select client_id, name, secret_hash, redirect_uris, logout_uris, flows, scopes \
         from applications where client_id = $1",
    )
    .bind(client_id)
    .fetch_optional(pool)
    .await
}

/// The application that makes the request, proven by its secret if it has one (RFC 6749, section 2.3).
pub async fn authenticate(
    pool: &PgPool,
    headers: &HeaderMap,
    form: &Form,
) -> Result<Application, TokenError> {
    let (client_id, secret, proof) = credentials(headers, form)?;
    let refused = TokenError::InvalidClient(proof);
    let Some(application) = find(pool, &client_id).await? else { return Err(refused) };
    let proven = match (&application.secret_hash, secret) {
        (None, None) => true,
        (Some(hash), Some(secret)) => secrets::hash(&secret).ct_eq(hash).into(),
        _ => false,
    };
    if !proven {
        tracing::warn!(target: "audit", client_id, "an application failed to prove itself");
        return Err(refused);
    }
    Ok(application)
}

/// Name and secret, from the header or the form; never from both.
fn credentials(
    headers: &HeaderMap,
    form: &Form,
) -> Result<(String, Option<String>, ClientProof), TokenError> {
    let (id, secret) = (form.get("client_id"), form.get("client_secret"));
    let Some(header) = headers.get(header::AUTHORIZATION) else {
        let id = id.ok_or(TokenError::InvalidRequest("a parameter is missing"))?;
        return Ok((id.to_owned(), secret.map(str::to_owned), ClientProof::Form));
    };
    let refused = || TokenError::InvalidClient(ClientProof::Header);
    let (name, password) = header.to_str().ok().and_then(basic).ok_or_else(refused)?;
    if secret.is_some() || id.is_some_and(|id| id != name) {
        return Err(TokenError::InvalidRequest("the application names itself in two ways"));
    }
    Ok((name, Some(password), ClientProof::Header))
}

/// Both halves are form-encoded before they are joined (RFC 6749, section 2.3.1).
fn basic(header: &str) -> Option<(String, String)> {
    let (scheme, encoded) = header.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (name, password) = text.split_once(':')?;
    let decode = |text: &str| {
        // Parsed as the value of an empty name; what would end it is escaped where the encoding was right.
        let value = format!("={}", text.replace('&', "%26"));
        form_urlencoded::parse(value.as_bytes()).next().map(|(_, value)| value.into_owned())
    };
    let (name, password) = (decode(name)?, decode(password)?);
    // PostgreSQL cannot be asked for a NUL character.
    (!name.contains('\0')).then_some((name, password))
}

fn is_same_address(registered: &str, address: &str) -> bool {
    registered == address
        || ["http://127.0.0.1", "http://[::1]"].iter().any(|host| {
            let path = registered.strip_prefix(host).filter(|path| path.starts_with('/'));
            path.is_some() && address.strip_prefix(host).and_then(after_port) == path
        })
}

/// What follows `:PORT`.
fn after_port(text: &str) -> Option<&str> {
    let text = text.strip_prefix(':')?;
    let path = text.find('/')?;
    let (port, path) = text.split_at(path);
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok();
    is_port.then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_the_registered_one_or_another_port_of_loopback() {
        let cases = [
            ("https://app.test/cb", "https://app.test/cb", true),
            ("https://app.test/cb", "https://app.test/cb/", false),
            ("https://app.test/cb", "https://app.test/CB", false),
            ("https://app.test/cb", "https://app.test:443/cb", false),
            ("https://app.test/cb", "https://app.test/cb?x=1", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:49152/cb", true),
            ("http://[::1]/cb", "http://[::1]:49152/cb", true),
            ("http://127.0.0.1/cb", "http://127.0.0.1:/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:80@evil.test/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1.evil.test/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:99999/cb", false),
            ("http://127.0.0.1/cb", "https://127.0.0.1:49152/cb", false),
            ("http://127.0.0.1:80/cb", "http://127.0.0.1:81/cb", false),
            ("http://localhost/cb", "http://localhost:81/cb", false),
        ];
        for (registered, address, same) in cases {
            assert_eq!(is_same_address(registered, address), same, "{registered} {address}");
        }
    }

    #[test]
    fn basic_credentials_are_form_encoded_before_they_are_joined() {
        let header = format!("Basic {}", STANDARD.encode("app%3A1:p%26q+r"));

        assert_eq!(basic(&header), Some(("app:1".to_owned(), "p&q r".to_owned())));
        assert_eq!(basic("Basic !"), None);
        assert_eq!(basic("Bearer eyJ"), None);
    }
}
