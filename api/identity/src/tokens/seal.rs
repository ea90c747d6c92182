//! Encryption of private keys at rest: XChaCha20-Poly1305 with a random nonce, bound to the key's id.
//!
//! The secret comes from the environment and is never in the database, so that a copy of the database alone cannot
//! sign. A sealed key reads `sealed1:` and Base64 of nonce and ciphertext.

use std::{fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use chacha20poly1305::{
    KeyInit as _, XChaCha20Poly1305, XNonce,
    aead::{Aead as _, Payload},
};

const MARK: &str = "sealed1:";

const NONCE_BYTES: usize = 24;

/// Secret that seals the keys: 32 bytes, written in Base64.
#[derive(Clone)]
pub struct SealingKey([u8; 32]);

impl fmt::Debug for SealingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The text is not 32 bytes in Base64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("want 32 bytes in Base64, as `openssl rand -base64 32` writes them")]
pub struct InvalidSealingKey;

impl FromStr for SealingKey {
    type Err = InvalidSealingKey;

    fn from_str(text: &str) -> Result<Self, InvalidSealingKey> {
        let bytes = STANDARD.decode(text.trim()).map_err(|_| InvalidSealingKey)?;
        bytes.try_into().map(Self).map_err(|_| InvalidSealingKey)
    }
}

/// Reason for which a sealed key cannot be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no secret.
    #[error("it is sealed, and there is no secret to open it with")]
    NoSecret,
    /// The secret is the wrong one, or the text was changed.
    #[error("it is sealed with another secret, or damaged")]
    WrongSecret,
}

/// Returns true if `stored` is sealed.
#[must_use]
pub fn is_sealed(stored: &str) -> bool {
    stored.starts_with(MARK)
}

/// Seals `text` for the key `kid`.
///
/// # Panics
/// Never: a key of a few hundred bytes is not too long for the cipher.
#[must_use]
pub fn seal(kid: &str, text: &str, secret: &SealingKey) -> String {
    let nonce: [u8; NONCE_BYTES] = rand::random();
    let payload = Payload { msg: text.as_bytes(), aad: kid.as_bytes() };
    let sealed = cipher(secret)
        .encrypt(&XNonce::from(nonce), payload)
        .expect("seal: the text is not too long for the cipher");
    format!("{MARK}{}", STANDARD.encode([&nonce[..], &sealed].concat()))
}

/// Returns the stored key `kid`, opened if it is sealed.
///
/// # Errors
/// Fails if it is sealed and `secret` is missing or wrong.
pub fn open(kid: &str, stored: &str, secret: Option<&SealingKey>) -> Result<String, OpenError> {
    let Some(sealed) = stored.strip_prefix(MARK) else { return Ok(stored.to_owned()) };
    let secret = secret.ok_or(OpenError::NoSecret)?;
    let bytes = STANDARD.decode(sealed).map_err(|_| OpenError::WrongSecret)?;
    let (nonce, ciphertext) = bytes.split_first_chunk::<NONCE_BYTES>().ok_or(OpenError::WrongSecret)?;
    let payload = Payload { msg: ciphertext, aad: kid.as_bytes() };
    let text = cipher(secret).decrypt(&XNonce::from(*nonce), payload).map_err(|_| OpenError::WrongSecret)?;
    String::from_utf8(text).map_err(|_| OpenError::WrongSecret)
}

fn cipher(secret: &SealingKey) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(&secret.0.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_key_opens_with_its_secret_and_its_name_alone() {
        let secret = SealingKey([1; 32]);
        let sealed = seal("kid", "private", &secret);

        assert!(is_sealed(&sealed) && !sealed.contains("private"));
        assert_eq!(open("kid", &sealed, Some(&secret)).as_deref(), Ok("private"));
        assert_eq!(open("other", &sealed, Some(&secret)), Err(OpenError::WrongSecret));
        assert_eq!(open("kid", &sealed, Some(&SealingKey([2; 32]))), Err(OpenError::WrongSecret));
        assert_eq!(open("kid", &sealed, None), Err(OpenError::NoSecret));
        assert_eq!(open("kid", "sealed1:AAAA", Some(&secret)), Err(OpenError::WrongSecret));
        assert_eq!(open("kid", "not sealed", None).as_deref(), Ok("not sealed"));
        assert_ne!(seal("kid", "private", &secret), sealed);
    }

    #[test]
    fn a_secret_is_32_bytes_and_never_printed() {
        let text = STANDARD.encode([7; 32]);

        assert_eq!(format!("{:?}", text.parse::<SealingKey>().unwrap()), "Secret(…)");
        for bad in ["", "short", &STANDARD.encode([7; 31]), &STANDARD.encode([7; 33])] {
            assert_eq!(bad.parse::<SealingKey>().unwrap_err(), InvalidSealingKey);
        }
    }
}
