//! Issues tokens: access tokens for the service, ID tokens for applications.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::{DateTime, Utc};
use contract::scope;
use http_errors::ApiError;
use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha512};
use ulid::Ulid;

use crate::{identity::Identity, scopes, settings::AUDIENCE, tables::accounts, tokens::keys::TokenType};

/// Subject and client of an access token.
#[derive(Debug, Clone, Copy)]
pub struct TokenSubject<'a> {
    pub account_id: &'a str,
    pub client_id: &'a str,
    /// Family that it belongs to and ends with.
    pub family: &'a str,
    pub scopes: &'a [String],
    /// Time of the login behind it: whatever ends that login ends the token.
    pub authenticated_at: DateTime<Utc>,
}

/// An access token with the fields that its receiver needs.
#[derive(Debug)]
pub struct AccessToken {
    pub text: String,
    pub expires_in_seconds: u64,
    pub scope: String,
}

/// Claims of an ID token besides the account.
#[derive(Debug)]
pub struct IdTokenContext<'a> {
    pub email: &'a str,
    pub name: &'a str,
    pub authenticated_at: DateTime<Utc>,
    pub nonce: Option<&'a str>,
}

/// Claims of RFC 9068, section 2.2.
#[derive(Serialize)]
struct AccessClaims<'a> {
    iss: String,
    sub: &'a str,
    aud: &'static str,
    exp: u64,
    nbf: u64,
    iat: u64,
    /// Login time with a fraction, so that tokens from before and after a change of password can be told apart.
    auth_time: f64,
    jti: String,
    client_id: &'a str,
    scope: &'a str,
    family: &'a str,
}

pub async fn access_token(identity: &Identity, bearer: TokenSubject<'_>) -> Result<AccessToken, ApiError> {
    let now = seconds(Utc::now());
    let lifetime = identity.settings.access_token_lifetime.as_secs();
    let scope = bearer.scopes.join(" ");
    let claims = AccessClaims {
        iss: identity.settings.issuer(),
        sub: bearer.account_id,
        aud: AUDIENCE,
        exp: now + lifetime,
        nbf: now,
        iat: now,
        #[expect(clippy::cast_precision_loss, reason = "half a microsecond is lost in the year 2255")]
        auth_time: bearer.authenticated_at.timestamp_micros() as f64 / 1e6,
        jti: Ulid::generate().to_string(),
        client_id: bearer.client_id,
        scope: &scope,
        family: bearer.family,
    };
    let text = identity.keys.sign(TokenType::Access, &claims).await?;
    Ok(AccessToken { text, expires_in_seconds: lifetime, scope })
}

/// Issues the ID token that goes with `access` (OpenID Connect Core, section 2).
pub async fn id_token(
    identity: &Identity,
    bearer: TokenSubject<'_>,
    context: &IdTokenContext<'_>,
    access: &AccessToken,
) -> Result<String, ApiError> {
    let now = seconds(Utc::now());
    let mut claims = person(bearer.account_id, context.email, context.name, bearer.scopes);
    for (name, value) in [
        ("iss", json!(identity.settings.issuer())),
        ("aud", json!(bearer.client_id)),
        ("exp", json!(now + identity.settings.access_token_lifetime.as_secs())),
        ("iat", json!(now)),
        ("auth_time", json!(seconds(context.authenticated_at))),
        ("at_hash", json!(access_token_hash(&access.text))),
    ] {
        claims.insert(name.to_owned(), value);
    }
    if let Some(nonce) = context.nonce {
        claims.insert("nonce".to_owned(), json!(nonce));
    }
    identity.keys.sign(TokenType::Identity, &claims).await
}

/// Builds the claims about the person that the scopes `held` allow (OpenID Connect Core, section 5.4). E-mail
/// addresses of accounts that operators made count as verified, since operators vouch for them. For a person from
/// another issuer we have none.
pub fn person(account_id: &str, email: &str, name: &str, held: &[String]) -> Map<String, Value> {
    let mut claims = Map::from_iter([("sub".to_owned(), json!(account_id))]);
    if scopes::has(held, scope::PROFILE) {
        claims.insert("name".to_owned(), json!(name));
    }
    if scopes::has(held, scope::EMAIL) && !accounts::is_external(account_id) {
        claims.insert("email".to_owned(), json!(email));
        claims.insert("email_verified".to_owned(), json!(true));
    }
    claims
}

/// Computes `at_hash` (OpenID Connect Core, section 3.2.2.10); the hash of Ed25519 is SHA-512.
fn access_token_hash(access_token: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha512::digest(access_token).into_iter().take(32).collect::<Vec<u8>>())
}

fn seconds(time: DateTime<Utc>) -> u64 {
    u64::try_from(time.timestamp()).unwrap_or_default()
}
