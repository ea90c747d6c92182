//! Random secrets that are handed out and stored only as hashes: refresh tokens, codes, session cookies, script
//! tokens.
//!
//! Each has 256 random bits, so SHA-256 is enough: a slow hash would not make an unguessable secret safer.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

/// Length of a secret in characters: 32 bytes in Base64 without padding.
pub const CHARACTERS: usize = 43;

/// Generates a new secret.
pub fn fresh() -> String {
    URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())
}

/// Returns the hash of `secret` that is stored.
pub fn hash(secret: &str) -> Vec<u8> {
    Sha256::digest(secret).to_vec()
}

/// Checks that `text` has the form of our secrets.
pub fn is_wellformed(text: &str) -> bool {
    text.len() == CHARACTERS
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}
