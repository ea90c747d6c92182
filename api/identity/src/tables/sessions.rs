//! Browser sessions: a cookie holds a secret, and a row holds its hash.
//!
//! A login always makes a new secret, so that one which an attacker planted before is worthless (session fixation).

use std::time::Duration;

use axum::http::{HeaderMap, header};
use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool};

use crate::{secrets, settings::Transport, tables::browsers};

/// A logged-in person.
#[derive(Debug)]
pub struct Session {
    /// The value of the cookie.
    pub secret: String,
    pub person: SessionAccount,
}

/// Part of the account that pages and tokens need.
#[derive(Debug)]
pub struct SessionAccount {
    pub account_id: String,
    pub email: String,
    pub name: String,
    pub scopes: Vec<String>,
    pub authenticated_at: DateTime<Utc>,
}

/// Purpose of a cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cookie {
    /// Login session.
    Session,
    /// Form that leads to a login.
    Form,
    /// Mark of a browser that has logged in before; lasts half a year.
    Device,
}

impl Cookie {
    fn name(self, transport: Transport) -> &'static str {
        match (self, transport) {
            (Self::Session, Transport::Tls) => "__Host-retort_session",
            (Self::Session, Transport::Plain) => "retort_session",
            (Self::Form, Transport::Tls) => "__Host-retort_form",
            (Self::Form, Transport::Plain) => "retort_form",
            (Self::Device, Transport::Tls) => "__Host-retort_device",
            (Self::Device, Transport::Plain) => "retort_device",
        }
    }

    /// Returns the secret in the cookie, if there is exactly one and it has the form of ours.
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

    /// Builds the header value that sets the cookie, until the browser closes or for as long as the device is
    /// remembered.
    pub fn set(self, secret: &str, transport: Transport) -> String {
        match self {
            Self::Session | Self::Form => self.with(secret, transport, ""),
            Self::Device => {
                self.with(secret, transport, &format!("; Max-Age={}", browsers::KNOWN_DAYS * 24 * 3600))
            }
        }
    }

    /// Builds the header value that clears the cookie.
    pub fn clear(self, transport: Transport) -> String {
        self.with("", transport, "; Max-Age=0")
    }

    fn with(self, value: &str, transport: Transport, more: &str) -> String {
        let secure = if transport == Transport::Tls { "; Secure" } else { "" };
        format!("{}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{more}", self.name(transport))
    }
}

/// Returns the session of `secret`, unless it has expired or the credential that opened the account has ended.
pub async fn find(pool: &PgPool, secret: String) -> Result<Option<Session>, sqlx::Error> {
    let person = sqlx::query_as!(
        SessionAccount,
        "select accounts.id as account_id, email, name, scopes, authenticated_at \
         from browser_sessions join accounts on accounts.id = account_id \
         where secret_hash = $1 and expires_at > now() and disabled_at is null \
         and authenticated_at >= coalesce(tokens_from, '-infinity')",
        secrets::hash(&secret)
    )
    .fetch_optional(pool)
    .await?;
    Ok(person.map(|person| Session { secret, person }))
}

/// Begins a session for a login at the given time; returns its secret.
pub async fn begin(
    pool: &PgPool,
    account_id: &str,
    authenticated_at: DateTime<Utc>,
    lifetime: Duration,
) -> Result<String, sqlx::Error> {
    let secret = secrets::fresh();
    sqlx::query!(
        "insert into browser_sessions (secret_hash, account_id, authenticated_at, expires_at) \
         values ($1, $2, $3, now() + make_interval(secs => $4))",
        secrets::hash(&secret),
        account_id,
        authenticated_at,
        lifetime.as_secs_f64()
    )
    .execute(pool)
    .await?;
    Ok(secret)
}

/// Ends the session of `secret`.
pub async fn end(pool: &PgPool, secret: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("delete from browser_sessions where secret_hash = $1", secrets::hash(secret))
        .execute(pool)
        .await?;
    Ok(())
}

/// Returns the public id of the session of `secret`: half of the stored hash, which grants nothing.
pub fn id(secret: &str) -> String {
    secrets::hash(secret).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// A session as its owner sees it.
#[derive(Debug)]
pub struct SessionEntry {
    /// Id as made by [`id`].
    pub id: String,
    pub authenticated_at: DateTime<Utc>,
}

/// Lists the sessions of an account, the newest first.
pub async fn list(pool: &PgPool, account_id: &str) -> Result<Vec<SessionEntry>, sqlx::Error> {
    sqlx::query_as!(
        SessionEntry,
        r#"select encode(substring(secret_hash for 16), 'hex') as "id!", authenticated_at from browser_sessions
        where account_id = $1 and expires_at > now() order by authenticated_at desc"#,
        account_id
    )
    .fetch_all(pool)
    .await
}

/// Ends the session `id` of the account.
pub async fn end_of(connection: &mut PgConnection, account_id: &str, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from browser_sessions where account_id = $1 and encode(substring(secret_hash for 16), 'hex') = $2",
        account_id,
        id
    )
    .execute(connection)
    .await
    .map(drop)
}

/// Ends every session of an account.
pub async fn end_account(connection: &mut PgConnection, account_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("delete from browser_sessions where account_id = $1", account_id)
        .execute(connection)
        .await
        .map(drop)
}

/// Deletes expired sessions.
pub(crate) async fn sweep(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let swept = sqlx::query!("delete from browser_sessions where expires_at < now()").execute(pool).await?;
    Ok(swept.rows_affected())
}
