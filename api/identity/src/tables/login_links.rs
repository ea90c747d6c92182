//! Login links: valid once, for some minutes, made by an operator for an account.
//!
//! Anyone with the link can act as the account. So a link is a separate secret, stored as a hash; it ends with
//! everything else that gives access to the account, and its first use spends it. A used link is stored for a day, so
//! that a second user learns that somebody was first.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool};

use crate::secrets;

/// Time for which an expired link is stored.
const EXPIRED_RETENTION: Duration = Duration::from_secs(24 * 3600);

/// Makes a link for the account and returns its secret.
pub async fn issue(
    connection: &mut PgConnection,
    account_id: &str,
    lifetime: Duration,
) -> Result<String, sqlx::Error> {
    let secret = secrets::fresh();
    sqlx::query!(
        "insert into login_links (secret_hash, account_id, expires_at) values ($1, $2, now() + make_interval(secs => $3))",
        secrets::hash(&secret),
        account_id,
        lifetime.as_secs_f64()
    )
    .execute(connection)
    .await?;
    Ok(secret)
}

/// State of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkState {
    /// The link is valid and logs the account of this address in.
    Good {
        /// The account's address.
        email: String,
    },
    /// The link has been used.
    Spent,
    /// The link has expired.
    Late,
    /// The link does not exist, or the access it gave has ended.
    Unknown,
}

/// Returns the state of the link with `secret`.
pub async fn state(pool: &PgPool, secret: &str) -> Result<LinkState, sqlx::Error> {
    let row = sqlx::query!(
        r#"select email, used_at is not null as "is_spent!", expires_at <= now() as "is_late!"
        from login_links join accounts on accounts.id = account_id
        where secret_hash = $1 and disabled_at is null and login_links.created_at >= coalesce(tokens_from, '-infinity')"#,
        secrets::hash(secret)
    )
    .fetch_optional(pool)
    .await?;
    Ok(match row {
        None => LinkState::Unknown,
        Some(link) if link.is_spent => LinkState::Spent,
        Some(link) if link.is_late => LinkState::Late,
        Some(link) => LinkState::Good { email: link.email },
    })
}

/// Account logged in by a link, and the time.
#[derive(Debug)]
pub struct LinkLogin {
    /// The account.
    pub account_id: String,
    /// Time of use, by the database's clock.
    pub at: DateTime<Utc>,
}

/// Uses up the link with `secret`; `None` where it is no longer valid.
pub async fn follow(pool: &PgPool, secret: &str) -> Result<Option<LinkLogin>, sqlx::Error> {
    sqlx::query_as!(
        LinkLogin,
        r#"update login_links set used_at = clock_timestamp()
        where secret_hash = $1 and used_at is null and expires_at > now()
            and exists (
                select from accounts
                where id = account_id and disabled_at is null and login_links.created_at >= coalesce(tokens_from, '-infinity')
            )
        returning account_id, used_at as "at!""#,
        secrets::hash(secret)
    )
    .fetch_optional(pool)
    .await
}

/// Ends every link of an account.
pub async fn end_account(connection: &mut PgConnection, account_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("delete from login_links where account_id = $1", account_id)
        .execute(connection)
        .await
        .map(drop)
}

/// Deletes links that expired long ago.
pub(crate) async fn sweep(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let swept = sqlx::query!(
        "delete from login_links where expires_at < now() - make_interval(secs => $1)",
        EXPIRED_RETENTION.as_secs_f64()
    )
    .execute(pool)
    .await?;
    Ok(swept.rows_affected())
}
