//! Tokens that a person makes for scripts: named, limited to some scopes, and valid until a date.
//!
//! An access token is signed and lives for minutes, since a signature cannot be taken back and its key is replaced
//! within days. Script tokens live for months. A token is valid while a row holds the hash of its random secret, so
//! deleting the row ends the token. A process caches what it found for as long as it caches the state of an account,
//! and is notified of every change. Each token carries a mark, a short keyed hash of its secret, so that a guessed
//! token costs no query. The mark alone grants nothing.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::{DateTime, Utc};
use hmac::{Hmac, Mac};
use http_errors::ApiError;
use quick_cache::sync::Cache;
use sha2::Sha256;
use sqlx::{PgConnection, PgPool};
use subtle::ConstantTimeEq;
use ulid::Ulid;

use crate::{changes, secrets, tokens::keys::AccessTokenClaims};

/// Prefix of every token, so that people and secret scanners recognise one.
const PREFIX: &str = "retort_";

/// Bytes of a mark, which are eight characters of text.
const MARK_BYTES: usize = 6;

/// Time for which a cached token is trusted in a process that gets no notifications.
const CACHE_LIFETIME: Duration = Duration::from_secs(30);

/// Capacity of the cache, in tokens.
const CACHE_CAPACITY: usize = 10_000;

/// Largest number of tokens that an account may have at a time.
pub const MAX_TOKENS: i64 = 50;

/// Longest name of a token, in characters.
pub const MAX_NAME_LENGTH: usize = 80;

/// Lifetimes to choose from, in days.
pub const LIFETIMES_DAYS: [u16; 3] = [30, 90, 365];

/// Access to the tokens, with a short-lived cache of those that were presented.
pub(crate) struct ScriptTokens {
    pool: PgPool,
    key: Vec<u8>,
    remembered: Cache<Vec<u8>, (Instant, Option<AccessTokenClaims>)>,
    /// Generation of the cache. It rises at every invalidation, so that a query which began before is not cached
    /// afterwards.
    forgotten: AtomicU64,
}

impl ScriptTokens {
    /// Loads the key of the marks.
    ///
    /// # Errors
    /// Fails when the database does.
    pub async fn load(pool: PgPool) -> Result<Self, sqlx::Error> {
        let key = mark_key(&pool).await?;
        Ok(Self { pool, key, remembered: Cache::new(CACHE_CAPACITY), forgotten: AtomicU64::new(0) })
    }

    /// Verifies a script token and returns its claims; `None` for a token of another kind.
    pub async fn verify(&self, token: &str) -> Result<Option<AccessTokenClaims>, ApiError> {
        if !has_prefix(token) {
            return Ok(None);
        }
        let unknown = || ApiError::invalid_token("the token is unknown or has ended");
        let secret = self.secret(token).ok_or_else(unknown)?;
        let row = self.find(secrets::hash(secret)).await?.ok_or_else(unknown)?;
        if row.exp <= u64::try_from(Utc::now().timestamp()).unwrap_or_default() {
            return Err(unknown());
        }
        Ok(Some(row))
    }

    /// Ends a token by its text; false if there is none.
    pub async fn revoke(&self, token: &str) -> Result<bool, sqlx::Error> {
        let Some(secret) = self.secret(token) else { return Ok(false) };
        let mut transaction = self.pool.begin().await?;
        let ended = revoke_by_hash(&mut transaction, &secrets::hash(secret)).await?;
        transaction.commit().await?;
        self.forget();
        Ok(ended)
    }

