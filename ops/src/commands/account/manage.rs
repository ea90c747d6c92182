//! What an operator does with accounts that there are.
//!
//! The API asks how an account stands every half minute, so whatever changes here holds within one.

use anyhow::anyhow;
use contract::Ration;
use serde_json::json;
use sqlx::PgConnection;

use super::show_scopes;
use crate::{failure::Failure, journal::Act};

/// An account as the list shows it.
#[derive(Debug, sqlx::FromRow)]
pub struct Row {
    email: String,
    active: bool,
    scopes: Vec<String>,
    created: String,
    name: String,
    organisation: String,
}

impl Row {
    /// E-mail address, state, scopes, day of creation, name, organisation; separated by tabs.
    pub fn to_line(&self) -> String {
        let state = if self.active { "active" } else { "disabled" };
        let scopes = show_scopes(&self.scopes);
        let Self { email, created, name, organisation, .. } = self;
        format!("{email}\t{state}\t{scopes}\t{created}\t{name}\t{organisation}")
    }
}

/// An account that is being changed.
#[derive(Debug, sqlx::FromRow)]
struct Changed {
    id: String,
    email: String,
}

/// Every account, by its address.
pub async fn list(database: &mut PgConnection) -> Result<Vec<Row>, Failure> {
    sqlx::query_as(
        "select email, disabled_at is null as active, scopes, to_char(accounts.created_at, 'YYYY-MM-DD') as created, \
         accounts.name, coalesce(organisations.name, '') as organisation \
         from accounts left join organisations on organisations.id = organisation_id order by lower(email)",
    )
    .fetch_all(database)
    .await
    .map_err(|error| Failure::database("listing the accounts", &error))
}

/// Ends every token and session of the account, and lets it get no more.
pub async fn disable(database: &mut PgConnection, email: &str) -> Result<(), Failure> {
    let statement = "update accounts set disabled_at = coalesce(disabled_at, now()), tokens_from = now() \
                     where lower(email) = lower($1) returning id, email";
    let mut act = Act::begin(database, "disabling the account").await?;
    let failed = act.failed();
    let changed = sqlx::query_as(statement).bind(email).fetch_optional(act.connection()).await;
    let account = found(email, changed.map_err(&failed)?)?;
    end_logins(act.connection(), &account.id).await.map_err(failed)?;
    act.done("account disable", &account.email, json!({})).await
}

/// Lets the account log in again.
pub async fn enable(database: &mut PgConnection, email: &str) -> Result<(), Failure> {
    let statement =
        "update accounts set disabled_at = null where lower(email) = lower($1) returning id, email";
    let mut act = Act::begin(database, "enabling the account").await?;
    let failed = act.failed();
    let changed = sqlx::query_as(statement).bind(email).fetch_optional(act.connection()).await;
    let account = found(email, changed.map_err(failed)?)?;
    act.done("account enable", &account.email, json!({})).await
}

/// Gives the account another password, and ends what the old one opened.
pub async fn change_password(
    database: &mut PgConnection,
    email: &str,
    password_hash: &str,
) -> Result<(), Failure> {
    let statement = "update accounts set password_hash = $2, tokens_from = now() \
                     where lower(email) = lower($1) returning id, email";
    let mut act = Act::begin(database, "changing the password").await?;
    let failed = act.failed();
    let changed = sqlx::query_as(statement).bind(email).bind(password_hash);
    let changed = changed.fetch_optional(act.connection()).await.map_err(&failed)?;
    let account = found(email, changed)?;
    end_logins(act.connection(), &account.id).await.map_err(failed)?;
    act.done("account password", &account.email, json!({})).await
}

/// Sets what tokens of the account may do; those that there are lose what is not among it.
pub async fn change_scopes(
    database: &mut PgConnection,
    email: &str,
    scopes: &[String],
) -> Result<(), Failure> {
    let statement = "update accounts set scopes = $2 where lower(email) = lower($1) returning id, email";
    let mut act = Act::begin(database, "changing the scopes").await?;
    let failed = act.failed();
    let changed = sqlx::query_as(statement).bind(email).bind(scopes).fetch_optional(act.connection()).await;
    let account = found(email, changed.map_err(failed)?)?;
    act.done("account scopes", &account.email, json!({ "scopes": show_scopes(scopes) })).await
}

