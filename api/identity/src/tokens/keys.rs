//! Keys that sign access tokens, and the verification of a token.
//!
//! An installation makes its own Ed25519 pair at its first start and stores it in Postgres, so that every API process
//! signs and accepts the same. Processes that start together agree by an advisory lock. Private keys are sealed if
//! the environment holds a secret for that. A new key is published before it signs, so that clients that cache our
//! key set for its five minutes know it in time. An old key verifies until its last token has expired. A token is
//! only ever verified with the one algorithm of its key, which rules out `none` and an HMAC keyed with the public
//! key.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ed25519_dalek::{VerifyingKey, pkcs8::DecodePublicKey};
use http_errors::ApiError;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use parking_lot::{Mutex, RwLock};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::{
    settings::AUDIENCE,
    tables::signing_keys::{self, SigningKeyRow},
    tokens::{
        jwt,
        seal::{OpenError, SealingKey, open},
    },
};

/// Shortest time between two reloads for an unknown key.
const RELOAD_INTERVAL: Duration = Duration::from_secs(10);

/// Longest time for which a retired or deleted key is still accepted.
const CACHE_LIFETIME: Duration = Duration::from_secs(60);

/// Timeout of a reload.
const RELOAD_TIMEOUT: Duration = Duration::from_secs(2);

/// Claims of a verified access token that are needed later.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct AccessTokenClaims {
    /// Account id.
    pub sub: String,
    /// Scopes, separated by spaces.
    #[serde(default)]
    pub scope: String,
    #[serde(default)]
    pub jti: String,
    #[serde(default)]
    pub client_id: String,
    /// Token family; empty if there is none.
    #[serde(default)]
    pub family: String,
    #[serde(default)]
    pub exp: u64,
    #[serde(default)]
    pub iat: u64,
    /// Login time, in seconds since the epoch with a fraction.
    pub auth_time: Option<f64>,
}

impl AccessTokenClaims {
    /// Returns the time of the login behind the token, in microseconds since the epoch; if the token does not say,
    /// the time it was issued.
    pub fn login_micros(&self) -> i64 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the cast saturates, and no real login time is that late"
        )]
        let micros = self.auth_time.map(|seconds| (seconds * 1e6).round() as i64);
        micros.unwrap_or_else(|| i64::try_from(self.iat).unwrap_or(i64::MAX).saturating_mul(1_000_000))
    }
}

/// Claims of an ID token that comes back as a hint.
#[derive(Debug, Deserialize)]
pub struct IdTokenHint {
    /// The application.
    pub aud: String,
}

/// Type of a token. The token states it itself, so that no type can pass for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenType {
    /// For the service (RFC 9068).
    Access,
    /// For the application (OpenID Connect Core, section 2).
    Identity,
}

impl TokenType {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Access => "at+jwt",
            Self::Identity => "JWT",
        }
    }
}

/// The keys could not be read or made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeysError {
    /// The database failed.
    #[error("the signing keys cannot be read")]
    Database(#[from] sqlx::Error),
    /// A stored key cannot be used.
    #[error("the signing key `{kid}` is damaged")]
    Damaged {
        /// Key id.
        kid: String,
    },
    /// A stored key is sealed and cannot be opened.
    #[error(
        "the signing key `{kid}` cannot be used; KEYS_SECRET has to be what it was when the key was made"
    )]
    Sealed {
        /// Key id.
        kid: String,
        /// Reason.
        source: OpenError,
    },
    /// Every key is retired.
    #[error("every signing key is retired")]
    AllRetired,
}

/// The installation's keys.
pub struct Keys {
    pool: PgPool,
    sealing_key: Option<SealingKey>,
    /// Rules for access tokens.
    validation: Validation,
    /// Rules for ID tokens that come back as a hint: they may have expired, and each is for its own application.
    hint_validation: Validation,
    key_set: RwLock<KeySet>,
    last_reload_attempt: Mutex<Instant>,
}

struct KeySet {
    signing_kid: String,
    signing: EncodingKey,
    verifying: BTreeMap<String, PublicKey>,
}

struct PublicKey {
    decoding: DecodingKey,
    /// Point, as a JWK writes it.
    x: String,
}

impl Keys {
    /// Loads the keys, and makes the first one if there is none.
    pub async fn load(
        pool: PgPool,
        issuer: &str,
        sealing_key: Option<SealingKey>,
    ) -> Result<Self, KeysError> {
        signing_keys::prepare(&pool, sealing_key.as_ref()).await?;
        let key_set = read(&pool, sealing_key.as_ref()).await?;
        let validation = access_rules(issuer);
        let mut hint_validation = validation.clone();
        hint_validation.set_required_spec_claims(&["iss", "aud", "sub"]);
        hint_validation.validate_exp = false;
        hint_validation.validate_aud = false;
        let last_reload_attempt = Mutex::new(Instant::now());
        Ok(Self {
            pool,
            sealing_key,
            validation,
            hint_validation,
            key_set: RwLock::new(key_set),
            last_reload_attempt,
        })
    }

    /// Signs a token of our own.
    pub async fn sign(&self, kind: TokenType, claims: &impl Serialize) -> Result<String, ApiError> {
        if self.time_since_reload_attempt() >= CACHE_LIFETIME {
            self.reload().await?;
        }
        let key_set = self.key_set.read();
        let mut header = Header::new(Algorithm::EdDSA);
        header.kid = Some(key_set.signing_kid.clone());
        header.typ = Some(kind.as_str().to_owned());
        jsonwebtoken::encode(&header, claims, &key_set.signing).map_err(|error| ApiError::internal(&error))
    }

