//! Operators' actions on existing accounts, each with an entry in the audit log.

use std::time::Duration;

use anyhow::anyhow;
use contract::QuotaKind;
use identity::tables::accounts::{self, AccountHandle, AccountListItem, CancelledWork};
use serde_json::{Value, json};
use sqlx::PgConnection;

use super::show_scopes;
use crate::{audit_log::LoggedAction, failure::Failure, service::CLIENT_ID};

/// Formats e-mail address, state, scopes, day of creation, name and organisation, separated by tabs.
pub fn to_line(account: &AccountListItem) -> String {
    let state = if account.active { "active" } else { "disabled" };
    let scopes = show_scopes(&account.scopes);
    let AccountListItem { email, created, name, organisation, .. } = account;
    format!("{email}\t{state}\t{scopes}\t{created}\t{name}\t{organisation}")
}

/// Lists all accounts, by address.
pub async fn list(database: &mut PgConnection) -> Result<Vec<AccountListItem>, Failure> {
    accounts::list(database).await.map_err(|error| Failure::database("listing the accounts", &error))
}

/// Creates an account.
pub async fn add(
    database: &mut PgConnection,
    email: &str,
    name: &str,
    password_hash: &str,
    scopes: &[String],
) -> Result<(), Failure> {
    let mut act = LoggedAction::begin(database, "making the account").await?;
    let failed = act.failed();
    let made = accounts::add(act.connection(), email, name, password_hash, scopes).await.map_err(failed)?;
    if !made {
        return Err(Failure::Other(anyhow!("there is an account {email} already")));
    }
    act.done("account add", email, json!({ "name": name, "scopes": show_scopes(scopes) })).await
}

/// Disables the account: ends its tokens and sessions, issues no new ones, and cancels its open work.
pub async fn disable(database: &mut PgConnection, email: &str) -> Result<CancelledWork, Failure> {
    let doing = ("disabling the account", "account disable");
    end(database, email, doing, async |account, connection| account.disable(connection).await).await
}

/// Cancels all open work of the account.
pub async fn cancel(database: &mut PgConnection, email: &str) -> Result<CancelledWork, Failure> {
    let doing = ("cancelling what the account has open", "account cancel");
    end(database, email, doing, async |account, connection| account.cancel_open_work(connection).await).await
}

