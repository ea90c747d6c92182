//! Verification of passwords with Argon2id, off the async threads, a few at a time.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use argon2::{
    Argon2, PasswordHash, PasswordHasher, PasswordVerifier,
    password_hash::{self, SaltString},
};
use http_errors::ApiError;
use tokio::sync::Semaphore;

/// Longest password in bytes; longer ones are refused unread.
pub const MAX_BYTES: usize = 1024;

/// Longest time that a login waits for a permit.
const PERMIT_TIMEOUT: Duration = Duration::from_secs(5);

/// Password verifier. Each check takes 19 MiB and some tens of milliseconds of a core, so at most half of the
/// process's threads run one.
#[derive(Clone)]
pub struct PasswordChecker {
    permits: Arc<Semaphore>,
    /// Hash of no account's password, with the usual parameters. It is verified when the account does not exist, so
    /// that the response time does not reveal that.
    stand_in: Arc<str>,
}

impl PasswordChecker {
    pub fn new(threads: NonZeroUsize) -> Self {
        let secret: [u8; 32] = rand::random();
        let hash = hash_bytes(&secret).expect("passwords: the default parameters are valid");
        Self { permits: Arc::new(Semaphore::new(threads.get().div_ceil(2))), stand_in: hash.into() }
    }

    /// Returns true if `password` matches `hash`; `None` takes as long and never matches.
    pub async fn check(&self, password: String, hash: Option<String>) -> Result<bool, ApiError> {
        let busy = ApiError::Unavailable { retry_after: PERMIT_TIMEOUT, reason: "Too many logins at once" };
        let permit = tokio::time::timeout(PERMIT_TIMEOUT, self.permits.clone().acquire_owned()).await;
        let Ok(Ok(permit)) = permit else { return Err(busy) };
        let stand_in = self.stand_in.clone();
        let check = tokio::task::spawn_blocking(move || {
            // The permit belongs to the work, so a caller that hangs up does not free it early.
            let _turn = permit;
            let exists = hash.is_some();
            let matches = matches(&password, hash.as_deref().unwrap_or(&stand_in));
            matches && exists
        });
        check.await.map_err(|error| ApiError::internal(&error))
    }
}

/// Hashes a password for storage: Argon2id in PHC form, with the crate's default parameters (19 MiB, two passes, one
/// lane), which are OWASP's.
///
/// # Errors
/// Fails when the password is longer than the hash function takes.
pub fn hash(password: &str) -> Result<String, password_hash::Error> {
    hash_bytes(password.as_bytes())
}

fn hash_bytes(password: &[u8]) -> Result<String, password_hash::Error> {
    let salt = SaltString::encode_b64(&rand::random::<[u8; 16]>())?;
    Ok(Argon2::default().hash_password(password, &salt)?.to_string())
}

fn matches(password: &str, hash: &str) -> bool {
    let Ok(hash) = PasswordHash::new(hash) else {
        tracing::error!("an account's password hash is damaged");
        return false;
    };
    password.len() <= MAX_BYTES && Argon2::default().verify_password(password.as_bytes(), &hash).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_kept_as_an_argon2id_hash_that_verifies_it() {
        let hash = hash("correct horse battery").unwrap();

        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        let parsed = PasswordHash::new(&hash).unwrap();
        assert!(Argon2::default().verify_password(b"correct horse battery", &parsed).is_ok());
        assert!(Argon2::default().verify_password(b"correct horse", &parsed).is_err());
    }
}
