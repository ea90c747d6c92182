//! Operator actions on the command line, each with its line in the audit log (`identity::tables::audit_log`).
//!
//! The operator's name comes from the operator's own machine.

use std::os::unix::fs::MetadataExt as _;

use identity::tables::audit_log;
pub use identity::tables::audit_log::AuditEntry;
use serde_json::Value;
use sqlx::{Connection as _, PgConnection};

use crate::failure::Failure;

/// File with the machine's host name.
const HOST_NAME: &str = "/proc/sys/kernel/hostname";

/// Path that is owned by the user of this process.
const OWN_PROCESS: &str = "/proc/self";

/// An operator's action in progress; dropping it rolls it back.
pub struct LoggedAction<'a> {
    act: audit_log::AuditedAction<'a>,
    doing: &'static str,
}

impl<'a> LoggedAction<'a> {
    /// Begins an action; `doing` describes it in error messages.
    pub async fn begin(database: &'a mut PgConnection, doing: &'static str) -> Result<Self, Failure> {
        let transaction = database.begin().await.map_err(|error| Failure::database(doing, &error))?;
        Ok(Self { act: audit_log::AuditedAction::begin(transaction, operator()), doing })
    }

    /// Returns the connection to perform the action on.
    pub fn connection(&mut self) -> &mut PgConnection {
        self.act.connection()
    }

    /// Returns the conversion of a failed statement's error.
    pub fn failed(&self) -> impl Fn(sqlx::Error) -> Failure + use<> {
        let doing = self.doing;
        move |error| Failure::database(doing, &error)
    }

    /// Records that `act` was done to `subject`, and commits.
    pub async fn done(self, act: &str, subject: &str, details: Value) -> Result<(), Failure> {
        let failed = self.failed();
        self.act.done(act, subject, details).await.map_err(failed)
    }
}

/// Writes an audit log line in the current transaction of `connection`.
pub async fn record(
    connection: &mut PgConnection,
    act: &str,
    subject: &str,
    details: Value,
) -> Result<(), sqlx::Error> {
    audit_log::record(connection, &operator(), act, subject, details).await
}

/// Returns the SQL statement that writes an audit log line, for programs that take no separate query parameters.
pub fn statement(act: &str, subject: &str, details: &Value) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    format!(
        "insert into public.journal (operator, act, subject, details) values ({}, {}, {}, {});",
        quoted(&operator()),
        quoted(act),
        quoted(subject),
        quoted(&details.to_string())
    )
}

/// Returns the last `count` lines of the audit log, oldest first.
pub async fn read(database: &mut PgConnection, count: u32) -> Result<Vec<AuditEntry>, Failure> {
    audit_log::read(database, count).await.map_err(|error| Failure::database("reading the audit log", &error))
}

/// Returns `RETORT_OPERATOR`, else the user of this process with the machine's name.
fn operator() -> String {
    let name = |variable: &str| std::env::var(variable).ok().filter(|name| !name.trim().is_empty());
    let name = name("RETORT_OPERATOR").unwrap_or_else(|| {
        let user = ["SUDO_USER", "USER", "LOGNAME"].into_iter().find_map(name).unwrap_or_else(user_number);
        let host = std::fs::read_to_string(HOST_NAME).unwrap_or_default();
        [user.trim(), host.trim()].join("@").trim_matches('@').to_owned()
    });
    name.chars().filter(|letter| !letter.is_control()).collect()
}

/// Returns the numeric user id, for environments without a user name (cron, containers).
fn user_number() -> String {
    std::fs::metadata(OWN_PROCESS).map(|process| format!("uid {}", process.uid())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use test_support::with_database;

    #[tokio::test]
    async fn an_act_and_its_line_happen_together_or_not_at_all() {
        with_database(async |database| {
            let add = async |database: &mut PgConnection| {
                let mut act = LoggedAction::begin(database, "making an organisation").await?;
                let failed = act.failed();
                sqlx::query("insert into organisations (id, name) values ('org_1', 'Lab')")
                    .execute(act.connection())
                    .await
                    .map_err(failed)?;
                act.done("org add", "Lab", json!({ "why": "a test" })).await
            };
            let count = async |database: &mut PgConnection, statement: &'static str| -> i64 {
                sqlx::query_scalar(statement).fetch_one(database).await.unwrap()
            };

            // An action whose audit log line cannot be written does not happen.
            sqlx::raw_sql("alter table journal rename to hidden").execute(&mut *database).await.unwrap();
            assert!(add(database).await.is_err());
            assert_eq!(count(database, "select count(*) from organisations").await, 0);
            sqlx::raw_sql("alter table hidden rename to journal").execute(&mut *database).await.unwrap();

            add(database).await.unwrap();
            // A second organisation of the same name fails, and leaves no line.
            assert!(add(database).await.is_err());

            let lines = read(database, 10).await.unwrap();
            assert_eq!(lines.len(), 1);
            let line = lines[0].to_line();
            assert!(line.ends_with("\torg add\tLab\t{\"why\":\"a test\"}"), "{line}");
            assert!(line.starts_with("20") && line.split('\t').count() == 5, "{line}");
            assert_eq!(
                count(database, "select count(*) from journal where database_role = session_user").await,
                1
            );
        })
        .await;
    }

    #[tokio::test]
    async fn lines_stay_as_they_are() {
        with_database(async |database| {
            record(database, "org add", "Lab", json!({})).await.unwrap();

            for statement in ["update journal set act = ''", "delete from journal", "truncate journal"] {
                let error = sqlx::query(statement).execute(&mut *database).await.unwrap_err();

                assert!(error.to_string().contains("only ever added to"), "{error}");
            }
        })
        .await;
    }
}
