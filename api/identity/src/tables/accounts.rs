//! Accounts and their own quotas, including the operators' changes, which are broadcast to every process.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use chrono::{DateTime, Utc};
use contract::{QuotaKind, scope};
use http_errors::ApiError;
use quick_cache::sync::Cache;
use serde::Serialize;
use sqlx::{PgConnection, PgPool, types::Json};
use ulid::Ulid;

use crate::{
    changes,
    tables::{
        codes, device_codes, login_links, refresh_tokens,
        script_tokens::{self, NewScriptToken, ScriptTokenCreation},
        sessions,
    },
};

/// Lifetime of a cached account state where change notifications do not arrive: a disabled account is rejected after
/// this at the latest.
const CACHE_TTL: Duration = Duration::from_secs(30);

/// Maximum number of cached accounts.
const MAX_CACHED_ACCOUNTS: usize = 10_000;

/// Password hash of an account without a password.
pub(crate) const NO_PASSWORD: &str = "!";

/// Quotas and rate limits a minute of an account that differ from the defaults, set by the operator; 0 is no limit.
pub type AccountQuotas = BTreeMap<String, u32>;

/// Prefix of the id of an account from another issuer.
pub(crate) const EXTERNAL_ID_PREFIX: &str = "ext_";

/// Returns true if the account was created for a person of another issuer.
pub(crate) fn is_external(account_id: &str) -> bool {
    account_id.starts_with(EXTERNAL_ID_PREFIX)
}

/// Access to accounts, with a short-lived cache of their states.
pub(crate) struct Accounts {
    pool: PgPool,
    remembered: Cache<String, (Instant, Option<AccountState>)>,
    /// Counter that rises at each invalidation, so that a state read before it is not cached after it.
    forgotten: AtomicU64,
}

/// State of an account that decides about its tokens.
#[derive(Debug, Clone)]
pub(crate) struct AccountState {
    /// Current scopes, the maximum for its tokens.
    pub scopes: Vec<String>,
    /// Time in microseconds of the epoch; tokens from logins before it have ended.
    pub tokens_from: i64,
    /// Quotas and rate limits that differ from the defaults.
    pub quotas: AccountQuotas,
}

/// Account data for logins and tokens.
#[derive(Debug)]
pub(crate) struct Account {
    pub id: String,
    pub email: String,
    pub name: String,
    pub password_hash: String,
    pub scopes: Vec<String>,
    pub active: bool,
}

impl Accounts {
    pub fn new(pool: PgPool) -> Self {
        Self { pool, remembered: Cache::new(MAX_CACHED_ACCOUNTS), forgotten: AtomicU64::new(0) }
    }

    /// Returns the state of the account, at most half a minute old; `None` if it is unknown or disabled.
    pub async fn state(&self, id: &str) -> Result<Option<AccountState>, ApiError> {
        // PostgreSQL rejects a query with a NUL character.
        if id.contains('\0') {
            return Ok(None);
        }
        if let Some((seen, state)) = self.remembered.get(id)
            && seen.elapsed() < CACHE_TTL
        {
            return Ok(state);
        }
        let (seen, forgotten) = (Instant::now(), self.forgotten.load(Ordering::Acquire));
        let state = find_state(&self.pool, id).await?;
        self.remembered.insert(id.to_owned(), (seen, state.clone()));
        if self.forgotten.load(Ordering::Acquire) != forgotten {
            self.remembered.remove(id);
        }
        Ok(state)
    }

    /// Drops the cached state of the account, or with `None` of every account.
    pub fn forget(&self, id: Option<&str>) {
        self.forgotten.fetch_add(1, Ordering::AcqRel);
        match id {
            Some(id) => drop(self.remembered.remove(id)),
            None => self.remembered.clear(),
        }
    }

    /// Creates an account without a password for a person of another issuer, if there is none.
    pub async fn record_login(&self, id: &str, name: &str) -> Result<(), sqlx::Error> {
        let scopes: Vec<_> = scope::ordinary().collect();
        let made = sqlx::query!(
            "insert into accounts (id, email, name, password_hash, scopes) \
             values ($1, $1 || '@external.invalid', $2, $3, $4) on conflict do nothing",
            id,
            name.replace('\0', ""),
            NO_PASSWORD,
            &scopes as &[&str]
        )
        .execute(&self.pool)
        .await?;
        if made.rows_affected() > 0 {
            tracing::info!(target: "audit", { account.id = id }, "made an account for a person from elsewhere");
        }
        // Another process may have created it since this one checked.
        self.forget(Some(id));
        Ok(())
    }

