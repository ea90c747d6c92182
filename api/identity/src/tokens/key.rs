//! Ed25519 key pairs (RFC 8032), identified by their thumbprint (RFC 7638).

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use ed25519_dalek::{
    SigningKey,
    pkcs8::{EncodePrivateKey as _, EncodePublicKey as _, spki::der::pem::LineEnding},
};
use sha2::{Digest as _, Sha256};

use crate::tokens::seal::{SealingKey, seal};

/// A key pair as a row of `signing_keys`.
#[derive(Debug, Clone)]
pub struct StoredKey {
    /// Thumbprint, by which tokens name their key.
    pub kid: String,
    /// Always `EdDSA`.
    pub algorithm: &'static str,
    /// PKCS #8 in PEM, sealed if there is a secret to seal it with.
    pub private_key_pem: String,
    /// SPKI in PEM.
    pub public_key_pem: String,
}

/// Makes a key pair from the system's random numbers.
///
/// # Panics
/// Never: any 32 bytes are a key, and a key can be encoded.
#[must_use]
pub fn generate(secret: Option<&SealingKey>) -> StoredKey {
    let key = SigningKey::from_bytes(&rand::random());
    let kid = thumbprint(&URL_SAFE_NO_PAD.encode(key.verifying_key().as_bytes()));
    let private =
        key.to_pkcs8_pem(LineEnding::LF).expect("generate: 32 bytes make a key that can be written");
    let public = key
        .verifying_key()
        .to_public_key_pem(LineEnding::LF)
        .expect("generate: 32 bytes make a key that can be written");
    let private_key_pem = match secret {
        Some(secret) => seal(&kid, &private, secret),
        None => private.to_string(),
    };
    StoredKey { kid, algorithm: "EdDSA", private_key_pem, public_key_pem: public }
}

/// Returns the thumbprint of the public key with the Base64 point `x`: a hash of the members in their order (RFC
/// 7638).
#[must_use]
pub fn thumbprint(x: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 8037, appendix A.3.
    #[test]
    fn a_kid_is_the_thumbprint_of_rfc_7638() {
        let kid = thumbprint("11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo");

        assert_eq!(kid, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
    }
}
