//! The journal: what operators did to the installation, when, and who they were.
//!
//! An [`Act`] is a transaction that commits in one way only, with its line: what was not written down did not
//! happen, and what did not happen is not written down. The database refuses to change or to delete lines. Who the
//! operator is says whoever begins the act: the command line by its user, the API by the account that asks. The role they
//! came with, the database.

use serde_json::Value;
use sqlx::{PgConnection, PgTransaction};

/// An operator's act that is under way; dropped, it has not happened.
#[derive(Debug)]
pub struct Act<'a> {
    transaction: PgTransaction<'a>,
    operator: String,
}

/// A line of the journal.
#[derive(Debug)]
pub struct Line {
    at: String,
    operator: String,
    act: String,
    subject: String,
    details: Value,
}

impl<'a> Act<'a> {
    /// Begins an act of `operator` in a transaction that holds nothing yet.
    #[must_use]
    pub fn begin(transaction: PgTransaction<'a>, operator: String) -> Self {
        Self { transaction, operator }
    }

    /// Who does it.
    #[must_use]
    pub fn operator(&self) -> &str {
        &self.operator
    }

    /// The connection on which it is done.
    pub fn connection(&mut self) -> &mut PgConnection {
        &mut self.transaction
    }

    /// Writes down that `act` was done to `subject`, and commits.
    ///
    /// # Errors
    /// Fails when the database does, like everything here.
    pub async fn done(mut self, act: &str, subject: &str, details: Value) -> Result<(), sqlx::Error> {
        record(&mut self.transaction, &self.operator, act, subject, details).await?;
        self.transaction.commit().await
    }
}

/// Writes a line, in whatever transaction `connection` is in.
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

/// The last `count` lines, the oldest first.
pub async fn read(connection: &mut PgConnection, count: u32) -> Result<Vec<Line>, sqlx::Error> {
    let mut lines = sqlx::query_as!(
        Line,
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

impl Line {
    /// Time, operator, act, subject and what else there is; separated by tabs.
    #[must_use]
    pub fn to_line(&self) -> String {
        let Self { at, operator, act, subject, details } = self;
        format!("{at}\t{operator}\t{act}\t{subject}\t{details}")
    }
}
