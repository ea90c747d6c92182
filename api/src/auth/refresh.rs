//! Refresh tokens: rotated at each use, and a family ended when a used one comes back.
//!
//! Only the SHA-256 of a token is stored. It is 256 random bits, so a slow hash would add nothing. A family
//! begins at a login; whoever presents a token that was used already holds a stolen or a leaked one, and we
//! cannot know which of the two holders is the thief, so both lose it (RFC 9700, section 4.14.2).

use std::time::Duration;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};
use sqlx::{FromRow, PgConnection, PgPool};
use ulid::Ulid;

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

/// Begins a family, and forgets the account's expired tokens.
pub async fn begin(
    pool: &PgPool,
    account_id: &str,
    client_id: &str,
    scopes: &[String],
    lifetime: Duration,
) -> Result<String, sqlx::Error> {
    sqlx::query("delete from refresh_tokens where account_id = $1 and expires_at < now()")
        .bind(account_id)
        .execute(pool)
        .await?;
    let grant = Grant {
        family: Ulid::generate().to_string(),
        account_id: account_id.to_owned(),
        client_id: client_id.to_owned(),
        scopes: scopes.to_vec(),
    };
    insert(&mut *pool.acquire().await?, &grant, lifetime).await
}

/// The scopes of `token`, if there is such a one.
pub async fn scopes(pool: &PgPool, token: &str) -> Result<Option<Vec<String>>, sqlx::Error> {
    let row: Option<(Vec<String>,)> =
        sqlx::query_as("select scopes from refresh_tokens where token_hash = $1")
            .bind(hash(token))
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
    let hash = hash(token);
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
            let ended = sqlx::query(
                "delete from refresh_tokens where family in \
                 (select family from refresh_tokens where token_hash = $1 and used_at is not null)",
            )
            .bind(&hash)
            .execute(&mut *transaction)
            .await?;
            if ended.rows_affected() > 0 {
                tracing::warn!("a spent refresh token came back; its family is revoked");
            }
            Used::Refused
        }
    };
    transaction.commit().await?;
    Ok(used)
}

async fn insert(
    connection: &mut PgConnection,
    grant: &Grant,
    lifetime: Duration,
) -> Result<String, sqlx::Error> {
    let secret: [u8; 32] = rand::random();
    let token = URL_SAFE_NO_PAD.encode(secret);
    sqlx::query(
        "insert into refresh_tokens (token_hash, family, account_id, client_id, scopes, expires_at) \
         values ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))",
    )
    .bind(hash(&token))
    .bind(&grant.family)
    .bind(&grant.account_id)
    .bind(&grant.client_id)
    .bind(&grant.scopes)
    .bind(lifetime.as_secs_f64())
    .execute(connection)
    .await?;
    Ok(token)
}

fn hash(token: &str) -> Vec<u8> {
    Sha256::digest(token).to_vec()
}
