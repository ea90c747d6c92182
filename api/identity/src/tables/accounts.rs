//! Accounts and their own rations. What operators do with them is here too; every process is told of it.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use chrono::{DateTime, Utc};
use contract::{Ration, scope};
use edge::ApiError;
use quick_cache::sync::Cache;
use serde::Serialize;
use sqlx::{PgConnection, PgPool, types::Json};
use ulid::Ulid;

use crate::{
    changes,
    tables::{
        codes, device_codes, login_links, refresh,
        script_tokens::{self, Made, New},
        sessions,
    },
};

/// How long an account's state is believed where nobody is told of changes: a disabled account is refused after this at the latest.
const BELIEVED: Duration = Duration::from_secs(30);

/// Accounts remembered at once.
const REMEMBERED: usize = 10_000;

/// The password hash of an account that has none.
pub(crate) const NO_PASSWORD: &str = "!";

/// What an account has of each ration a minute, where the operator gave it another than everybody; 0 is no
/// limit.
pub type Rations = BTreeMap<String, u32>;

/// What the id of a person from elsewhere begins with.
pub(crate) const FROM_ELSEWHERE: &str = "ext_";

/// Whether the account was made for somebody whom another issuer named.
pub(crate) fn is_from_elsewhere(account_id: &str) -> bool {
    account_id.starts_with(FROM_ELSEWHERE)
}

/// Access to accounts, with a short memory of how they stand.
pub(crate) struct Accounts {
    pool: PgPool,
    remembered: Cache<String, (Instant, Option<Standing>)>,
    /// Rises with everything that is forgotten, so that what was read before is not remembered after.
    forgotten: AtomicU64,
}

/// What of an account decides about its tokens.
#[derive(Debug, Clone)]
pub(crate) struct Standing {
    /// What its tokens may do at most, by now.
    pub scopes: Vec<String>,
    /// What came from a login before this, in microseconds of the epoch, has ended.
    pub tokens_from: i64,
    /// What it has of each ration, where that is another than everybody's.
    pub rations: Rations,
}

/// What logins and tokens need of an account.
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
        Self { pool, remembered: Cache::new(REMEMBERED), forgotten: AtomicU64::new(0) }
    }

    /// How the account stands, as of half a minute ago at most; `None` if it is unknown or disabled.
    pub async fn standing(&self, id: &str) -> Result<Option<Standing>, ApiError> {
        // PostgreSQL cannot be asked for a NUL character.
        if id.contains('\0') {
            return Ok(None);
        }
        if let Some((seen, standing)) = self.remembered.get(id)
            && seen.elapsed() < BELIEVED
        {
            return Ok(standing);
        }
        let (seen, forgotten) = (Instant::now(), self.forgotten.load(Ordering::Acquire));
        let standing = find_standing(&self.pool, id).await?;
        self.remembered.insert(id.to_owned(), (seen, standing.clone()));
        if self.forgotten.load(Ordering::Acquire) != forgotten {
            self.remembered.remove(id);
        }
        Ok(standing)
    }

    /// Asks anew how the account stands, or with `None` every account.
    pub fn forget(&self, id: Option<&str>) {
        self.forgotten.fetch_add(1, Ordering::AcqRel);
        match id {
            Some(id) => drop(self.remembered.remove(id)),
            None => self.remembered.clear(),
        }
    }

    /// Makes an account without a password for somebody from elsewhere, if there is none.
    pub async fn welcome(&self, id: &str, name: &str) -> Result<(), sqlx::Error> {
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
        // Another process may have made it since this one looked.
        self.forget(Some(id));
        Ok(())
    }

    /// The account of this address, and the time by the database's clock at which it was so: whoever changes its password
    /// or disables it waits until both are read, and what they end is all that came from logins before.
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

async fn find_standing(pool: &PgPool, id: &str) -> Result<Option<Standing>, sqlx::Error> {
    let standing = sqlx::query!(
        r#"select scopes, coalesce((extract(epoch from tokens_from) * 1000000)::bigint, 0) as "tokens_from!",
         coalesce((select jsonb_object_agg(ration, per_minute) from account_rations where account_id = id), '{}')
         as "rations!: Json<Rations>"
         from accounts where id = $1 and disabled_at is null"#,
        id
    )
    .fetch_optional(pool)
    .await?;
    Ok(standing.map(|found| Standing {
        scopes: found.scopes,
        tokens_from: found.tokens_from,
        rations: found.rations.0,
    }))
}

/// An account as the operator's list shows it.
#[derive(Debug)]
pub struct Listed {
    /// The address that it logs in with.
    pub email: String,
    /// Whether it is not disabled.
    pub active: bool,
    /// What its tokens may do.
    pub scopes: Vec<String>,
    /// The day it was made.
    pub created: String,
    /// The person's name.
    pub name: String,
    /// The name of its organisation; empty for none.
    pub organisation: String,
}

/// Every account, by its address.
///
/// # Errors
/// Fails when the database does, like everything here.
pub async fn list(connection: &mut PgConnection) -> Result<Vec<Listed>, sqlx::Error> {
    sqlx::query_as!(
        Listed,
        r#"select email, disabled_at is null as "active!", scopes, to_char(accounts.created_at, 'YYYY-MM-DD') as "created!",
         accounts.name, coalesce(organisations.name, '') as "organisation!"
         from accounts left join organisations on organisations.id = organisation_id order by lower(email)"#
    )
    .fetch_all(connection)
    .await
}

/// Makes an account; false if there is one of this address.
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

