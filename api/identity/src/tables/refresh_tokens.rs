//! Refresh tokens: rotated at each use; the family ends when a used one is presented again.
//!
//! Only the hash of a token is stored. A family begins at a login or with a code. A caller that presents a used token
//! holds a stolen or leaked one. We cannot know which of the two holders is the thief, so both lose access (RFC 9700,
//! section 4.14.2).

use std::time::Duration;

use chrono::{DateTime, Utc};
use sqlx::{PgConnection, PgPool};

use crate::{secrets, tables::revocations};

/// Account, application and scopes of a refresh token.
#[derive(Debug)]
pub struct Grant {
    pub family: String,
    pub account_id: String,
    pub client_id: String,
    pub scopes: Vec<String>,
    /// Time of the login that the grant comes from.
    pub authenticated_at: DateTime<Utc>,
}

/// Result of using a refresh token.
pub enum RotationResult {
    /// The token was valid and is now used up; the next one of its family is `token`.
    Rotated { grant: Grant, token: String },
    /// The token is unknown, expired or used, or its account is disabled; if it was used, its family is ended.
    Refused,
}

/// Issues the first refresh token of the grant's family.
pub async fn begin(
    connection: &mut PgConnection,
    grant: &Grant,
    lifetime: Duration,
) -> Result<String, sqlx::Error> {
    insert(connection, grant, lifetime).await
}

/// Ends a family: its refresh tokens, and the access tokens issued for them.
pub async fn end(connection: &mut PgConnection, family: &str) -> Result<(), sqlx::Error> {
    hold_family(connection, family).await?;
    sqlx::query!("delete from refresh_tokens where family = $1", family).execute(&mut *connection).await?;
    revocations::add(connection, family).await
}

/// Returns the family of `token`, if it belongs to the application.
pub async fn family(pool: &PgPool, token: &str, client_id: &str) -> Result<Option<String>, sqlx::Error> {
    sqlx::query_scalar!(
        "select family from refresh_tokens where token_hash = $1 and client_id = $2",
        secrets::hash(token),
        client_id
    )
    .fetch_optional(pool)
    .await
}

/// Description of a refresh token for its application (RFC 7662).
#[derive(Debug)]
pub struct RefreshTokenInfo {
    pub account_id: String,
    pub scopes: Vec<String>,
    pub expires_at: DateTime<Utc>,
    pub created_at: DateTime<Utc>,
}

/// Describes the refresh token, if the application could use it now.
pub async fn describe(
    pool: &PgPool,
    token: &str,
    client_id: &str,
) -> Result<Option<RefreshTokenInfo>, sqlx::Error> {
    sqlx::query_as!(
        RefreshTokenInfo,
        "select account_id, refresh_tokens.scopes, expires_at, refresh_tokens.created_at \
         from refresh_tokens join accounts on accounts.id = account_id \
         where token_hash = $1 and client_id = $2 and used_at is null and expires_at > now() \
         and disabled_at is null and authenticated_at >= coalesce(tokens_from, '-infinity')",
        secrets::hash(token),
        client_id
    )
    .fetch_optional(pool)
    .await
}

/// Returns the scopes of `token`, if it exists.
pub async fn scopes(pool: &PgPool, token: &str) -> Result<Option<Vec<String>>, sqlx::Error> {
    sqlx::query_scalar!("select scopes from refresh_tokens where token_hash = $1", secrets::hash(token))
        .fetch_optional(pool)
        .await
}

/// Uses up `token`, presented by `client_id`, and issues its successor.
pub async fn rotate(
    pool: &PgPool,
    token: &str,
    client_id: &str,
    lifetime: Duration,
) -> Result<RotationResult, sqlx::Error> {
    let hash = secrets::hash(token);
    let mut transaction = pool.begin().await?;
    let family = sqlx::query_scalar!(
        "select family from refresh_tokens where token_hash = $1 and client_id = $2",
        &hash,
        client_id
    )
    .fetch_optional(&mut *transaction)
    .await?;
    let Some(family) = family else { return Ok(RotationResult::Refused) };
    hold_family(&mut transaction, &family).await?;
    let spent = sqlx::query_as!(
        Grant,
        "update refresh_tokens set used_at = now() \
         where token_hash = $1 and used_at is null and expires_at > now() \
         and exists (select from accounts where id = account_id and disabled_at is null \
         and authenticated_at >= coalesce(tokens_from, '-infinity')) \
         and not exists (select from revocations where id in (family, client_id) and until > now()) \
         returning family, account_id, client_id, scopes, authenticated_at",
        &hash
    )
    .fetch_optional(&mut *transaction)
    .await?;
    let used = match spent {
        Some(grant) => {
            let token = insert(&mut transaction, &grant, lifetime).await?;
            RotationResult::Rotated { grant, token }
        }
        None => {
            if is_spent(&mut transaction, &hash).await? {
                tracing::warn!(target: "audit", family, "a spent refresh token came back; its family is revoked");
                end(&mut transaction, &family).await?;
            }
            RotationResult::Refused
        }
    };
    transaction.commit().await?;
    Ok(used)
}