    /// Returns the account with this address, and the time of the read by the database's clock. A change of its
    /// password or a disabling waits for both reads, and ends exactly the logins before it.
    pub async fn find_by_email(&self, email: &str) -> Result<(Option<Account>, DateTime<Utc>), sqlx::Error> {
        let mut transaction = self.pool.begin().await?;
        let account = sqlx::query_as!(
            Account,
            r#"select id, email, name, password_hash, scopes, disabled_at is null as "active!"
             from accounts where lower(email) = lower($1) for share"#,
            email
        )
        .fetch_optional(&mut *transaction)
        .await?;
        let at =
            sqlx::query_scalar!(r#"select clock_timestamp() as "at!""#).fetch_one(&mut *transaction).await?;
        transaction.commit().await?;
        Ok((account, at))
    }

    pub async fn find(&self, id: &str) -> Result<Option<Account>, sqlx::Error> {
        sqlx::query_as!(
            Account,
            r#"select id, email, name, password_hash, scopes, disabled_at is null as "active!"
             from accounts where id = $1"#,
            id
        )
        .fetch_optional(&self.pool)
        .await
    }
}

async fn find_state(pool: &PgPool, id: &str) -> Result<Option<AccountState>, sqlx::Error> {
    let state = sqlx::query!(
        r#"select scopes, coalesce((extract(epoch from tokens_from) * 1000000)::bigint, 0) as "tokens_from!",
         coalesce((select jsonb_object_agg(ration, per_minute) from account_rations where account_id = id), '{}')
         as "rations!: Json<AccountQuotas>"
         from accounts where id = $1 and disabled_at is null"#,
        id
    )
    .fetch_optional(pool)
    .await?;
    Ok(state.map(|row| AccountState {
        scopes: row.scopes,
        tokens_from: row.tokens_from,
        quotas: row.rations.0,
    }))
}

/// An account in the operator's list.
#[derive(Debug)]
pub struct AccountListItem {
    /// E-mail address for logins.
    pub email: String,
    /// True if the account is not disabled.
    pub active: bool,
    /// Scopes of its tokens.
    pub scopes: Vec<String>,
    /// Day of creation.
    pub created: String,
    /// Name of the person.
    pub name: String,
    /// Name of its organisation; empty for none.
    pub organisation: String,
}

/// Lists all accounts, by address.
///
/// # Errors
/// Fails when the database does, like everything here.
pub async fn list(connection: &mut PgConnection) -> Result<Vec<AccountListItem>, sqlx::Error> {
    sqlx::query_as!(
        AccountListItem,
        r#"select email, disabled_at is null as "active!", scopes, to_char(accounts.created_at, 'YYYY-MM-DD') as "created!",
         accounts.name, coalesce(organisations.name, '') as "organisation!"
         from accounts left join organisations on organisations.id = organisation_id order by lower(email)"#
    )
    .fetch_all(connection)
    .await
}

/// Creates an account; returns false if there is one with this address.
pub async fn add(
    connection: &mut PgConnection,
    email: &str,
    name: &str,
    password_hash: &str,
    scopes: &[String],
) -> Result<bool, sqlx::Error> {
    let made = sqlx::query!(
        "insert into accounts (id, email, name, password_hash, scopes) values ($1, $2, $3, $4, $5) \
         on conflict (lower(email)) do nothing",
        format!("acc_{}", Ulid::generate().to_string().to_ascii_lowercase()),
        email,
        name,
        password_hash,
        scopes
    )
    .execute(connection)
    .await?;
    Ok(made.rows_affected() > 0)
}

/// An account found by an address that an operator typed.
#[derive(Debug)]
pub struct AccountHandle {
    id: String,
    /// The address as it was registered.
    pub email: String,
    /// Scopes of its tokens.
    pub scopes: Vec<String>,
}

/// Finds the account with this address, if there is one.
pub async fn named(connection: &mut PgConnection, email: &str) -> Result<Option<AccountHandle>, sqlx::Error> {
    sqlx::query_as!(
        AccountHandle,
        "select id, email, scopes from accounts where lower(email) = lower($1)",
        email
    )
    .fetch_optional(connection)
    .await
}

/// Moves the account with exactly this address into an organisation, or out of its present one.
pub(crate) async fn put_into(
    connection: &mut PgConnection,
    email: &str,
    organisation_id: Option<&str>,
) -> Result<(), sqlx::Error> {
    sqlx::query!("update accounts set organisation_id = $2 where email = $1", email, organisation_id)
        .execute(connection)
        .await
        .map(drop)
}

/// Returns the addresses of the accounts with these ids, by id; deleted accounts are absent.
pub async fn addresses(
    connection: &mut PgConnection,
    ids: &[String],
) -> Result<BTreeMap<String, String>, sqlx::Error> {
    let rows = sqlx::query!("select id, email from accounts where id = any($1)", ids);
    let rows = rows.fetch_all(connection).await?;
    Ok(rows.into_iter().map(|row| (row.id, row.email)).collect())
}

/// Counts the accounts that are not disabled.
pub async fn active(connection: &mut PgConnection) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar!(r#"select count(*) as "count!" from accounts where disabled_at is null"#)
        .fetch_one(connection)
        .await
}

/// Numbers of cancelled items of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CancelledWork {
    /// Plans outside batches.
    pub plans: i64,
    /// Batches of plans.
    pub batches: i64,
    /// Asynchronous samples outside batches.
    pub samples: i64,
    /// Batches of samples.
    pub sample_batches: i64,
    /// Jobs for which a caller waited.
    pub requests: i64,
}

