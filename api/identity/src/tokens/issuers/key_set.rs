//! Keys of another issuer: its discovery document, then its JWK set.

use std::{collections::HashMap, time::Duration};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{
    Algorithm, DecodingKey,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet, PublicKeyUse},
};
use serde::{Deserialize, de::DeserializeOwned};

/// Timeout of a request to an issuer.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Largest document that is read, in bytes.
const MAX_DOCUMENT: usize = 512 * 1024;

/// Shortest RSA modulus, in bytes: 2048 bits.
const MIN_MODULUS: usize = 256;

/// Keys by their ids.
pub type IssuerKeySet = HashMap<String, Key>;

/// A key with the one algorithm it may be used with.
pub struct Key {
    pub algorithm: Algorithm,
    pub decoding: DecodingKey,
}

/// Reason for which the keys could not be fetched.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The issuer does not answer correctly.
    #[error("it does not answer: {0}")]
    Http(#[from] reqwest::Error),
    /// The document is not JSON of the expected shape.
    #[error("its document is malformed")]
    Malformed,
    /// The document is too large.
    #[error("its document is too large")]
    TooLarge,
    /// The discovery document names another issuer.
    #[error("its document is that of `{found}`")]
    AnotherIssuer { found: String },
    /// The keys would come over an unencrypted connection.
    #[error("its keys are not at an https address")]
    NotSecure,
}

#[derive(Deserialize)]
struct Discovery {
    issuer: String,
    jwks_uri: String,
}

/// Makes a client that follows no redirects: an issuer is at the address that the operator set.
pub fn client() -> Result<reqwest::Client, reqwest::Error> {
    reqwest::Client::builder()
        .timeout(TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("retort-api/", env!("CARGO_PKG_VERSION")))
        .build()
}

/// Fetches those keys of `issuer` that sign tokens with an allowed algorithm.
pub async fn fetch(http: &reqwest::Client, issuer: &str) -> Result<IssuerKeySet, FetchError> {
    let address = format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/'));
    let discovery: Discovery = document(http, &address).await?;
    if discovery.issuer != issuer {
        return Err(FetchError::AnotherIssuer { found: discovery.issuer });
    }
    // Plain HTTP is only for issuers that the operator configured with it: tests, and sidecars on loopback.
    if issuer.starts_with("https://") && !discovery.jwks_uri.starts_with("https://") {
        return Err(FetchError::NotSecure);
    }
    let set: RawJwkSet = document(http, &discovery.jwks_uri).await?;
    Ok(set.usable())
}

/// A JWK set as received.
#[derive(Deserialize)]
pub struct RawJwkSet {
    keys: Vec<serde_json::Value>,
}

impl RawJwkSet {
    /// Returns the keys that sign tokens with an allowed algorithm.
    pub fn usable(self) -> IssuerKeySet {
        // A key of an unknown kind must not cost the others.
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

fn usable(set: JwkSet) -> IssuerKeySet {
    let key = |jwk: Jwk| {
        let algorithm = algorithm(&jwk)?;
        let decoding = DecodingKey::from_jwk(&jwk).ok()?;
        Some((jwk.common.key_id?, Key { algorithm, decoding }))
    };
    set.keys.into_iter().filter_map(key).collect()
}

/// Returns the algorithm of the key; `None` if it is not one of ours.
fn algorithm(jwk: &Jwk) -> Option<Algorithm> {
    if matches!(jwk.common.public_key_use, Some(PublicKeyUse::Encryption)) {
        return None;
    }
    let by_kind = match &jwk.algorithm {
        AlgorithmParameters::OctetKeyPair(key)
            if key.curve == EllipticCurve::Ed25519 && has_point_length(&key.x) =>
        {
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

/// Returns true if the text has the length of an Ed25519 point: jsonwebtoken panics when it verifies with another.
fn has_point_length(x: &str) -> bool {
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