    /// Returns the claims of the access token, if we issued it for this service and it is within its time.
    pub async fn verify(&self, token: &str) -> Result<AccessTokenClaims, ApiError> {
        let header = access_header(token)?;
        let key = self.key(jwt::kid(&header)?).await?;
        let key = key.ok_or_else(|| ApiError::invalid_token("the key of the access token is unknown"))?;
        jwt::claims(token, &key, &self.validation)
    }

    /// Returns the claims of an ID token of ours, expired or not.
    pub async fn read_hint(&self, token: &str) -> Result<Option<IdTokenHint>, ApiError> {
        let Ok(header) = jwt::header(token, &[Algorithm::EdDSA]) else { return Ok(None) };
        let Some(kid) = header.kid else { return Ok(None) };
        let Some(key) = self.key(&kid).await? else { return Ok(None) };
        Ok(jwt::claims(token, &key, &self.hint_validation).ok())
    }

    /// Returns the public keys as a JWK set (RFC 7517, RFC 8037), including those that another process has made
    /// since.
    pub async fn jwks(&self) -> Value {
        // The known keys are better than none while the database is down.
        if self.time_since_reload_attempt() >= CACHE_LIFETIME
            && let Err(error) = self.reload().await
        {
            tracing::warn!(?error, "the signing keys could not be read again");
        }
        let key_set = self.key_set.read();
        let keys: Vec<_> = key_set.verifying.iter().map(|(kid, key)| jwk(kid, &key.x)).collect();
        json!({ "keys": keys })
    }

    /// Returns the key `kid`; reloads if it is unknown or the known keys are old.
    async fn key(&self, kid: &str) -> Result<Option<DecodingKey>, ApiError> {
        match self.decoding_key(kid) {
            Some(key) if self.time_since_reload_attempt() < CACHE_LIFETIME => Ok(Some(key)),
            _ => {
                self.reload().await?;
                Ok(self.decoding_key(kid))
            }
        }
    }

    fn decoding_key(&self, kid: &str) -> Option<DecodingKey> {
        let key_set = self.key_set.read();
        key_set.verifying.get(kid).map(|key| key.decoding.clone())
    }

    fn time_since_reload_attempt(&self) -> Duration {
        self.last_reload_attempt.lock().elapsed()
    }

    /// Reloads keys that other processes made, at a bounded rate: strangers' tokens must not cause many queries.
    async fn reload(&self) -> Result<(), ApiError> {
        {
            let mut last_reload_attempt = self.last_reload_attempt.lock();
            if last_reload_attempt.elapsed() < RELOAD_INTERVAL {
                return Ok(());
            }
            *last_reload_attempt = Instant::now();
        }
        match database::within(RELOAD_TIMEOUT, read(&self.pool, self.sealing_key.as_ref())).await {
            Ok(key_set) => *self.key_set.write() = key_set,
            Err(KeysError::Database(error)) => return Err(error.into()),
            Err(error) => return Err(ApiError::internal(&error)),
        }
        Ok(())
    }
}

/// Reads the header of an access token of ours, and refuses a token of another kind.
pub fn access_header(token: &str) -> Result<Header, ApiError> {
    let header = jwt::header(token, &[Algorithm::EdDSA])?;
    if header.typ.as_deref().is_none_or(|typ| !typ.eq_ignore_ascii_case(TokenType::Access.as_str())) {
        return Err(ApiError::invalid_token("the token is not an access token"));
    }
    Ok(header)
}

/// Builds the rules for our access tokens.
pub fn access_rules(issuer: &str) -> Validation {
    jwt::rules(Algorithm::EdDSA, issuer, &[AUDIENCE])
}

fn jwk(kid: &str, x: &str) -> Value {
    json!({ "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": kid, "x": x })
}

/// Reads the key set. The newest key that has been published long enough signs; on a new installation, the only one.
async fn read(pool: &PgPool, sealing_key: Option<&SealingKey>) -> Result<KeySet, KeysError> {
    let mut signing = None;
    let mut verifying = BTreeMap::new();
    for SigningKeyRow { kid, private_key_pem, public_key_pem, current } in signing_keys::usable(pool).await? {
        let damaged = || KeysError::Damaged { kid: kid.clone() };
        let point = VerifyingKey::from_public_key_pem(&public_key_pem).map_err(|_| damaged())?;
        let x = URL_SAFE_NO_PAD.encode(point.as_bytes());
        let decoding = DecodingKey::from_ed_components(&x).map_err(|_| damaged())?;
        if current && signing.is_none() {
            let private = open(&kid, &private_key_pem, sealing_key)
                .map_err(|source| KeysError::Sealed { kid: kid.clone(), source })?;
            let key = EncodingKey::from_ed_pem(private.as_bytes()).map_err(|_| damaged())?;
            signing = Some((kid.clone(), key));
        }
        verifying.insert(kid, PublicKey { decoding, x });
    }
    let (signing_kid, signing) = signing.ok_or(KeysError::AllRetired)?;
    Ok(KeySet { signing_kid, signing, verifying })
}
