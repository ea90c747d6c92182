//! Random secrets that we hand out and keep only as hashes: refresh tokens, codes, session cookies, tokens for scripts.
//!
//! Each is 256 random bits, so SHA-256 is enough: a slow hash would add nothing to what cannot be guessed.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

/// Characters of a secret: 32 bytes in Base64 without padding.
pub const CHARACTERS: usize = 43;

/// A new secret.
pub fn fresh() -> String {
    URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())
}

/// What is stored of `secret`.
pub fn hash(secret: &str) -> Vec<u8> {
    Sha256::digest(secret).to_vec()
}

/// Whether `text` could be one of ours.
pub fn is_wellformed(text: &str) -> bool {
    text.len() == CHARACTERS
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}
