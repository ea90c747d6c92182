//! Audit log: operators' actions on the installation, with their time and author.
//!
//! An [`AuditedAction`] is a transaction that can only commit together with its log line: an action happens if and only if it
//! is logged. The database rejects changes and deletions of lines. The caller that begins an act names the operator:
//! the command line by its user, the API by the calling account. The database adds the role of the connection.

use serde_json::Value;
use sqlx::{PgConnection, PgTransaction};

/// An operator's action in progress; dropping it rolls it back.
#[derive(Debug)]
pub struct AuditedAction<'a> {
    transaction: PgTransaction<'a>,
    operator: String,
}

/// A line of the audit log.
#[derive(Debug)]
pub struct AuditEntry {
    at: String,
    operator: String,
    act: String,
    subject: String,
    details: Value,
}

impl<'a> AuditedAction<'a> {
    /// Begins an action of `operator` in an empty transaction.
    #[must_use]
    pub fn begin(transaction: PgTransaction<'a>, operator: String) -> Self {
        Self { transaction, operator }
    }

    /// Returns the operator.
    #[must_use]
    pub fn operator(&self) -> &str {
        &self.operator
    }

    /// Returns the connection of the transaction.
    pub fn connection(&mut self) -> &mut PgConnection {
        &mut self.transaction
    }

    /// Logs that `act` was done to `subject`, and commits.
    ///
    /// # Errors
    /// Fails when the database does, like everything here.
    pub async fn done(mut self, act: &str, subject: &str, details: Value) -> Result<(), sqlx::Error> {
        record(&mut self.transaction, &self.operator, act, subject, details).await?;
        self.transaction.commit().await
    }
}

/// Writes a line in the current transaction of `connection`.
pub async fn record(
    connection: &mut PgConnection,
    operator: &str,
    act: &str,
    subject: &str,
    details: Value,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into journal (operator, act, subject, details) values ($1, $2, $3, $4)",
        operator,
        act,
        subject,
        details
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Returns the last `count` lines, the oldest first.
pub async fn read(connection: &mut PgConnection, count: u32) -> Result<Vec<AuditEntry>, sqlx::Error> {
    let mut lines = sqlx::query_as!(
        AuditEntry,
        r#"select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as "at!",
         case operator when '' then database_role else operator end as "operator!", act, subject, details
         from journal order by id desc limit $1"#,
        i64::from(count)
    )
    .fetch_all(connection)
    .await?;
    lines.reverse();
    Ok(lines)
}

impl AuditEntry {
    /// Formats the line: time, operator, act, subject and details, separated by tabs.
    #[must_use]
    pub fn to_line(&self) -> String {
        let Self { at, operator, act, subject, details } = self;
        format!("{at}\t{operator}\t{act}\t{subject}\t{details}")
    }
}
