//! Who is logged in, in which browser: a cookie that holds a secret, and a row that holds its hash.
//!
//! A login always makes a new secret, so that one which somebody planted before is worth nothing.

use std::time::Duration;

use axum::http::{HeaderMap, header};
use chrono::{DateTime, Utc};
use sqlx::{FromRow, PgPool};

use super::secrets;

/// A person who is logged in.
#[derive(Debug)]
pub struct Session {
    /// The value of the cookie.
    pub secret: String,
    pub person: Person,
}

/// What of the account the pages and the tokens need.
#[derive(Debug, FromRow)]
pub struct Person {
    pub account_id: String,
    pub email: String,
    pub name: String,
    pub scopes: Vec<String>,
    pub authenticated_at: DateTime<Utc>,
}

/// The cookies of the pages. Over TLS their names tell the browser to take them from this very host alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    Tls,
    Plain,
}

/// What a cookie is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cookie {
    /// The login.
    Session,
    /// The form that leads to one.
    Form,
}

impl Cookie {
    fn name(self, transport: Transport) -> &'static str {
        match (self, transport) {
            (Self::Session, Transport::Tls) => "__Host-retort_session",
            (Self::Session, Transport::Plain) => "retort_session",
            (Self::Form, Transport::Tls) => "__Host-retort_form",
            (Self::Form, Transport::Plain) => "retort_form",
        }
    }

    /// The secret in the cookie, if there is exactly one and it could be ours.
    pub fn read(self, headers: &HeaderMap, transport: Transport) -> Option<String> {
        let name = self.name(transport);
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let mut values = pairs.filter(|(other, _)| *other == name).map(|(_, value)| value);
        match (values.next(), values.next()) {
            (Some(value), None) if secrets::is_wellformed(value) => Some(value.to_owned()),
            _ => None,
        }
    }

    /// The header's value that sets the cookie until the browser ends.
    pub fn set(self, secret: &str, transport: Transport) -> String {
        self.with(secret, transport, "")
    }

    /// The header's value that ends the cookie.
    pub fn clear(self, transport: Transport) -> String {
        self.with("", transport, "; Max-Age=0")
    }

    fn with(self, value: &str, transport: Transport, more: &str) -> String {
        let secure = if transport == Transport::Tls { "; Secure" } else { "" };
        format!("{}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{more}", self.name(transport))
    }
}

/// The session of `secret`, if it has not ended and its account is not disabled.
pub async fn find(pool: &PgPool, secret: String) -> Result<Option<Session>, sqlx::Error> {
    let person = sqlx::query_as(
        "select accounts.id as account_id, email, name, scopes, authenticated_at \
         from browser_sessions join accounts on accounts.id = account_id \
         where secret_hash = $1 and expires_at > now() and disabled_at is null",
    )
    .bind(secrets::hash(&secret))
    .fetch_optional(pool)
    .await?;
    Ok(person.map(|person| Session { secret, person }))
}

/// Begins a session, and forgets those that ran out; returns its secret.
pub async fn begin(pool: &PgPool, account_id: &str, lifetime: Duration) -> Result<String, sqlx::Error> {
    sqlx::query("delete from browser_sessions where account_id = $1 and expires_at < now()")
        .bind(account_id)
        .execute(pool)
        .await?;
    let secret = secrets::fresh();
    sqlx::query(
        "insert into browser_sessions (secret_hash, account_id, expires_at) \
         values ($1, $2, now() + make_interval(secs => $3))",
    )
    .bind(secrets::hash(&secret))
    .bind(account_id)
    .bind(lifetime.as_secs_f64())
    .execute(pool)
    .await?;
    Ok(secret)
}

/// Ends the session of `secret`.
pub async fn end(pool: &PgPool, secret: &str) -> Result<(), sqlx::Error> {
    sqlx::query("delete from browser_sessions where secret_hash = $1")
        .bind(secrets::hash(secret))
        .execute(pool)
        .await?;
    Ok(())
}