    /// Returns the secret of a token whose mark is ours.
    fn secret<'t>(&self, token: &'t str) -> Option<&'t str> {
        marked(&self.key, token.strip_prefix(PREFIX)?)
    }

    /// Clears the cache, so that each token is looked up again.
    pub fn forget(&self) {
        self.forgotten.fetch_add(1, Ordering::AcqRel);
        self.remembered.clear();
    }

    async fn find(&self, hash: Vec<u8>) -> Result<Option<AccessTokenClaims>, sqlx::Error> {
        if let Some((seen, row)) = self.remembered.get(&hash)
            && seen.elapsed() < CACHE_LIFETIME
        {
            return Ok(row);
        }
        let (seen, forgotten) = (Instant::now(), self.forgotten.load(Ordering::Acquire));
        let row = find(&self.pool, &hash).await?;
        self.remembered.insert(hash.clone(), (seen, row.clone()));
        if self.forgotten.load(Ordering::Acquire) != forgotten {
            self.remembered.remove(&hash);
        }
        Ok(row)
    }
}

/// Returns true if the token has the form of a script token, genuine or not.
pub(crate) fn has_prefix(token: &str) -> bool {
    token.starts_with(PREFIX)
}

/// A new token.
#[derive(Debug, Clone, Copy)]
pub struct NewScriptToken<'a> {
    /// Name that its owner gave it.
    pub name: &'a str,
    /// Scopes that it grants.
    pub scopes: &'a [String],
    /// Lifetime in days.
    pub days: u16,
}

/// Result of making a token.
#[derive(Debug, PartialEq, Eq)]
pub enum ScriptTokenCreation {
    /// Text of the token, which is shown only this once.
    Token(String),
    /// The account has a token of this name.
    NameTaken,
    /// The account has [`MAX_TOKENS`] tokens.
    TooMany,
}

/// Makes a token from a login at the given time.
pub(crate) async fn make(
    connection: &mut PgConnection,
    account_id: &str,
    authenticated_at: DateTime<Utc>,
    new: NewScriptToken<'_>,
) -> Result<ScriptTokenCreation, sqlx::Error> {
    // The lock makes simultaneous requests count one after the other.
    sqlx::query!("select from accounts where id = $1 for no key update", account_id)
        .execute(&mut *connection)
        .await?;
    if count(connection, account_id).await? >= MAX_TOKENS {
        return Ok(ScriptTokenCreation::TooMany);
    }
    let secret = secrets::fresh();
    let made = sqlx::query!(
        "insert into script_tokens (id, account_id, name, secret_hash, scopes, authenticated_at, expires_at) \
         values ($1, $2, $3, $4, $5, $6, now() + make_interval(days => $7)) on conflict (account_id, lower(name)) do nothing",
        format!("tok_{}", Ulid::generate().to_string().to_ascii_lowercase()),
        account_id,
        new.name,
        secrets::hash(&secret),
        new.scopes,
        authenticated_at,
        i32::from(new.days)
    )
    .execute(&mut *connection)
    .await?;
    if made.rows_affected() == 0 {
        return Ok(ScriptTokenCreation::NameTaken);
    }
    let key = mark_key(&mut *connection).await?;
    Ok(ScriptTokenCreation::Token(format!("{PREFIX}{secret}{}", mark(&key, &secret))))
}

/// A token as its owner sees it.
#[derive(Debug)]
pub struct ScriptTokenEntry {
    /// Id by which the owner ends it.
    pub id: String,
    /// Name that its owner gave it.
    pub name: String,
    /// Scopes that it grants at most.
    pub scopes: Vec<String>,
    /// Time at which it was made.
    pub created_at: DateTime<Utc>,
    /// Time at which it expires.
    pub expires_at: DateTime<Utc>,
}

/// Lists the tokens of an account, the newest first.
pub(crate) async fn list<'c>(
    database: impl sqlx::PgExecutor<'c>,
    account_id: &str,
) -> Result<Vec<ScriptTokenEntry>, sqlx::Error> {
    sqlx::query_as!(
        ScriptTokenEntry,
        "select id, name, scopes, created_at, expires_at from script_tokens \
         where account_id = $1 and expires_at > now() order by created_at desc, id desc",
        account_id
    )
    .fetch_all(database)
    .await
}