impl AccountHandle {
    /// Ends every token and session of the account, prevents new ones, and cancels its open work.
    pub async fn disable(&self, connection: &mut PgConnection) -> Result<CancelledWork, sqlx::Error> {
        self.end_logins(connection).await?;
        sqlx::query!("update accounts set disabled_at = coalesce(disabled_at, now()) where id = $1", self.id)
            .execute(&mut *connection)
            .await?;
        self.cancel_open_work(connection).await
    }

    /// Cancels all open work of the account.
    pub async fn cancel_open_work(
        &self,
        connection: &mut PgConnection,
    ) -> Result<CancelledWork, sqlx::Error> {
        sqlx::query_as!(
            CancelledWork,
            r#"select ended_plans as "plans!", ended_batches as "batches!", ended_samples as "samples!",
             ended_sample_batches as "sample_batches!", ended_requests as "requests!" from cancel_open_work($1)"#,
            self.id
        )
        .fetch_one(connection)
        .await
    }

    /// Lets the account log in again.
    pub async fn enable(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        let change = sqlx::query!("update accounts set disabled_at = null where id = $1", self.id);
        change.execute(&mut *connection).await?;
        changes::publish(connection, &self.id).await
    }

    /// Logs the account in for an operator. Returns a code that can be redeemed with `redirect_uri` and the verifier
    /// of `code_challenge`, as after a login in a browser; `None` where the account is disabled.
    pub async fn log_in(
        &self,
        connection: &mut PgConnection,
        (client_id, redirect_uri): (&str, &str),
        code_challenge: &str,
    ) -> Result<Option<String>, sqlx::Error> {
        let held = sqlx::query!(
            "select scopes, clock_timestamp() as \"at!\" from accounts where id = $1 and disabled_at is null for share",
            self.id
        )
        .fetch_optional(&mut *connection)
        .await?;
        let Some(held) = held else { return Ok(None) };
        let promise = codes::CodeGrant {
            family: codes::new_family(),
            client_id: client_id.to_owned(),
            account_id: self.id.clone(),
            redirect_uri: redirect_uri.to_owned(),
            code_challenge: code_challenge.to_owned(),
            scopes: held.scopes,
            nonce: None,
            authenticated_at: held.at,
        };
        codes::issue(connection, &promise).await.map(Some)
    }