/// Ends work of an account; the audit log gets the counts by kind.
async fn end(
    database: &mut PgConnection,
    email: &str,
    (doing, act): (&'static str, &str),
    end: impl AsyncFnOnce(&AccountHandle, &mut PgConnection) -> Result<CancelledWork, sqlx::Error>,
) -> Result<CancelledWork, Failure> {
    let (mut under_way, account) = begin(database, email, doing).await?;
    let failed = under_way.failed();
    let cancelled = end(&account, under_way.connection()).await.map_err(failed)?;
    under_way.done(act, &account.email, json!({ "cancelled": cancelled })).await?;
    Ok(cancelled)
}

/// Formats the counts of cancelled work.
pub fn in_words(cancelled: CancelledWork) -> String {
    let CancelledWork { plans, batches, samples, sample_batches, requests } = cancelled;
    format!(
        "cancelled plans: {plans}, batches of plans: {batches}, asynchronous samples: {samples}, sample batches: {sample_batches}, \
         other requests: {requests}"
    )
}

/// Lets the account log in again.
pub async fn enable(database: &mut PgConnection, email: &str) -> Result<(), Failure> {
    let doing = ("enabling the account", "account enable");
    change(database, email, doing, json!({}), async |account, connection| account.enable(connection).await)
        .await
}

/// Sets a new password and ends the sessions and tokens of the old one.
pub async fn change_password(
    database: &mut PgConnection,
    email: &str,
    password_hash: &str,
) -> Result<(), Failure> {
    let doing = ("changing the password", "account password");
    let change_it = async |account: &AccountHandle, connection: &mut PgConnection| {
        account.change_password(connection, password_hash).await
    };
    change(database, email, doing, json!({}), change_it).await
}

/// Sets the scopes of the account's tokens; existing tokens lose the others.
pub async fn change_scopes(
    database: &mut PgConnection,
    email: &str,
    scopes: &[String],
) -> Result<(), Failure> {
    let (doing, details) =
        (("changing the scopes", "account scopes"), json!({ "scopes": show_scopes(scopes) }));
    let change_them = async |account: &AccountHandle, connection: &mut PgConnection| {
        account.change_scopes(connection, scopes).await
    };
    change(database, email, doing, details, change_them).await
}

/// Scopes of the account's tokens.
pub async fn scopes(database: &mut PgConnection, email: &str) -> Result<Vec<String>, Failure> {
    let failed = |error| Failure::database("reading the scopes", &error);
    let account = accounts::named(database, email).await.map_err(failed)?;
    account.map(|account| account.scopes).ok_or_else(|| unknown(email))
}

/// Logs in to the account; returns a code that the command line redeems at the service with `redirect` and the
/// verifier of `challenge`.
pub async fn log_in(
    database: &mut PgConnection,
    email: &str,
    redirect: &str,
    challenge: &str,
) -> Result<String, Failure> {
    let mut code = None;
    let log_in = async |account: &AccountHandle, connection: &mut PgConnection| {
        code = account.log_in(connection, (CLIENT_ID, redirect), challenge).await?;
        Ok(())
    };
    change(database, email, ("logging the account in", "account login"), json!({}), log_in).await?;
    code.ok_or_else(|| Failure::Refused(format!("the account {email} is disabled")))
}

/// Creates a link that logs the account in once within `lifetime`; returns its secret.
pub async fn link(database: &mut PgConnection, email: &str, lifetime: Duration) -> Result<String, Failure> {
    let mut secret = None;
    let make = async |account: &AccountHandle, connection: &mut PgConnection| {
        secret = account.link(connection, lifetime).await?;
        Ok(())
    };
    change(database, email, ("making the link", "account link"), json!({}), make).await?;
    secret.ok_or_else(|| Failure::Refused(format!("the account {email} is disabled")))
}

/// Sets a limit of the account, or with `None` the default limit.
pub async fn change_limit(
    database: &mut PgConnection,
    email: &str,
    quota_kind: QuotaKind,
    per_minute: Option<i32>,
) -> Result<(), Failure> {
    let doing = ("changing the ration", "account ration");
    let details = json!({ "ration": quota_kind.as_str(), "per_minute": per_minute });
    let change_it = async |account: &AccountHandle, connection: &mut PgConnection| {
        account.change_ration(connection, quota_kind, per_minute).await
    };
    change(database, email, doing, details, change_it).await
}

/// Changes an account and writes the audit log. `doing` holds the phrase for messages and the name in the log.
pub async fn change(
    database: &mut PgConnection,
    email: &str,
    (doing, act): (&'static str, &str),
    details: Value,
    change: impl AsyncFnOnce(&AccountHandle, &mut PgConnection) -> Result<(), sqlx::Error>,
) -> Result<(), Failure> {
    let (mut under_way, account) = begin(database, email, doing).await?;
    let failed = under_way.failed();
    change(&account, under_way.connection()).await.map_err(failed)?;
    under_way.done(act, &account.email, details).await
}

/// Starts an action on the account with this address.
async fn begin<'a>(
    database: &'a mut PgConnection,
    email: &str,
    doing: &'static str,
) -> Result<(LoggedAction<'a>, AccountHandle), Failure> {
    let mut act = LoggedAction::begin(database, doing).await?;
    let failed = act.failed();
    let account = accounts::named(act.connection(), email).await.map_err(failed)?;
    Ok((act, account.ok_or_else(|| unknown(email))?))
}

/// Checks that the account exists, before a new password is asked for.
pub async fn exists(database: &mut PgConnection, email: &str) -> Result<(), Failure> {
    named(database, email).await.map(drop)
}

/// Looks up the account with this address.
pub async fn named(database: &mut PgConnection, email: &str) -> Result<AccountHandle, Failure> {
    let account = accounts::named(database, email).await;
    let account = account.map_err(|error| Failure::database("looking for the account", &error))?;
    account.ok_or_else(|| unknown(email))
}

fn unknown(email: &str) -> Failure {
    Failure::Other(anyhow!("there is no account {email}"))
}

#[cfg(test)]
mod tests {
    use identity::tables::audit_log;

    use super::*;
    use test_support::with_database;

    async fn count(database: &mut PgConnection, what: &'static str) -> i64 {
        let (count,): (i64,) = sqlx::query_as(what).fetch_one(database).await.unwrap();
        count
    }

    #[tokio::test]
    async fn what_an_account_has_open_is_cancelled_and_nothing_else() {
        const OPEN: &str = "
            insert into batches (id, account_id, parameters, engine, plan_count)
            select kind || account, account, '{}', 'e', 2 from unnest(array['open', 'done']) kind, unnest(array['a', 'b']) account;
            insert into plans (id, account_id, batch_id, place, search_smiles, engine, parameters, job_id, status, problem)
            select 'alone' || account, account, null::text, null::integer, 'C', 'e', '{}'::json, 'plan' || account, 'pending', null::jsonb
            from unnest(array['a', 'b']) account
            union all select 'waiting' || account, account, 'open' || account, 0, 'C', 'e', null, null, 'pending', null
            from unnest(array['a', 'b']) account
            union all select 'failed' || account, account, 'done' || account, 0, 'C', 'e', null, null, 'failed', '{}'
            from unnest(array['a', 'b']) account
            union all select 'lower' || account, account, 'done' || account, 1, 'C', 'e', null, null, 'failed', '{}'
            from unnest(array['a', 'b']) account;
            update plans set status = 'pending', problem = null, same_as = 'faileda' where id = 'lowera';
            insert into sample_batches (id, account_id, size, chunk_count)
            select 'samples' || account, account, 1, 1 from unnest(array['a', 'b']) account;
            insert into sample_orders (id, account_id, batch_id, place, model_id, size, seed)
            select 'order' || account, account, null, null, 'm', 1, 1 from unnest(array['a', 'b']) account
            union all select 'chunk' || account, account, 'samples' || account, 0, 'm', 1, 1 from unnest(array['a', 'b']) account;
            insert into jobs (id, queue, account_id, expected_seconds, deadline, holder, held_until)
            select queue || account, queue, account, 1, now() + interval '1 hour', holder, now() + interval '1 hour'
            from unnest(array['a', 'b']) account,
                (values ('plan', null), ('order', 'w'), ('search', 'w'), ('sample', null)) as kind (queue, holder)";
        with_database(async |database| {
            sqlx::raw_sql(
                "insert into accounts (id, email, name, password_hash, scopes) \
                 values ('a', 'a@example.org', 'A', 'x', '{}'), ('b', 'b@example.org', 'B', 'x', '{}')",
            )
            .execute(&mut *database)
            .await
            .unwrap();
            sqlx::raw_sql(OPEN).execute(&mut *database).await.unwrap();

            let cancelled = cancel(database, "A@example.org").await.unwrap();
            let nothing = cancel(database, "a@example.org").await.unwrap();

            let some = CancelledWork { plans: 1, batches: 1, samples: 1, sample_batches: 1, requests: 2 };
            let none = CancelledWork { plans: 0, batches: 0, samples: 0, sample_batches: 0, requests: 0 };
            assert_eq!((cancelled, nothing), (some, none));
            let stands = "
                select id, status from plans where account_id = 'a' union all select id, status from sample_orders where account_id = 'a'
                union all select id, case when finished_at is null then 'held' else 'over' end from jobs
                where account_id = 'a' and cancelled_at is not null
                union all select id, 'cancelled' from batches where cancelled_at is not null order by id, status";
            let stands: Vec<(String, String)> = sqlx::query_as(stands).fetch_all(&mut *database).await.unwrap();
            let stands: Vec<_> = stands.iter().map(|(id, status)| (id.as_str(), status.as_str())).collect();
            assert_eq!(
                stands,
                [
                    ("alonea", "cancelled"),
                    ("chunka", "failed"),
                    ("faileda", "failed"),
                    // Still pending: the plan with the same target has ended, and its result applies.
                    ("lowera", "pending"),
                    ("opena", "cancelled"),
                    ("ordera", "failed"),
                    ("ordera", "held"),
                    ("plana", "over"),
                    ("samplea", "over"),
                    ("searcha", "held"),
                    ("waitinga", "cancelled"),
                ]
            );
            assert_eq!(count(database, "select count(*) from accounts where disabled_at is not null").await, 0);
            let entry = audit_log::read(database, 1).await.unwrap()[0].to_line();
            assert!(entry.contains("account cancel\ta@example.org"), "{entry}");

            let cancelled = disable(database, "b@example.org").await.unwrap();

            assert_eq!(cancelled, some);
            assert_eq!(count(database, "select count(*) from jobs where cancelled_at is null").await, 0);
        })
        .await;
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
                    "disable" => drop(disable(database, "ada@example.org").await.unwrap()),
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
                change_limit(database, "ada@example.org", QuotaKind::Reads, per_minute).await.unwrap();
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
