//! The keys that sign access tokens, and the check of a token.
//!
//! An installation makes its own Ed25519 pair at its first start and keeps it in Postgres, so that every API
//! process signs and accepts the same. Processes that start together agree by an advisory lock. Private keys
//! are sealed where the environment gives a secret for it. A new key is published before it signs, so that
//! whoever keeps our key set for its five minutes knows it in time; an old one verifies until its last token
//! has ended. A token is only ever checked with the one algorithm of its key, so `none` and an HMAC keyed with
//! the public key have nowhere to go in.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError, RwLock},
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ed25519_dalek::{VerifyingKey, pkcs8::DecodePublicKey};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use signing::{OpenError, Secret};
use sqlx::{PgConnection, PgPool};

use super::{AUDIENCE, jwt, refused};
use crate::error::ApiError;

/// The least time between two looks for a key that is not known.
const RELOAD_INTERVAL: Duration = Duration::from_secs(10);

/// The longest that a key which was retired or deleted is still believed.
const BELIEVED: Duration = Duration::from_secs(60);

/// Any number, the same in every process: who holds this lock may make the first key.
const LOCK: i64 = 0x7265_746f_7274_6b79;

/// What of an access token is needed once it is checked.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Verified {
    /// The account's id.
    pub sub: String,
    /// Scopes, separated by spaces.
    #[serde(default)]
    pub scope: String,
    #[serde(default)]
    pub jti: String,
    #[serde(default)]
    pub client_id: String,
    /// The family that the token belongs to; empty for one that belongs to none.
    #[serde(default)]
    pub family: String,
    #[serde(default)]
    pub exp: u64,
    #[serde(default)]
    pub iat: u64,
}

/// Whom an ID token tells of a login.
#[derive(Debug, Deserialize)]
pub struct Hint {
    /// The application.
    pub aud: String,
}

/// What a token is; it says so itself, so that one cannot be taken for the other.
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
    Damaged { kid: String },
    /// A stored key is sealed and cannot be opened.
    #[error(
        "the signing key `{kid}` cannot be used; KEYS_SECRET has to be what it was when the key was made"
    )]
    Sealed { kid: String, source: OpenError },
    /// There is no key that is not retired.
    #[error("every signing key is retired")]
    None,
}

/// The installation's keys.
pub struct Keys {
    pool: PgPool,
    secret: Option<Secret>,
    /// Of access tokens.
    rules: Validation,
    /// Of ID tokens that come back as a hint: they may have expired, and each is for its own application.
    hint_rules: Validation,
    set: RwLock<KeySet>,
    reloaded: Mutex<Instant>,
}

struct KeySet {
    signing_kid: String,
    signing: EncodingKey,
    verifying: BTreeMap<String, PublicKey>,
}

struct PublicKey {
    decoding: DecodingKey,
    /// The point, as a JWK writes it.
    x: String,
}

impl Keys {
    /// Reads the keys, and makes the first one if there is none.
    pub async fn load(pool: PgPool, issuer: &str, secret: Option<Secret>) -> Result<Self, KeysError> {
        prepare(&pool, secret.as_ref()).await?;
        let set = read(&pool, secret.as_ref()).await?;
        let rules = jwt::rules(Algorithm::EdDSA, issuer, &[AUDIENCE]);
        let mut hint_rules = rules.clone();
        hint_rules.set_required_spec_claims(&["iss", "aud", "sub"]);
        hint_rules.validate_exp = false;
        hint_rules.validate_aud = false;
        let reloaded = Mutex::new(Instant::now());
        Ok(Self { pool, secret, rules, hint_rules, set: RwLock::new(set), reloaded })
    }

    /// Signs a token of our own.
    pub async fn sign(&self, kind: TokenType, claims: &impl Serialize) -> Result<String, ApiError> {
        if self.age() >= BELIEVED {
            self.reload().await?;
        }
        let set = self.set.read().unwrap_or_else(PoisonError::into_inner);
        let mut header = Header::new(Algorithm::EdDSA);
        header.kid = Some(set.signing_kid.clone());
        header.typ = Some(kind.as_str().to_owned());
        jsonwebtoken::encode(&header, claims, &set.signing).map_err(|error| ApiError::internal(&error))
    }

    /// The claims of the access token, if it is one of ours for us and in its time.
    pub async fn verify(&self, token: &str) -> Result<Verified, ApiError> {
        let header = jwt::header(token, &[Algorithm::EdDSA])?;
        if header.typ.as_deref().is_none_or(|typ| !typ.eq_ignore_ascii_case(TokenType::Access.as_str())) {
            return Err(refused("the token is no access token"));
        }
        let key = self.key(jwt::kid(&header)?).await?;
        let key = key.ok_or_else(|| refused("the key of the access token is unknown"))?;
        jwt::claims(token, &key, &self.rules)
    }

    /// What an ID token of ours tells, be it expired or not.
    pub async fn read_hint(&self, token: &str) -> Result<Option<Hint>, ApiError> {
        let Ok(header) = jwt::header(token, &[Algorithm::EdDSA]) else { return Ok(None) };
        let Some(kid) = header.kid else { return Ok(None) };
        let Some(key) = self.key(&kid).await? else { return Ok(None) };
        Ok(jwt::claims(token, &key, &self.hint_rules).ok())
    }

