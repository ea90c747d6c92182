//! Other issuers whose tokens are accepted: a company's own Keycloak, Auth0, Entra or Okta.
//!
//! Keys are found by discovery and JWKS over TLS, and cached. A known key verifies without a request. An unknown key
//! makes the process fetch the key set, at most every ten seconds, and less often while the issuer does not answer.
//! An issuer may be unreachable for a day: the cached keys are used, and `/readyz` says so.
//!
//! A person from another issuer gets an account at the first valid token, named after issuer and subject. The
//! operator can disable it and reduce its scopes and quotas like any other.

mod claims;
mod key_set;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use database::{SharedResult, SingleFlight};
use http_errors::ApiError;
use jsonwebtoken::Algorithm;
use parking_lot::RwLock;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{tables::accounts::EXTERNAL_ID_PREFIX, tokens::jwt};
use claims::ExternalClaims;
#[cfg(any(test, fuzzing))]
pub(crate) use key_set::RawJwkSet;
use key_set::{FetchError, IssuerKeySet};

/// Age at which keys are fetched again; they are still used meanwhile.
const FRESH: Duration = Duration::from_secs(600);

/// Age beyond which keys are not trusted: an issuer that is unreachable for a day may have revoked one.
const CACHE_LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// Shortest time between two fetches; each failure doubles it up to [`MAX_FETCH_INTERVAL`].
const MIN_FETCH_INTERVAL: Duration = Duration::from_secs(10);
const MAX_FETCH_INTERVAL: Duration = Duration::from_secs(320);

/// Algorithms with which their keys may sign.
const ALGORITHMS: [Algorithm; 3] = [Algorithm::EdDSA, Algorithm::ES256, Algorithm::RS256];

/// The issuers that the operator named.
pub struct Issuers {
    list: Vec<Arc<Issuer>>,
    audiences: Vec<String>,
}

struct Issuer {
    address: String,
    http: reqwest::Client,
    state: RwLock<State>,
    fetch: SingleFlight<()>,
}

#[derive(Default)]
struct State {
    keys: Option<(Instant, Arc<IssuerKeySet>)>,
    failures: u32,
    tried_at: Option<Instant>,
}

/// Subject of a token from another issuer.
#[derive(Debug)]
pub struct ExternalSubject {
    /// Id of the account, made of issuer and subject.
    pub account_id: String,
    /// Display name of the person.
    pub name: String,
    /// Scopes of ours that the token carries.
    pub scopes: Vec<String>,
    pub issued_at: u64,
}

impl Issuers {
    /// Sets up the issuers at `addresses`, whose tokens must be for one of `audiences`.
    ///
    /// # Errors
    /// Fails when the TLS library does.
    pub fn new(addresses: &[String], audiences: &[String]) -> Result<Self, reqwest::Error> {
        if addresses.is_empty() {
            return Ok(Self { list: Vec::new(), audiences: Vec::new() });
        }
        // An error means that the process has its TLS provider already: only this line installs one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = key_set::client()?;
        let issuer = |address: &String| {
            Arc::new(Issuer {
                address: address.clone(),
                http: http.clone(),
                state: RwLock::default(),
                fetch: SingleFlight::default(),
            })
        };
        Ok(Self { list: addresses.iter().map(issuer).collect(), audiences: audiences.to_vec() })
    }

    /// Verifies a token that claims to be of one of the issuers and returns its subject; `None` if it claims another
    /// issuer.
    pub async fn verify(&self, token: &str) -> Result<Option<ExternalSubject>, ApiError> {
        if self.list.is_empty() || token.len() > jwt::MAX_BYTES {
            return Ok(None);
        }
        let Some(claimed) = claimed_issuer(token) else { return Ok(None) };
        let Some(issuer) = self.list.iter().find(|issuer| issuer.address == claimed) else { return Ok(None) };
        issuer.verify(token, &self.audiences).await.map(Some)
    }

    /// Returns each issuer with a readable state.
    pub async fn states(&self) -> Vec<(String, String)> {
        let mut states = Vec::new();
        for issuer in &self.list {
            issuer.refresh_keys_if_stale().await;
            states.push((format!("issuer {}", issuer.address), issuer.describe()));
        }
        states
    }
}

impl Issuer {
    async fn verify(
        self: &Arc<Self>,
        token: &str,
        audiences: &[String],
    ) -> Result<ExternalSubject, ApiError> {
        let header = jwt::header(token, &ALGORITHMS)?;
        let keys = self.keys_for(jwt::kid(&header)?).await?;
        external_subject(&self.address, token, &keys, audiences)
    }

