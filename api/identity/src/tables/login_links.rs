//! Links that log somebody in: good once, for some minutes, made by an operator for an account.
//!
//! Whoever has the link is the account, so a link is a secret of its own that is kept as a hash, ends with what else opens the account, and
//! is spent by the first who follows it. A spent one is remembered for a day: who comes second is told that somebody came first.

use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool};

use crate::secrets;

/// How long a link is remembered once its time is over.
const REMEMBERED: Duration = Duration::from_secs(24 * 3600);

/// Makes a link for the account; its secret.
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

/// How a link stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It logs the account of this address in.
    Good {
        /// The account's address.
        email: String,
    },
    /// Somebody has followed it.
    Spent,
    /// Its time is over.
    Late,
    /// There is none, or what it opened has ended.
    Unknown,
}

/// How the link with `secret` stands.
pub async fn standing(pool: &PgPool, secret: &str) -> Result<Standing, sqlx::Error> {
    let found = sqlx::query!(
        r#"select email, used_at is not null as "is_spent!", expires_at <= now() as "is_late!"
        from login_links join accounts on accounts.id = account_id
        where secret_hash = $1 and disabled_at is null and login_links.created_at >= coalesce(tokens_from, '-infinity')"#,
        secrets::hash(secret)
    )
    .fetch_optional(pool)
    .await?;
    Ok(match found {
        None => Standing::Unknown,
        Some(link) if link.is_spent => Standing::Spent,
        Some(link) if link.is_late => Standing::Late,
        Some(link) => Standing::Good { email: link.email },
    })
}

/// Who follows a link, and when.
#[derive(Debug)]
pub struct Follower {
    /// The account.
    pub account_id: String,
    /// By the database's clock.
    pub at: DateTime<Utc>,
}

/// Spends the link with `secret`; `None` where it is good no more.
pub async fn follow(pool: &PgPool, secret: &str) -> Result<Option<Follower>, sqlx::Error> {
    sqlx::query_as!(
        Follower,
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

/// Forgets links whose time was over long ago.
pub(crate) async fn sweep(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let swept = sqlx::query!(
        "delete from login_links where expires_at < now() - make_interval(secs => $1)",
        REMEMBERED.as_secs_f64()
    )
    .execute(pool)
    .await?;
    Ok(swept.rows_affected())
}