/// Ends the token of the account that has `name` as its id or its name; false if there is none.
pub(crate) async fn end(
    connection: &mut PgConnection,
    account_id: &str,
    name: &str,
) -> Result<bool, sqlx::Error> {
    let ended = sqlx::query!(
        "delete from script_tokens where account_id = $1 and (id = $2 or lower(name) = lower($2))",
        account_id,
        name
    )
    .execute(&mut *connection)
    .await?;
    changes::publish(connection, account_id).await?;
    Ok(ended.rows_affected() > 0)
}

/// Ends the token whose secret has this hash; false if there is none.
async fn revoke_by_hash(connection: &mut PgConnection, hash: &[u8]) -> Result<bool, sqlx::Error> {
    let account_id =
        sqlx::query_scalar!("delete from script_tokens where secret_hash = $1 returning account_id", hash)
            .fetch_optional(&mut *connection)
            .await?;
    let Some(account_id) = account_id else { return Ok(false) };
    changes::publish(connection, &account_id).await?;
    tracing::info!(target: "audit", { account.id = account_id }, "a token for scripts was revoked by its holder");
    Ok(true)
}

/// Ends every token of an account.
pub async fn end_account(connection: &mut PgConnection, account_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("delete from script_tokens where account_id = $1", account_id)
        .execute(connection)
        .await
        .map(drop)
}

/// Deletes expired tokens.
pub(crate) async fn sweep(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let swept = sqlx::query!("delete from script_tokens where expires_at < now()").execute(pool).await?;
    Ok(swept.rows_affected())
}

async fn count(connection: &mut PgConnection, account_id: &str) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select count(*) as "count!" from script_tokens where account_id = $1 and expires_at > now()"#,
        account_id
    )
    .fetch_one(connection)
    .await
}

async fn find(pool: &PgPool, hash: &[u8]) -> Result<Option<AccessTokenClaims>, sqlx::Error> {
    let row = sqlx::query!(
        "select id, account_id, scopes, authenticated_at, created_at, expires_at from script_tokens \
         where secret_hash = $1 and expires_at > now()",
        hash
    )
    .fetch_optional(pool)
    .await?;
    let seconds = |time: DateTime<Utc>| u64::try_from(time.timestamp()).unwrap_or_default();
    Ok(row.map(|token| AccessTokenClaims {
        sub: token.account_id,
        scope: token.scopes.join(" "),
        jti: token.id,
        exp: seconds(token.expires_at),
        iat: seconds(token.created_at),
        #[expect(clippy::cast_precision_loss, reason = "half a microsecond is lost in the year 2255")]
        auth_time: Some(token.authenticated_at.timestamp_micros() as f64 / 1e6),
        ..AccessTokenClaims::default()
    }))
}

async fn mark_key<'c>(database: impl sqlx::PgExecutor<'c>) -> Result<Vec<u8>, sqlx::Error> {
    sqlx::query_scalar!("select key from script_token_mark").fetch_one(database).await
}

/// Splits the text after the prefix and returns the secret if its mark is ours.
fn marked<'t>(key: &[u8], text: &'t str) -> Option<&'t str> {
    let (secret, shown) = text.split_at_checked(secrets::CHARACTERS)?;
    let is_ours: bool = mark(key, secret).as_bytes().ct_eq(shown.as_bytes()).into();
    is_ours.then_some(secret)
}

fn mark(key: &[u8], secret: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("script tokens: any length is a key");
    mac.update(secret.as_bytes());
    let whole: Vec<u8> = mac.finalize().into_bytes().into_iter().take(MARK_BYTES).collect();
    URL_SAFE_NO_PAD.encode(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guessed_or_truncated_token_has_no_valid_mark() {
        let (secret, key) = (secrets::fresh(), [7_u8; 32]);
        let text = format!("{secret}{}", mark(&key, &secret));

        assert_eq!(text.len(), 51);
        assert_eq!(marked(&key, &text), Some(&*secret));
        assert_eq!(marked(&[8; 32], &text), None);
        for wrong in [&text[1..], &text[..50], "", "ä", &format!("{}{}", secrets::fresh(), &text[43..])] {
            assert_eq!(marked(&key, wrong), None, "{wrong}");
        }
    }
}
