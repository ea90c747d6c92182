//! What an operator does with accounts that there are: each act with its line in the journal.

use std::time::Duration;

use anyhow::anyhow;
use contract::Ration;
use identity::tables::accounts::{self, Listed, Named};
use serde_json::{Value, json};
use sqlx::PgConnection;

use super::show_scopes;
use crate::{failure::Failure, journal::Act, service::CLIENT_ID};

/// E-mail address, state, scopes, day of creation, name, organisation; separated by tabs.
pub fn to_line(account: &Listed) -> String {
    let state = if account.active { "active" } else { "disabled" };
    let scopes = show_scopes(&account.scopes);
    let Listed { email, created, name, organisation, .. } = account;
    format!("{email}\t{state}\t{scopes}\t{created}\t{name}\t{organisation}")
}

/// Every account, by its address.
pub async fn list(database: &mut PgConnection) -> Result<Vec<Listed>, Failure> {
    accounts::list(database).await.map_err(|error| Failure::database("listing the accounts", &error))
}

/// Makes an account.
pub async fn add(
    database: &mut PgConnection,
    email: &str,
    name: &str,
    password_hash: &str,
    scopes: &[String],
) -> Result<(), Failure> {
    let mut act = Act::begin(database, "making the account").await?;
    let failed = act.failed();
    let made = accounts::add(act.connection(), email, name, password_hash, scopes).await.map_err(failed)?;
    if !made {
        return Err(Failure::Other(anyhow!("there is an account {email} already")));
    }
    act.done("account add", email, json!({ "name": name, "scopes": show_scopes(scopes) })).await
}

/// Ends every token and session of the account, and lets it get no more.
pub async fn disable(database: &mut PgConnection, email: &str) -> Result<(), Failure> {
    let doing = ("disabling the account", "account disable");
    change(database, email, doing, json!({}), async |account, connection| account.disable(connection).await)
        .await
}

/// Lets the account log in again.
pub async fn enable(database: &mut PgConnection, email: &str) -> Result<(), Failure> {
    let doing = ("enabling the account", "account enable");
    change(database, email, doing, json!({}), async |account, connection| account.enable(connection).await)
        .await
}

/// Gives the account another password, and ends what the old one opened.
pub async fn change_password(
    database: &mut PgConnection,
    email: &str,
    password_hash: &str,
) -> Result<(), Failure> {
    let doing = ("changing the password", "account password");
    let change_it = async |account: &Named, connection: &mut PgConnection| {
        account.change_password(connection, password_hash).await
    };
    change(database, email, doing, json!({}), change_it).await
}

/// Sets what tokens of the account may do; those that there are lose what is not among it.
pub async fn change_scopes(
    database: &mut PgConnection,
    email: &str,
    scopes: &[String],
) -> Result<(), Failure> {
    let (doing, details) =
        (("changing the scopes", "account scopes"), json!({ "scopes": show_scopes(scopes) }));
    let change_them = async |account: &Named, connection: &mut PgConnection| {
        account.change_scopes(connection, scopes).await
    };
    change(database, email, doing, details, change_them).await
}

/// What tokens of the account may do.
pub async fn scopes(database: &mut PgConnection, email: &str) -> Result<Vec<String>, Failure> {
    let failed = |error| Failure::database("reading the scopes", &error);
    let account = accounts::named(database, email).await.map_err(failed)?;
    account.map(|account| account.scopes).ok_or_else(|| unknown(email))
}

/// Logs the account in: a code that the command line redeems at the service with `redirect` and the verifier of `challenge`.
pub async fn log_in(
    database: &mut PgConnection,
    email: &str,
    redirect: &str,
    challenge: &str,
) -> Result<String, Failure> {
    let mut code = None;
    let log_in = async |account: &Named, connection: &mut PgConnection| {
        code = account.log_in(connection, (CLIENT_ID, redirect), challenge).await?;
        Ok(())
    };
    change(database, email, ("logging the account in", "account login"), json!({}), log_in).await?;
    code.ok_or_else(|| Failure::Refused(format!("the account {email} is disabled")))
}

/// Makes a link that logs the account in once within `lifetime`; its secret.
pub async fn link(database: &mut PgConnection, email: &str, lifetime: Duration) -> Result<String, Failure> {
    let mut secret = None;
    let make = async |account: &Named, connection: &mut PgConnection| {
        secret = account.link(connection, lifetime).await?;
        Ok(())
    };
    change(database, email, ("making the link", "account link"), json!({}), make).await?;
    secret.ok_or_else(|| Failure::Refused(format!("the account {email} is disabled")))
}

/// Gives the account a ration of its own, or with `None` what everybody has.
pub async fn change_ration(
    database: &mut PgConnection,
    email: &str,
    ration: Ration,
    per_minute: Option<i32>,
) -> Result<(), Failure> {
    let doing = ("changing the ration", "account ration");
    let details = json!({ "ration": ration.as_str(), "per_minute": per_minute });
    let change_it = async |account: &Named, connection: &mut PgConnection| {
        account.change_ration(connection, ration, per_minute).await
    };
    change(database, email, doing, details, change_it).await
}

/// Changes an account and writes it down: what is done for messages and what it is called in the journal.
pub async fn change(
    database: &mut PgConnection,
    email: &str,
    (doing, act): (&'static str, &str),
    details: Value,
    change: impl AsyncFnOnce(&Named, &mut PgConnection) -> Result<(), sqlx::Error>,
) -> Result<(), Failure> {
    let mut under_way = Act::begin(database, doing).await?;
    let failed = under_way.failed();
    let account = accounts::named(under_way.connection(), email).await.map_err(&failed)?;
    let account = account.ok_or_else(|| unknown(email))?;
    change(&account, under_way.connection()).await.map_err(failed)?;
    under_way.done(act, &account.email, details).await
}

/// Whether there is an account; asked before a new password is.
pub async fn exists(database: &mut PgConnection, email: &str) -> Result<(), Failure> {
    named(database, email).await.map(drop)
}

/// The account of this address.
pub async fn named(database: &mut PgConnection, email: &str) -> Result<Named, Failure> {
    let account = accounts::named(database, email).await;
    let account = account.map_err(|error| Failure::database("looking for the account", &error))?;
    account.ok_or_else(|| unknown(email))
}

fn unknown(email: &str) -> Failure {
    Failure::Other(anyhow!("there is no account {email}"))
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
                     insert into browser_sessions (secret_hash, account_id, expires_at) values ('a', 'acc_1', now()); \
                     insert into login_links (secret_hash, account_id, expires_at) values ('a', 'acc_1', now()); \
                     insert into script_tokens (id, name, secret_hash, account_id, scopes, authenticated_at, expires_at) \
                     values ('tok_1', 'n', 'a', 'acc_1', '{}', now(), now() + interval '1 day')",
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
                assert_eq!(count(database, "select count(*) from login_links").await, 0, "{change}");
                assert_eq!(count(database, "select count(*) from script_tokens").await, 0, "{change}");
            }
            change_scopes(database, "bob@example.org", &["email".to_owned()]).await.unwrap();
            let lines: Vec<_> = list(database).await.unwrap().iter().map(to_line).collect();
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
