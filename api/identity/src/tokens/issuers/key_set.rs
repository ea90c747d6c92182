//! The keys of another issuer: its discovery document, then its JWK set.

use std::{collections::HashMap, time::Duration};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{
    Algorithm, DecodingKey,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet, PublicKeyUse},
};
use serde::{Deserialize, de::DeserializeOwned};

/// How long an issuer may take.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The largest document that is read, in bytes.
const MAX_DOCUMENT: usize = 512 * 1024;

/// The least bytes of an RSA modulus: 2048 bits.
const MIN_MODULUS: usize = 256;

/// Keys by their names.
pub type KeySet = HashMap<String, Key>;

/// A key with the one algorithm that it is for.
pub struct Key {
    pub algorithm: Algorithm,
    pub decoding: DecodingKey,
}

/// The keys could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The issuer does not answer as it should.
    #[error("it does not answer: {0}")]
    Http(#[from] reqwest::Error),
    /// The document is no JSON of the expected shape.
    #[error("its document is malformed")]
    Malformed,
    /// The document is too large.
    #[error("its document is too large")]
    TooLarge,
    /// The discovery document is another issuer's.
    #[error("its document is that of `{found}`")]
    AnotherIssuer { found: String },
    /// The keys would come over an open connection.
    #[error("its keys are not at an https address")]
    NotSecure,
}

#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
}

/// A client that follows no redirects: an issuer is where the operator said.
pub fn client() -> Result<reqwest::Client, reqwest::Error> {
    reqwest::Client::builder()
        .timeout(TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("retort-api/", env!("CARGO_PKG_VERSION")))
        .build()
}

/// Fetches the keys of `issuer` that can sign tokens with an algorithm that is allowed.
pub async fn fetch(http: &reqwest::Client, issuer: &str) -> Result<KeySet, FetchError> {
    let address = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
    let discovery: Discovery = document(http, &address).await?;
    if discovery.issuer != issuer {
        return Err(FetchError::AnotherIssuer { found: discovery.issuer });
    }
    // Plain HTTP is for issuers that the operator named with it: tests, and sidecars on loopback.
    if issuer.starts_with("https://") && !discovery.jwks_uri.starts_with("https://") {
        return Err(FetchError::NotSecure);
    }
    let set: Keys = document(http, &discovery.jwks_uri).await?;
    Ok(set.usable())
}

/// A JWK set as it came.
#[derive(Deserialize)]
pub struct Keys {
    keys: Vec<serde_json::Value>,
}

impl Keys {
    /// The keys that can sign tokens with an algorithm that is allowed.
    pub fn usable(self) -> KeySet {
        // A key of a kind that this version does not know is no reason to lose the others.
        let keys = self.keys.into_iter().filter_map(|key| serde_json::from_value(key).ok()).collect();
        usable(JwkSet { keys })
    }
}

async fn document<T: DeserializeOwned>(http: &reqwest::Client, address: &str) -> Result<T, FetchError> {
    let mut response = telemetry::send(http.get(address)).await?.error_for_status()?;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > MAX_DOCUMENT {
            return Err(FetchError::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    serde_json::from_slice(&body).map_err(|_| FetchError::Malformed)
}

fn usable(set: JwkSet) -> KeySet {
    let key = |jwk: Jwk| {
        let algorithm = algorithm(&jwk)?;
        let decoding = DecodingKey::from_jwk(&jwk).ok()?;
        Some((jwk.common.key_id?, Key { algorithm, decoding }))
    };
    set.keys.into_iter().filter_map(key).collect()
}

/// What the key is for; `None` where that is nothing of ours.
fn algorithm(jwk: &Jwk) -> Option<Algorithm> {
    if matches!(jwk.common.public_key_use, Some(PublicKeyUse::Encryption)) {
        return None;
    }
    let by_kind = match &jwk.algorithm {
        AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 && is_point(&key.x) => {
            Algorithm::EdDSA
        }
        AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => Algorithm::ES256,
        AlgorithmParameters::RSA(key) if key.n.len() * 3 / 4 >= MIN_MODULUS => Algorithm::RS256,
        _ => return None,
    };
    let named = jwk.common.key_algorithm.map(|named| named.to_string());
    match named {
        Some(named) if named != format!("{by_kind:?}") => None,
        _ => Some(by_kind),
    }
}

/// Whether it is as long as a point of Ed25519 is: jsonwebtoken panics when it checks with one that is not.
fn is_point(x: &str) -> bool {
    URL_SAFE_NO_PAD.decode(x).is_ok_and(|bytes| bytes.len() == 32)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_that_cannot_be_used_are_left_out() {
        let point = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
        let set = json!({ "keys": [
            { "kty": "OKP", "crv": "Ed25519", "x": point, "kid": "good", "alg": "EdDSA", "use": "sig" },
            { "kty": "OKP", "crv": "Ed25519", "x": point, "kid": "plain" },
            { "kty": "OKP", "crv": "Ed25519", "x": point, "kid": "encrypts", "use": "enc" },
            { "kty": "OKP", "crv": "Ed25519", "x": point },
            { "kty": "oct", "k": "c2VjcmV0", "kid": "shared", "alg": "HS256" },
            { "kty": "RSA", "n": "AQAB", "e": "AQAB", "kid": "short" },
            { "kty": "OKP", "crv": "Ed25519", "x": &point[..42], "kid": "no point" },
        ] });

        let keys = usable(serde_json::from_value(set).unwrap());

        let mut names: Vec<_> = keys.keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["good", "plain"]);
    }
}
