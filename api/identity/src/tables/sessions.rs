//! Who is logged in, in which browser: a cookie that holds a secret, and a row that holds its hash.
//!
//! A login always makes a new secret, so that one which somebody planted before is worth nothing.

use std::time::Duration;

use axum::http::{HeaderMap, header};
use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool};

use crate::{secrets, settings::Transport, tables::browsers};

/// A person who is logged in.
#[derive(Debug)]
pub struct Session {
    /// The value of the cookie.
    pub secret: String,
    pub person: Person,
}

/// What of the account the pages and the tokens need.
#[derive(Debug)]
pub struct Person {
    pub account_id: String,
    pub email: String,
    pub name: String,
    pub scopes: Vec<String>,
    pub authenticated_at: DateTime<Utc>,
}

/// What a cookie is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cookie {
    /// The login.
    Session,
    /// The form that leads to one.
    Form,
    /// Who has logged in here before, for half a year.
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

    /// The header's value that sets the cookie, until the browser ends or for as long as it is known.
    pub fn set(self, secret: &str, transport: Transport) -> String {
        match self {
            Self::Session | Self::Form => self.with(secret, transport, ""),
            Self::Device => {
                self.with(secret, transport, &format!("; Max-Age={}", browsers::DAYS * 24 * 3600))
            }
        }
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

/// The session of `secret`, if it has not ended, by itself or with what the account could be opened by.
pub async fn find(pool: &PgPool, secret: String) -> Result<Option<Session>, sqlx::Error> {
    let person = sqlx::query_as!(
        Person,
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

/// Begins a session of whoever logged in then; returns its secret.
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

/// What the session of `secret` is called where its person sees it: half of what is stored of the secret, which opens nothing.
pub fn id(secret: &str) -> String {
    secrets::hash(secret).iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// A session as its person sees it.
#[derive(Debug)]
pub struct Listed {
    /// As [`id`] says.
    pub id: String,
    pub authenticated_at: DateTime<Utc>,
}

/// The sessions of an account, the youngest first.
pub async fn list(pool: &PgPool, account_id: &str) -> Result<Vec<Listed>, sqlx::Error> {
    sqlx::query_as!(
        Listed,
        r#"select encode(substring(secret_hash for 16), 'hex') as "id!", authenticated_at from browser_sessions
        where account_id = $1 and expires_at > now() order by authenticated_at desc"#,
        account_id
    )
    .fetch_all(pool)
    .await
}

/// Ends the session of the account that is called `id`.
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

/// Forgets sessions that have run out.
pub(crate) async fn sweep(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let swept = sqlx::query!("delete from browser_sessions where expires_at < now()").execute(pool).await?;
    Ok(swept.rows_affected())
}