    /// The public keys as a JWK set (RFC 7517, RFC 8037).
    pub fn jwks(&self) -> Value {
        let set = self.set.read().unwrap_or_else(PoisonError::into_inner);
        let keys: Vec<_> = set.verifying.iter().map(|(kid, key)| jwk(kid, &key.x)).collect();
        json!({ "keys": keys })
    }

    /// The key `kid`; looks for new ones where it is not known, or what is known is old.
    async fn key(&self, kid: &str) -> Result<Option<DecodingKey>, ApiError> {
        match self.decoding(kid) {
            Some(key) if self.age() < BELIEVED => Ok(Some(key)),
            _ => {
                self.reload().await?;
                Ok(self.decoding(kid))
            }
        }
    }

    fn decoding(&self, kid: &str) -> Option<DecodingKey> {
        let set = self.set.read().unwrap_or_else(PoisonError::into_inner);
        set.verifying.get(kid).map(|key| key.decoding.clone())
    }

    fn age(&self) -> Duration {
        self.reloaded.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    /// Looks for keys that another process made; strangers' tokens do not make it look often.
    async fn reload(&self) -> Result<(), ApiError> {
        {
            let mut reloaded = self.reloaded.lock().unwrap_or_else(PoisonError::into_inner);
            if reloaded.elapsed() < RELOAD_INTERVAL {
                return Ok(());
            }
            *reloaded = Instant::now();
        }
        match read(&self.pool, self.secret.as_ref()).await {
            Ok(set) => *self.set.write().unwrap_or_else(PoisonError::into_inner) = set,
            Err(KeysError::Database(error)) => return Err(error.into()),
            Err(error) => return Err(ApiError::internal(&error)),
        }
        Ok(())
    }
}

fn jwk(kid: &str, x: &str) -> Value {
    json!({ "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": kid, "x": x })
}

/// Makes the first key, and seals what was stored before there was a secret.
async fn prepare(pool: &PgPool, secret: Option<&Secret>) -> Result<(), KeysError> {
    let mut transaction = pool.begin().await?;
    sqlx::query("select pg_advisory_xact_lock($1)").bind(LOCK).execute(&mut *transaction).await?;
    let (exists,): (bool,) = sqlx::query_as(
        "select exists (select from signing_keys where retired_at is null or retired_at > now())",
    )
    .fetch_one(&mut *transaction)
    .await?;
    if !exists {
        let key = signing::generate(secret);
        sqlx::query(
            "insert into signing_keys (kid, algorithm, private_key_pem, public_key_pem) \
             values ($1, $2, $3, $4)",
        )
        .bind(&key.kid)
        .bind(key.algorithm)
        .bind(key.private_key_pem)
        .bind(key.public_key_pem)
        .execute(&mut *transaction)
        .await?;
        tracing::info!(kid = key.kid, "made the key that signs access tokens");
    }
    if let Some(secret) = secret {
        seal_open_keys(&mut transaction, secret).await?;
    }
    transaction.commit().await?;
    Ok(())
}

async fn seal_open_keys(connection: &mut PgConnection, secret: &Secret) -> Result<(), KeysError> {
    let rows: Vec<(String, String)> =
        sqlx::query_as("select kid, private_key_pem from signing_keys").fetch_all(&mut *connection).await?;
    for (kid, private) in rows.iter().filter(|(_, private)| !signing::is_sealed(private)) {
        sqlx::query("update signing_keys set private_key_pem = $2 where kid = $1")
            .bind(kid)
            .bind(signing::seal(kid, private, secret))
            .execute(&mut *connection)
            .await?;
        tracing::info!(kid, "sealed a signing key");
    }
    Ok(())
}

/// The newest key that everybody has had time to hear of signs; on a new installation, the only one.
async fn read(pool: &PgPool, secret: Option<&Secret>) -> Result<KeySet, KeysError> {
    let rows: Vec<(String, String, String, bool)> = sqlx::query_as(
        "select kid, private_key_pem, public_key_pem, retired_at is null or retired_at > now() \
         from signing_keys \
         where algorithm = 'EdDSA' and (retired_at is null or retired_at > now() - interval '25 hours') \
         order by created_at <= now() - interval '10 minutes' desc, created_at desc, kid",
    )
    .fetch_all(pool)
    .await?;
    let mut signing = None;
    let mut verifying = BTreeMap::new();
    for (kid, private, public, current) in rows {
        let damaged = || KeysError::Damaged { kid: kid.clone() };
        let point = VerifyingKey::from_public_key_pem(&public).map_err(|_| damaged())?;
        let x = URL_SAFE_NO_PAD.encode(point.as_bytes());
        let decoding = DecodingKey::from_ed_components(&x).map_err(|_| damaged())?;
        if current && signing.is_none() {
            let private = signing::open(&kid, &private, secret)
                .map_err(|source| KeysError::Sealed { kid: kid.clone(), source })?;
            let key = EncodingKey::from_ed_pem(private.as_bytes()).map_err(|_| damaged())?;
            signing = Some((kid.clone(), key));
        }
        verifying.insert(kid, PublicKey { decoding, x });
    }
    let (signing_kid, signing) = signing.ok_or(KeysError::None)?;
    Ok(KeySet { signing_kid, signing, verifying })
}