async fn is_spent(connection: &mut PgConnection, token_hash: &[u8]) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select exists (select from refresh_tokens where token_hash = $1 and used_at is not null) as "spent!""#,
        token_hash
    )
    .fetch_one(connection)
    .await
}

/// Locks the family until the transaction ends; others that continue or end it wait.
async fn hold_family(connection: &mut PgConnection, family: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("select pg_advisory_xact_lock(hashtextextended($1, 0))", family)
        .execute(connection)
        .await
        .map(drop)
}

async fn insert(
    connection: &mut PgConnection,
    grant: &Grant,
    lifetime: Duration,
) -> Result<String, sqlx::Error> {
    let token = secrets::fresh();
    sqlx::query!(
        "insert into refresh_tokens (token_hash, family, account_id, client_id, scopes, authenticated_at, expires_at) \
         values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7))",
        secrets::hash(&token),
        &grant.family,
        &grant.account_id,
        &grant.client_id,
        &grant.scopes,
        grant.authenticated_at,
        lifetime.as_secs_f64()
    )
    .execute(connection)
    .await?;
    Ok(token)
}

/// An ongoing login of a program, as shown to its person.
#[derive(Debug)]
pub struct TokenFamily {
    pub family: String,
    pub client_id: String,
    pub began_at: DateTime<Utc>,
    pub renewed_at: DateTime<Utc>,
}

/// Lists the active families of an account, the most recently renewed first.
pub async fn families(pool: &PgPool, account_id: &str) -> Result<Vec<TokenFamily>, sqlx::Error> {
    sqlx::query_as!(
        TokenFamily,
        r#"select family, client_id, min(created_at) as "began_at!", max(created_at) as "renewed_at!" from refresh_tokens
        where account_id = $1 and expires_at > now()
        group by family, client_id having bool_or(used_at is null) order by max(created_at) desc"#,
        account_id
    )
    .fetch_all(pool)
    .await
}

/// Ends a token family if it belongs to the account.
pub async fn end_of(
    connection: &mut PgConnection,
    account_id: &str,
    family: &str,
) -> Result<(), sqlx::Error> {
    let is_theirs = sqlx::query_scalar!(
        r#"select exists (select from refresh_tokens where family = $1 and account_id = $2) as "is!""#,
        family,
        account_id
    )
    .fetch_one(&mut *connection)
    .await?;
    if is_theirs { end(connection, family).await } else { Ok(()) }
}

/// Ends every token family of the account that an application holds.
pub async fn end_application_of(
    connection: &mut PgConnection,
    account_id: &str,
    client_id: &str,
) -> Result<(), sqlx::Error> {
    let families = sqlx::query_scalar!(
        "select distinct family from refresh_tokens where account_id = $1 and client_id = $2",
        account_id,
        client_id
    )
    .fetch_all(&mut *connection)
    .await?;
    for family in families {
        end(connection, &family).await?;
    }
    Ok(())
}

/// Ends every refresh token that an application holds.
pub async fn end_application(connection: &mut PgConnection, client_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("delete from refresh_tokens where client_id = $1", client_id)
        .execute(connection)
        .await
        .map(drop)
}

/// Ends every refresh token of an account.
pub async fn end_account(connection: &mut PgConnection, account_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("delete from refresh_tokens where account_id = $1", account_id)
        .execute(connection)
        .await
        .map(drop)
}

/// Deletes expired tokens. A spent token is kept as long as an unspent one, so that its reuse is recognised.
pub(crate) async fn sweep(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let swept = sqlx::query!("delete from refresh_tokens where expires_at < now()").execute(pool).await?;
    Ok(swept.rows_affected())
}
