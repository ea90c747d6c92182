//! Checks passwords: Argon2id, off the async threads, a few at a time.

use std::{num::NonZeroUsize, sync::Arc, time::Duration};

use argon2::{
    Argon2, PasswordHash, PasswordHasher, PasswordVerifier,
    password_hash::{self, SaltString},
};
use edge::ApiError;
use tokio::sync::Semaphore;

/// Longer passwords are refused unread.
pub const MAX_BYTES: usize = 1024;

/// How long a login waits for its turn.
const PATIENCE: Duration = Duration::from_secs(5);

/// The checker; each check takes 19 MiB and some tens of milliseconds of a core, so they are rationed to half of the process's threads.
#[derive(Clone)]
pub struct Passwords {
    turns: Arc<Semaphore>,
    /// The hash of no account's password, with the parameters of every account's: checked when the account
    /// does not exist, so that the time of the answer does not tell.
    stand_in: Arc<str>,
}

impl Passwords {
    pub fn new(threads: NonZeroUsize) -> Self {
        let secret: [u8; 32] = rand::random();
        let hash = hash_bytes(&secret).expect("passwords: the default parameters are valid");
        Self { turns: Arc::new(Semaphore::new(threads.get().div_ceil(2))), stand_in: hash.into() }
    }

    /// Whether `password` is that of `hash`; `None` takes as long and is never right.
    pub async fn check(&self, password: String, hash: Option<String>) -> Result<bool, ApiError> {
        let busy = ApiError::Unavailable { retry_after: PATIENCE, reason: "Too many logins at once" };
        let turn = tokio::time::timeout(PATIENCE, self.turns.clone().acquire_owned()).await;
        let Ok(Ok(turn)) = turn else { return Err(busy) };
        let stand_in = self.stand_in.clone();
        let check = tokio::task::spawn_blocking(move || {
            // The turn ends with the work, not with a caller that hung up.
            let _turn = turn;
            let exists = hash.is_some();
            let matches = matches(&password, hash.as_deref().unwrap_or(&stand_in));
            matches && exists
        });
        check.await.map_err(|error| ApiError::internal(&error))
    }
}

/// What is stored of a password: Argon2id in PHC form, with the crate's default parameters (19 MiB, two passes, one lane), which are
/// OWASP's.
///
/// # Errors
/// Fails when the password is longer than the hash takes.
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