/// Gives the account a ration of its own, or with `None` what everybody has.
pub async fn change_ration(
    database: &mut PgConnection,
    email: &str,
    ration: Ration,
    per_minute: Option<i32>,
) -> Result<(), Failure> {
    let mut act = Act::begin(database, "changing the ration").await?;
    let failed = act.failed();
    let account = sqlx::query_as("select id, email from accounts where lower(email) = lower($1)").bind(email);
    let account = found(email, account.fetch_optional(act.connection()).await.map_err(&failed)?)?;
    let statement = match per_minute {
        Some(_) => {
            "insert into account_rations (account_id, ration, per_minute) values ($1, $2, $3) \
             on conflict (account_id, ration) do update set per_minute = excluded.per_minute"
        }
        None => "delete from account_rations where account_id = $1 and ration = $2 and $3::int is null",
    };
    let change = sqlx::query(statement).bind(&account.id).bind(ration.as_str()).bind(per_minute);
    change.execute(act.connection()).await.map_err(failed)?;
    let details = json!({ "ration": ration.as_str(), "per_minute": per_minute });
    act.done("account ration", &account.email, details).await
}

/// Whether there is an account; asked before a new password is.
pub async fn exists(database: &mut PgConnection, email: &str) -> Result<(), Failure> {
    let account = sqlx::query_as("select id, email from accounts where lower(email) = lower($1)")
        .bind(email)
        .fetch_optional(database)
        .await
        .map_err(|error| Failure::database("looking for the account", &error))?;
    found(email, account).map(drop)
}

fn found(email: &str, account: Option<Changed>) -> Result<Changed, Failure> {
    account.ok_or_else(|| Failure::Other(anyhow!("there is no account {email}")))
}

async fn end_logins(database: &mut PgConnection, account_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query("delete from refresh_tokens where account_id = $1")
        .bind(account_id)
        .execute(&mut *database)
        .await?;
    sqlx::query("delete from browser_sessions where account_id = $1")
        .bind(account_id)
        .execute(&mut *database)
        .await?;
    sqlx::query("delete from authorization_codes where account_id = $1")
        .bind(account_id)
        .execute(database)
        .await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_database::with_database;

    async fn count(database: &mut PgConnection, what: &'static str) -> i64 {
        let (count,): (i64,) = sqlx::query_as(what).fetch_one(database).await.unwrap();
        count
    }

    #[tokio::test]
    async fn a_disabled_account_and_a_new_password_end_every_login() {
        with_database(async |database| {
            sqlx::raw_sql(
                "insert into accounts (id, email, name, password_hash, scopes) \
                 values ('acc_1', 'Ada@example.org', 'Ada', 'old', '{openid}'), \
                 ('acc_2', 'bob@example.org', 'Bob', 'old', '{openid}')",
            )
            .execute(&mut *database)
            .await
            .unwrap();
            for change in ["disable", "password"] {
                sqlx::raw_sql(
                    "insert into refresh_tokens (token_hash, family, account_id, client_id, scopes, expires_at) \
                     values ('a', 'f', 'acc_1', 'retort-cli', '{}', now()); \
                     insert into browser_sessions (secret_hash, account_id, expires_at) values ('a', 'acc_1', now())",
                )
                .execute(&mut *database)
                .await
                .unwrap();

                match change {
                    "disable" => disable(database, "ada@example.org").await.unwrap(),
                    _ => change_password(database, "ADA@example.org", "new").await.unwrap(),
                }

                assert_eq!(count(database, "select count(*) from refresh_tokens").await, 0, "{change}");
                assert_eq!(count(database, "select count(*) from browser_sessions").await, 0, "{change}");
            }
            change_scopes(database, "bob@example.org", &["email".to_owned()]).await.unwrap();
            let lines: Vec<_> = list(database).await.unwrap().iter().map(Row::to_line).collect();
            let day: (String,) = sqlx::query_as("select to_char(now(), 'YYYY-MM-DD')")
                .fetch_one(&mut *database)
                .await
                .unwrap();
            let day = day.0;
            assert_eq!(
                lines,
                [
                    format!("Ada@example.org\tdisabled\topenid\t{day}\tAda\t"),
                    format!("bob@example.org\tactive\temail\t{day}\tBob\t"),
                ]
            );
            enable(database, "ada@example.org").await.unwrap();
            for (per_minute, rows) in [(Some(5), 1), (Some(6), 1), (None, 0)] {
                change_ration(database, "ada@example.org", Ration::Reads, per_minute).await.unwrap();
                assert_eq!(count(database, "select count(*) from account_rations").await, rows);
            }
            assert_eq!(count(database, "select count(*) from accounts where disabled_at is null").await, 2);
            assert_eq!(count(database, "select count(*) from journal where subject = 'Ada@example.org'").await, 6);
            assert_eq!(count(database, "select count(*) from journal").await, 7);
            assert!(exists(database, "nobody@example.org").await.is_err());
            assert!(disable(database, "nobody@example.org").await.is_err());
            assert_eq!(count(database, "select count(*) from journal").await, 7);
        })
        .await;
    }
}