    /// Returns keys that contain `kid`, or else the newest keys.
    async fn keys_for(self: &Arc<Self>, kid: &str) -> Result<Arc<IssuerKeySet>, ApiError> {
        if let Some((fetched_at, keys)) = self.usable_keys()
            && keys.get(kid).is_some()
        {
            if fetched_at.elapsed() > FRESH {
                drop(self.refresh_keys());
            }
            return Ok(keys);
        }
        self.refresh_keys().await;
        let usable = self.usable_keys().map(|(_, keys)| keys);
        usable.ok_or(ApiError::Unavailable {
            retry_after: MIN_FETCH_INTERVAL,
            reason: "The issuer of the access token cannot be reached",
        })
    }

    fn usable_keys(&self) -> Option<(Instant, Arc<IssuerKeySet>)> {
        let state = self.state.read();
        state.keys.clone().filter(|(fetched_at, _)| fetched_at.elapsed() < CACHE_LIFETIME)
    }

    async fn refresh_keys_if_stale(self: &Arc<Self>) {
        if self.usable_keys().is_none_or(|(fetched_at, _)| fetched_at.elapsed() > FRESH) {
            self.refresh_keys().await;
        }
    }

    /// Fetches the keys, unless that was just tried; it continues if its callers leave.
    fn refresh_keys(self: &Arc<Self>) -> SharedResult<()> {
        self.fetch.join(|| self.clone().fetch())
    }

    async fn fetch(self: Arc<Self>) {
        {
            let mut state = self.state.write();
            let doublings = state.failures.saturating_sub(1).min(5);
            let pause = (MIN_FETCH_INTERVAL * 2_u32.pow(doublings)).min(MAX_FETCH_INTERVAL);
            if state.tried_at.is_some_and(|tried_at| tried_at.elapsed() < pause) {
                return;
            }
            state.tried_at = Some(Instant::now());
        }
        let fetched: Result<IssuerKeySet, FetchError> = key_set::fetch(&self.http, &self.address).await;
        let mut state = self.state.write();
        match fetched {
            Ok(keys) => {
                state.failures = 0;
                state.keys = Some((Instant::now(), Arc::new(keys)));
            }
            Err(error) => {
                state.failures = state.failures.saturating_add(1);
                tracing::warn!(issuer = self.address, %error, "the keys of an issuer could not be fetched");
            }
        }
    }

    fn describe(&self) -> String {
        let state = self.state.read();
        let age = state.keys.as_ref().map(|(fetched_at, _)| fetched_at.elapsed());
        match (state.failures, age) {
            (0, Some(_)) => "ok".to_owned(),
            (_, Some(age)) if age < CACHE_LIFETIME => {
                format!("cannot be reached; keys of {} min ago are used", age.as_secs() / 60)
            }
            _ => "cannot be reached; its tokens are refused".to_owned(),
        }
    }
}

/// Returns the subject of `token` of the issuer at `address`, if one of `keys` signed it for one of `audiences`.
pub fn external_subject(
    address: &str,
    token: &str,
    keys: &IssuerKeySet,
    audiences: &[String],
) -> Result<ExternalSubject, ApiError> {
    let header = jwt::header(token, &ALGORITHMS)?;
    let key = keys.get(jwt::kid(&header)?);
    let key = key.ok_or_else(|| ApiError::invalid_token("the key of the access token is unknown"))?;
    if key.algorithm != header.alg {
        return Err(ApiError::invalid_token("the algorithm of the access token is not its key's"));
    }
    let rules = jwt::rules(key.algorithm, address, audiences);
    let claims: ExternalClaims = jwt::claims(token, &key.decoding, &rules)?;
    if claims.is_id_token() {
        return Err(ApiError::invalid_token("the token is not an access token"));
    }
    if claims.sub.is_empty() {
        return Err(ApiError::invalid_token("the access token lacks a claim"));
    }
    Ok(ExternalSubject {
        account_id: account_id(address, &claims.sub),
        name: claims.person().to_owned(),
        scopes: claims.scopes(),
        issued_at: claims.iat,
    })
}

/// Reads the issuer that the token names, before anything in it is verified.
fn claimed_issuer(token: &str) -> Option<String> {
    let mut parts = token.split('.');
    let (_, payload) = (parts.next()?, parts.next()?);
    let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()?;
    Some(claims.get("iss")?.as_str()?.to_owned())
}

/// Makes the account id of a subject of another issuer: 128 bits of a hash of both, so that no two issuers share one.
fn account_id(issuer: &str, subject: &str) -> String {
    let hash = Sha256::new().chain_update(issuer).chain_update([0]).chain_update(subject).finalize();
    let hex: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    format!("{EXTERNAL_ID_PREFIX}{hex}")
}

#[cfg(test)]
mod tests;