/// An account by the address that somebody typed.
#[derive(Debug)]
pub struct Named {
    id: String,
    /// The address as it was registered.
    pub email: String,
    /// What its tokens may do.
    pub scopes: Vec<String>,
}

/// The account of this address, if there is one.
pub async fn named(connection: &mut PgConnection, email: &str) -> Result<Option<Named>, sqlx::Error> {
    sqlx::query_as!(Named, "select id, email, scopes from accounts where lower(email) = lower($1)", email)
        .fetch_optional(connection)
        .await
}

/// Puts the account of this very address into an organisation, or out of every one.
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

/// The addresses of the accounts with these ids, by id; one that has gone is absent.
pub async fn addresses(
    connection: &mut PgConnection,
    ids: &[String],
) -> Result<BTreeMap<String, String>, sqlx::Error> {
    let rows = sqlx::query!("select id, email from accounts where id = any($1)", ids);
    let rows = rows.fetch_all(connection).await?;
    Ok(rows.into_iter().map(|row| (row.id, row.email)).collect())
}

/// How many accounts are not disabled.
pub async fn active(connection: &mut PgConnection) -> Result<i64, sqlx::Error> {
    sqlx::query_scalar!(r#"select count(*) as "count!" from accounts where disabled_at is null"#)
        .fetch_one(connection)
        .await
}

/// Work of an account that was open and is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Cancelled {
    /// Plans of no batch.
    pub plans: i64,
    /// Batches of plans.
    pub batches: i64,
    /// Asynchronous samples of no batch.
    pub samples: i64,
    /// Batches of samples.
    pub sample_batches: i64,
    /// Jobs for which a caller waited.
    pub requests: i64,
}

impl Named {
    /// Ends every token and session of the account, lets it get no more, and cancels what it has open.
    pub async fn disable(&self, connection: &mut PgConnection) -> Result<Cancelled, sqlx::Error> {
        self.end_logins(connection).await?;
        sqlx::query!("update accounts set disabled_at = coalesce(disabled_at, now()) where id = $1", self.id)
            .execute(&mut *connection)
            .await?;
        self.cancel_open_work(connection).await
    }

    /// Cancels all that the account has open.
    pub async fn cancel_open_work(&self, connection: &mut PgConnection) -> Result<Cancelled, sqlx::Error> {
        sqlx::query_as!(
            Cancelled,
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
        changes::tell(connection, &self.id).await
    }

    /// Logs the account in for an operator: a code that `redirect_uri` and the verifier of `code_challenge` redeem, as after a
    /// login in a browser; `None` where the account is disabled.
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
        let promise = codes::Promise {
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

    /// Makes a link that logs the account in once within `lifetime`; its secret, or `None` where the account is disabled.
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

    /// Makes a token for scripts of the account; `None` where that is disabled.
    pub async fn make_token(
        &self,
        connection: &mut PgConnection,
        new: New<'_>,
    ) -> Result<Option<Made>, sqlx::Error> {
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

    /// The account's tokens for scripts, the last first.
    pub async fn tokens(
        &self,
        connection: &mut PgConnection,
    ) -> Result<Vec<script_tokens::Listed>, sqlx::Error> {
        script_tokens::list(connection, &self.id).await
    }

    /// Ends the account's token for scripts of this name; false if there is none.
    pub async fn end_token(&self, connection: &mut PgConnection, name: &str) -> Result<bool, sqlx::Error> {
        script_tokens::end(connection, &self.id, name).await
    }

    /// Gives the account another password, and ends what the old one opened.
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

    /// Sets what tokens of the account may do; those that there are lose what is not among it.
    pub async fn change_scopes(
        &self,
        connection: &mut PgConnection,
        scopes: &[String],
    ) -> Result<(), sqlx::Error> {
        let change = sqlx::query!("update accounts set scopes = $2 where id = $1", self.id, scopes);
        change.execute(&mut *connection).await?;
        changes::tell(connection, &self.id).await
    }

    /// Gives the account a ration of its own, or with `None` what everybody has.
    pub async fn change_ration(
        &self,
        connection: &mut PgConnection,
        ration: Ration,
        per_minute: Option<i32>,
    ) -> Result<(), sqlx::Error> {
        let change = match per_minute {
            Some(per_minute) => sqlx::query!(
                "insert into account_rations (account_id, ration, per_minute) values ($1, $2, $3) \
                 on conflict (account_id, ration) do update set per_minute = excluded.per_minute",
                self.id,
                ration.as_str(),
                per_minute
            ),
            None => sqlx::query!(
                "delete from account_rations where account_id = $1 and ration = $2",
                self.id,
                ration.as_str()
            ),
        };
        change.execute(&mut *connection).await?;
        changes::tell(connection, &self.id).await
    }

    /// Ends all that came from logins so far. Waits for those who are reading the account to log in, so that theirs are before.
    async fn end_logins(&self, connection: &mut PgConnection) -> Result<(), sqlx::Error> {
        let held = sqlx::query!("select from accounts where id = $1 for no key update", self.id);
        held.execute(&mut *connection).await?;
        let ended =
            sqlx::query!("update accounts set tokens_from = clock_timestamp() where id = $1", self.id);
        ended.execute(&mut *connection).await?;
        changes::tell(connection, &self.id).await?;
        refresh::end_account(connection, &self.id).await?;
        sessions::end_account(connection, &self.id).await?;
        codes::end_account(connection, &self.id).await?;
        login_links::end_account(connection, &self.id).await?;
        script_tokens::end_account(connection, &self.id).await?;
        device_codes::end_account(connection, &self.id).await
    }
}
