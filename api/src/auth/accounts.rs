//! The accounts table, as the API reads it; `retort account` writes it.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use contract::scope;
use sqlx::{FromRow, PgPool};

use crate::{app::App, error::ApiError, limits::Rations};

/// How long an account's state is believed: a disabled account is refused after this at the latest.
const BELIEVED: Duration = Duration::from_secs(30);

/// The password hash of an account that has none.
const NO_PASSWORD: &str = "!";

/// Access to accounts, with a short memory of how they stand.
pub struct Accounts {
    pool: PgPool,
    remembered: Mutex<HashMap<String, (Instant, Option<Standing>)>>,
}

/// What of an account decides about its tokens.
#[derive(Debug, Clone, FromRow)]
pub struct Standing {
    /// What its tokens may do at most, by now.
    pub scopes: Vec<String>,
    /// Tokens from before this, in seconds of the epoch, have ended.
    pub tokens_from: i64,
    /// What it has of each ration, where that is another than everybody's.
    #[sqlx(json)]
    pub rations: Rations,
}

/// What logins and tokens need of an account.
#[derive(Debug, FromRow)]
pub struct Account {
    pub id: String,
    pub email: String,
    pub name: String,
    pub password_hash: String,
    pub scopes: Vec<String>,
    pub active: bool,
}

impl Accounts {
    pub fn new(pool: PgPool) -> Self {
        Self { pool, remembered: Mutex::default() }
    }

    /// How the account stands, as of half a minute ago at most; `None` if it is unknown or disabled.
    pub async fn standing(&self, id: &str) -> Result<Option<Standing>, ApiError> {
        // PostgreSQL cannot be asked for a NUL character.
        if id.contains('\0') {
            return Ok(None);
        }
        if let Some((seen, standing)) = self.remembered().get(id)
            && seen.elapsed() < BELIEVED
        {
            return Ok(standing.clone());
        }
        let standing = find_standing(&self.pool, id).await?;
        // Only ids from signed tokens come here, so the map grows with the accounts and no further.
        self.remembered().insert(id.to_owned(), (Instant::now(), standing.clone()));
        Ok(standing)
    }

    /// Makes an account without a password for somebody from elsewhere, if there is none.
    pub async fn welcome(&self, id: &str, name: &str) -> Result<(), sqlx::Error> {
        let scopes: Vec<_> = scope::ALL.iter().map(|(name, _)| *name).collect();
        let made = sqlx::query(
            "insert into accounts (id, email, name, password_hash, scopes) \
             values ($1, $1 || '@external.invalid', $2, $3, $4) on conflict do nothing",
        )
        .bind(id)
        .bind(name.replace('\0', ""))
        .bind(NO_PASSWORD)
        .bind(scopes)
        .execute(&self.pool)
        .await?;
        if made.rows_affected() > 0 {
            tracing::info!(target: "audit", { account.id = id }, "made an account for a person from elsewhere");
            self.remembered().remove(id);
        }
        Ok(())
    }

    pub async fn find_by_email(&self, email: &str) -> Result<Option<Account>, sqlx::Error> {
        sqlx::query_as(
            "select id, email, name, password_hash, scopes, disabled_at is null as active \
             from accounts where lower(email) = lower($1)",
        )
        .bind(email)
        .fetch_optional(&self.pool)
        .await
    }

    pub async fn find(&self, id: &str) -> Result<Option<Account>, sqlx::Error> {
        sqlx::query_as(
            "select id, email, name, password_hash, scopes, disabled_at is null as active \
             from accounts where id = $1",
        )
        .bind(id)
        .fetch_optional(&self.pool)
        .await
    }

    fn remembered(&self) -> std::sync::MutexGuard<'_, HashMap<String, (Instant, Option<Standing>)>> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The account of `email`, if the password is right and the account not disabled. What is wrong does not
/// show, in the answer or in its time.
pub async fn authenticate(app: &App, email: &str, password: &str) -> Result<Option<Account>, ApiError> {
    let account = app.accounts.find_by_email(email).await?;
    let hash = account.as_ref().map(|account| account.password_hash.clone());
    let hash = hash.filter(|hash| hash != NO_PASSWORD);
    let right = app.passwords.check(password.to_owned(), hash).await?;
    let id = account.as_ref().map(|account| account.id.clone());
    let account = account.filter(|account| right && account.active);
    match &account {
        Some(account) => tracing::info!(target: "audit", { account.id = account.id }, "a person logged in"),
        // The address is not written down: people type their passwords into the wrong field.
        None => tracing::warn!(target: "audit", { account.id = id }, "a login failed"),
    }
    Ok(account)
}

async fn find_standing(pool: &PgPool, id: &str) -> Result<Option<Standing>, sqlx::Error> {
    sqlx::query_as(
        "select scopes, coalesce(floor(extract(epoch from tokens_from))::bigint, 0) as tokens_from, \
         coalesce((select jsonb_object_agg(ration, per_minute) from account_rations where account_id = id), '{}') \
         as rations \
         from accounts where id = $1 and disabled_at is null",
    )
    .bind(id)
    .fetch_optional(pool)
    .await
}
