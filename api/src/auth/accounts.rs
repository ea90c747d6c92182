//! The accounts table, as the API reads it; `retort account` writes it.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use sqlx::{FromRow, PgPool};

use crate::error::ApiError;

/// How long an account's state is believed: a disabled account is refused after this at the latest.
const BELIEVED: Duration = Duration::from_secs(30);

/// Access to accounts, with a short memory of which are active.
pub struct Accounts {
    pool: PgPool,
    active: Mutex<HashMap<String, (Instant, bool)>>,
}

/// What a login needs of an account.
#[derive(Debug, FromRow)]
pub struct Account {
    pub id: String,
    pub password_hash: String,
    pub scopes: Vec<String>,
    pub active: bool,
}

impl Accounts {
    pub fn new(pool: PgPool) -> Self {
        Self { pool, active: Mutex::default() }
    }

    /// Whether the account exists and is not disabled, as of half a minute ago at most.
    pub async fn is_active(&self, id: &str) -> Result<bool, ApiError> {
        if let Some((seen, active)) = self.remembered().get(id)
            && seen.elapsed() < BELIEVED
        {
            return Ok(*active);
        }
        let active = find_active(&self.pool, id).await?;
        // Only ids from signed tokens come here, so the map grows with the accounts and no further.
        self.remembered().insert(id.to_owned(), (Instant::now(), active));
        Ok(active)
    }

    pub async fn find_by_email(&self, email: &str) -> Result<Option<Account>, sqlx::Error> {
        sqlx::query_as(
            "select id, password_hash, scopes, disabled_at is null as active \
             from accounts where lower(email) = lower($1)",
        )
        .bind(email)
        .fetch_optional(&self.pool)
        .await
    }

    fn remembered(&self) -> std::sync::MutexGuard<'_, HashMap<String, (Instant, bool)>> {
        self.active.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn find_active(pool: &PgPool, id: &str) -> Result<bool, sqlx::Error> {
    let (active,): (bool,) =
        sqlx::query_as("select exists (select from accounts where id = $1 and disabled_at is null)")
            .bind(id)
            .fetch_one(pool)
            .await?;
    Ok(active)
}
