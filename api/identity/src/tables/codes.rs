//! Authorization codes: valid once, for a minute (RFC 6749, section 4.1.2).
//!
//! Any attempt uses up the code, even with the wrong application, address or verifier, since such a caller did not
//! obtain the code properly. A code that is presented again ends the tokens issued for it.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::{DateTime, Utc};
use sha2::{Digest, Sha256};
use sqlx::{PgConnection, PgExecutor, PgPool};
use subtle::ConstantTimeEq;
use ulid::Ulid;

use crate::{secrets, tables::refresh_tokens};

/// Lifetime of a code.
const LIFETIME: Duration = Duration::from_secs(60);

/// Time for which an expired code is stored; a second use within it ends the tokens issued for the code.
const RETENTION: Duration = Duration::from_secs(24 * 3600);

/// Data that a code stands for.
#[derive(Debug)]
pub struct CodeGrant {
    pub family: String,
    pub client_id: String,
    pub account_id: String,
    pub redirect_uri: String,
    pub code_challenge: String,
    pub scopes: Vec<String>,
    pub nonce: Option<String>,
    pub authenticated_at: DateTime<Utc>,
}

/// Data that the application presents to redeem a code.
#[derive(Debug)]
pub struct RedeemRequest<'a> {
    pub code: &'a str,
    pub client_id: &'a str,
    pub redirect_uri: &'a str,
    pub verifier: &'a str,
}

/// Issues a code for `promise`.
pub async fn issue(executor: impl PgExecutor<'_>, promise: &CodeGrant) -> Result<String, sqlx::Error> {
    let code = secrets::fresh();
    sqlx::query!(
        "insert into authorization_codes (code_hash, family, client_id, account_id, redirect_uri, \
         code_challenge, scopes, nonce, authenticated_at, expires_at) \
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, now() + make_interval(secs => $10))",
        secrets::hash(&code),
        &promise.family,
        &promise.client_id,
        &promise.account_id,
        &promise.redirect_uri,
        &promise.code_challenge,
        &promise.scopes,
        promise.nonce.as_deref(),
        promise.authenticated_at,
        LIFETIME.as_secs_f64()
    )
    .execute(executor)
    .await?;
    Ok(code)
}

/// Generates the name of a new token family.
pub fn new_family() -> String {
    Ulid::generate().to_string()
}

/// Uses up the code and returns its data, if everything presented is right.
///
/// Commit in any case. Tokens for the code must be issued in the same transaction: a second use waits for its end,
/// and then ends those tokens.
pub async fn redeem(
    connection: &mut PgConnection,
    presented: &RedeemRequest<'_>,
) -> Result<Option<CodeGrant>, sqlx::Error> {
    let spent = sqlx::query_as!(
        CodeGrant,
        "update authorization_codes set used_at = now() \
         where code_hash = $1 and used_at is null and expires_at > now() \
         and exists (select from accounts where id = account_id and disabled_at is null \
         and authenticated_at >= coalesce(tokens_from, '-infinity')) \
         returning family, client_id, account_id, redirect_uri, code_challenge, scopes, nonce, authenticated_at",
        secrets::hash(presented.code)
    )
    .fetch_optional(&mut *connection)
    .await?;
    let Some(promise) = spent else {
        revoke_what_it_bought(connection, presented.code).await?;
        return Ok(None);
    };
    let right = promise.client_id == presented.client_id
        && promise.redirect_uri == presented.redirect_uri
        && is_verifier(presented.verifier, &promise.code_challenge);
    Ok(right.then_some(promise))
}

async fn revoke_what_it_bought(connection: &mut PgConnection, code: &str) -> Result<(), sqlx::Error> {
    let used = sqlx::query_scalar!(
        "select family from authorization_codes where code_hash = $1 and used_at is not null",
        secrets::hash(code)
    )
    .fetch_optional(&mut *connection)
    .await?;
    if let Some(family) = used {
        tracing::warn!(target: "audit", family, "a spent authorization code came back; its tokens are revoked");
        refresh_tokens::end(connection, &family).await?;
    }
    Ok(())
}

/// Checks the PKCE verifier (RFC 7636, section 4.6).
fn is_verifier(verifier: &str, challenge: &str) -> bool {
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    let wellformed = (43..=128).contains(&verifier.len()) && verifier.bytes().all(unreserved);
    let hash = URL_SAFE_NO_PAD.encode(Sha256::digest(verifier));
    wellformed && hash.as_bytes().ct_eq(challenge.as_bytes()).into()
}

/// Deletes all codes of an account.
pub async fn end_account(connection: &mut PgConnection, account_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("delete from authorization_codes where account_id = $1", account_id)
        .execute(connection)
        .await
        .map(drop)
}

/// Ends the account's codes that an application has not exchanged, and the tokens that it got for the others.
pub async fn end_application_of(
    connection: &mut PgConnection,
    account_id: &str,
    client_id: &str,
) -> Result<(), sqlx::Error> {
    let families = sqlx::query_scalar!(
        "with ended as (
            delete from authorization_codes where account_id = $1 and client_id = $2 and used_at is null
        )
        select family from authorization_codes where account_id = $1 and client_id = $2 and used_at is not null",
        account_id,
        client_id
    )
    .fetch_all(&mut *connection)
    .await?;
    for family in families {
        refresh_tokens::end(connection, &family).await?;
    }
    Ok(())
}

/// Deletes codes that expired long ago.
pub(crate) async fn sweep(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let swept = sqlx::query!(
        "delete from authorization_codes where expires_at < now() - make_interval(secs => $1)",
        RETENTION.as_secs_f64()
    )
    .execute(pool)
    .await?;
    Ok(swept.rows_affected())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7636, appendix B.
    #[test]
    fn a_verifier_is_what_hashes_to_the_challenge() {
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

        assert!(is_verifier("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", challenge));
        assert!(!is_verifier(challenge, challenge));
        assert!(!is_verifier("", ""));
    }
}