    /// Makes a link that logs the account in once within `lifetime`. Returns its secret, or `None` where the account
    /// is disabled.
    pub async fn link(
        &self,
        connection: &mut PgConnection,
        lifetime: Duration,
    ) -> Result<Option<String>, sqlx::Error> {
        let active = sqlx::query_scalar!(
            "select id from accounts where id = $1 and disabled_at is null for share",
            self.id
        )
        .fetch_optional(&mut *connection)
        .await?;
        match active {
            Some(id) => login_links::issue(connection, &id, lifetime).await.map(Some),
            None => Ok(None),
        }
    }

    /// Makes a script token of the account; `None` where the account is disabled.
    pub async fn make_token(
        &self,
        connection: &mut PgConnection,
        new: NewScriptToken<'_>,
    ) -> Result<Option<ScriptTokenCreation>, sqlx::Error> {
        let at = sqlx::query_scalar!(
            "select clock_timestamp() as \"at!\" from accounts where id = $1 and disabled_at is null for share",
            self.id
        )
        .fetch_optional(&mut *connection)
        .await?;
        match at {
            Some(at) => script_tokens::make(connection, &self.id, at, new).await.map(Some),
            None => Ok(None),
        }
    }

    /// Lists the account's script tokens, the latest first.
    pub async fn tokens(
        &self,
        connection: &mut PgConnection,
    ) -> Result<Vec<script_tokens::ScriptTokenEntry>, sqlx::Error> {
        script_tokens::list(connection, &self.id).await
    }

    /// Ends the account's script token of this name; returns false if there is none.
    pub async fn end_token(&self, connection: &mut PgConnection, name: &str) -> Result<bool, sqlx::Error> {
        script_tokens::end(connection, &self.id, name).await
    }

    /// Changes the password of the account, and ends everything that the old one gave access to.
    pub async fn change_password(
        &self,
        connection: &mut PgConnection,
        password_hash: &str,
    ) -> Result<(), sqlx::Error> {
        self.end_logins(connection).await?;
        sqlx::query!("update accounts set password_hash = $2 where id = $1", self.id, password_hash)
            .execute(connection)
            .await
            .map(drop)
    }

    /// Sets the scopes of the account's tokens; existing tokens lose all others.
    pub async fn change_scopes(
        &self,
        connection: &mut PgConnection,
        scopes: &[String],
    ) -> Result<(), sqlx::Error> {
        let change = sqlx::query!("update accounts set scopes = $2 where id = $1", self.id, scopes);
        change.execute(&mut *connection).await?;
        changes::publish(connection, &self.id).await
    }

    /// Sets a quota or rate limit of the account, or with `None` resets it to the default.
    pub async fn change_ration(
        &self,
        connection: &mut PgConnection,
        quota_kind: QuotaKind,
        per_minute: Option<i32>,
    ) -> Result<(), sqlx::Error> {
        let change = match per_minute {
            Some(per_minute) => sqlx::query!(
                "insert into account_rations (account_id, ration, per_minute) values ($1, $2, $3) \
                 on conflict (account_id, ration) do update set per_minute = excluded.per_minute",
                self.id,
                quota_kind.as_str(),
                per_minute
            ),
            None => sqlx::query!(
                "delete from account_rations where account_id = $1 and ration = $2",
                self.id,
                quota_kind.as_str()
            ),
        };
        change.execute(&mut *connection).await?;
        changes::publish(connection, &self.id).await
    }

    /// Ends all sessions and tokens from earlier logins. Waits for logins that are reading the account, so that they
    /// count as earlier.
    async fn end_logins(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        let held = sqlx::query!("select from accounts where id = $1 for no key update", self.id);
        held.execute(&mut *connection).await?;
        let ended =
            sqlx::query!("update accounts set tokens_from = clock_timestamp() where id = $1", self.id);
        ended.execute(&mut *connection).await?;
        changes::publish(connection, &self.id).await?;
        refresh_tokens::end_account(connection, &self.id).await?;
        sessions::end_account(connection, &self.id).await?;
        codes::end_account(connection, &self.id).await?;
        login_links::end_account(connection, &self.id).await?;
        script_tokens::end_account(connection, &self.id).await?;
        device_codes::end_account(connection, &self.id).await
    }
}
