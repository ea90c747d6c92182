//! Refresh tokens: rotated at each use, and a family ended when a used one comes back.
//!
//! Only the hash of a token is stored. A family begins at a login or with a code; whoever presents a token that was used already holds a stolen or a leaked one, and we
//! cannot know which of the two holders is the thief, so both lose it (RFC 9700, section 4.14.2).

use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::{FromRow, PgConnection, PgPool};

use super::{revocations, secrets};

/// Whom a refresh token speaks for.
#[derive(Debug, FromRow)]
pub struct Grant {
    pub family: String,
    pub account_id: String,
    pub client_id: String,
    pub scopes: Vec<String>,
}

/// What became of a refresh token.
pub enum Used {
    /// It was good and is spent now; the next one of its family is `token`.
    Rotated { grant: Grant, token: String },
    /// It is unknown, expired, spent, or its account is disabled; if spent, its family is gone.
    Refused,
}

/// Issues the first refresh token of the grant's family, and forgets the account's expired ones.
pub async fn begin(
    connection: &mut PgConnection,
    grant: &Grant,
    lifetime: Duration,
) -> Result<String, sqlx::Error> {
    sqlx::query("delete from refresh_tokens where account_id = $1 and expires_at < now()")
        .bind(&grant.account_id)
        .execute(&mut *connection)
        .await?;
    insert(connection, grant, lifetime).await
}

/// Ends a family: its refresh tokens, and the access tokens that it has bought.
pub async fn end(connection: &mut PgConnection, family: &str) -> Result<(), sqlx::Error> {
    sqlx::query("delete from refresh_tokens where family = $1")
        .bind(family)
        .execute(&mut *connection)
        .await?;
    revocations::add(connection, family).await
}

/// The family of `token`, if the application holds it.
pub async fn family(pool: &PgPool, token: &str, client_id: &str) -> Result<Option<String>, sqlx::Error> {
    let row: Option<(String,)> =
        sqlx::query_as("select family from refresh_tokens where token_hash = $1 and client_id = $2")
            .bind(secrets::hash(token))
            .bind(client_id)
            .fetch_optional(pool)
            .await?;
    Ok(row.map(|(family,)| family))
}

/// A refresh token as its application may see it (RFC 7662).
#[derive(Debug, FromRow)]
pub struct Described {
    pub account_id: String,
    pub scopes: Vec<String>,
    pub expires_at: DateTime<Utc>,
    pub created_at: DateTime<Utc>,
}

/// The refresh token, if it could be used now by the application.
pub async fn describe(pool: &PgPool, token: &str, client_id: &str) -> Result<Option<Described>, sqlx::Error> {
    sqlx::query_as(
        "select account_id, refresh_tokens.scopes, expires_at, refresh_tokens.created_at \
         from refresh_tokens join accounts on accounts.id = account_id \
         where token_hash = $1 and client_id = $2 and used_at is null and expires_at > now() \
         and disabled_at is null",
    )
    .bind(secrets::hash(token))
    .bind(client_id)
    .fetch_optional(pool)
    .await
}

/// The scopes of `token`, if there is such a one.
pub async fn scopes(pool: &PgPool, token: &str) -> Result<Option<Vec<String>>, sqlx::Error> {
    let row: Option<(Vec<String>,)> =
        sqlx::query_as("select scopes from refresh_tokens where token_hash = $1")
            .bind(secrets::hash(token))
            .fetch_optional(pool)
            .await?;
    Ok(row.map(|(scopes,)| scopes))
}

/// Spends `token`, which `client_id` presents, and issues its successor.
pub async fn rotate(
    pool: &PgPool,
    token: &str,
    client_id: &str,
    lifetime: Duration,
) -> Result<Used, sqlx::Error> {
    let hash = secrets::hash(token);
    let mut transaction = pool.begin().await?;
    let spent: Option<Grant> = sqlx::query_as(
        "update refresh_tokens set used_at = now() \
         where token_hash = $1 and client_id = $2 and used_at is null and expires_at > now() \
         and exists (select from accounts where id = account_id and disabled_at is null) \
         returning family, account_id, client_id, scopes",
    )
    .bind(&hash)
    .bind(client_id)
    .fetch_optional(&mut *transaction)
    .await?;
    let used = match spent {
        Some(grant) => {
            let token = insert(&mut transaction, &grant, lifetime).await?;
            Used::Rotated { grant, token }
        }
        None => {
            if let Some(family) = spent_family(&mut transaction, &hash).await? {
                tracing::warn!(target: "audit", family, "a spent refresh token came back; its family is revoked");
                end(&mut transaction, &family).await?;
            }
            Used::Refused
        }
    };
    transaction.commit().await?;
    Ok(used)
}

async fn spent_family(
    connection: &mut PgConnection,
    token_hash: &[u8],
) -> Result<Option<String>, sqlx::Error> {
    let row: Option<(String,)> =
        sqlx::query_as("select family from refresh_tokens where token_hash = $1 and used_at is not null")
            .bind(token_hash)
            .fetch_optional(connection)
            .await?;
    Ok(row.map(|(family,)| family))
}

async fn insert(
    connection: &mut PgConnection,
    grant: &Grant,
    lifetime: Duration,
) -> Result<String, sqlx::Error> {
    let token = secrets::fresh();
    sqlx::query(
        "insert into refresh_tokens (token_hash, family, account_id, client_id, scopes, expires_at) \
         values ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))",
    )
    .bind(secrets::hash(&token))
    .bind(&grant.family)
    .bind(&grant.account_id)
    .bind(&grant.client_id)
    .bind(&grant.scopes)
    .bind(lifetime.as_secs_f64())
    .execute(connection)
    .await?;
    Ok(token)
}
