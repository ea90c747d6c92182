//! `retort account token`: tokens for scripts. Operators create them for accounts without a person's login, and can
//! end any of them.

use clap::Subcommand;
use identity::tables::script_tokens::{NewScriptToken, ScriptTokenCreation, ScriptTokenEntry};
use serde_json::json;
use sqlx::PgConnection;

use super::{manage, parse_name, parse_scopes, show_scopes};
use crate::{failure::Failure, terminal};

/// Manage an account's tokens for scripts.
#[derive(Debug, Subcommand)]
pub enum Tokens {
    /// List an account's tokens: name, scopes, day of creation, day of expiry.
    List {
        /// The account.
        email: String,
    },
    /// Create a token and print it, only this once.
    Create {
        /// The account.
        email: String,
        /// Name of the token.
        name: String,
        /// Lifetime in days.
        #[arg(long, default_value_t = 90, value_parser = clap::value_parser!(u16).range(1..=365))]
        days: u16,
        /// Scopes of the token, separated by commas; reduced to those of the account [default: all except those of
        /// operators].
        #[arg(long, value_delimiter = ',', value_name = "SCOPE,…")]
        scopes: Option<Vec<String>>,
    },
    /// End a token at once.
    End {
        /// The account.
        email: String,
        /// Name of the token.
        name: String,
    },
}

impl Tokens {
    pub async fn run(self, database: &mut PgConnection) -> Result<(), Failure> {
        match self {
            Self::List { email } => {
                let tokens = list(database, &email).await?;
                tokens.iter().try_for_each(|token| terminal::data(&to_line(token)))
            }
            Self::Create { email, name, days, scopes } => {
                let (name, scopes) = (parse_name(&name)?, parse_scopes(scopes.as_deref())?);
                let token =
                    create(database, &email, NewScriptToken { name: &name, scopes: &scopes, days }).await?;
                terminal::data(&token)?;
                terminal::note(&format!(
                    "made the token {name} of {email}, which ends after {days} days: whoever has it acts for the account"
                ));
                Ok(())
            }
            Self::End { email, name } => {
                end(database, &email, &name).await?;
                terminal::note(&format!("ended the token {name} of {email}"));
                Ok(())
            }
        }
    }
}

/// Formats name, scopes, day of creation and day of expiry, separated by tabs.
fn to_line(token: &ScriptTokenEntry) -> String {
    let day = |time: chrono::DateTime<chrono::Utc>| time.format("%Y-%m-%d").to_string();
    let scopes = show_scopes(&token.scopes);
    format!("{}\t{scopes}\t{}\t{}", token.name, day(token.created_at), day(token.expires_at))
}

async fn list(database: &mut PgConnection, email: &str) -> Result<Vec<ScriptTokenEntry>, Failure> {
    let account = manage::named(database, email).await?;
    let failed = |error| Failure::database("listing the tokens", &error);
    account.tokens(database).await.map_err(failed)
}

async fn create(
    database: &mut PgConnection,
    email: &str,
    new: NewScriptToken<'_>,
) -> Result<String, Failure> {
    let mut made = None;
    let details = json!({ "name": new.name, "scopes": show_scopes(new.scopes), "days": new.days });
    let doing = ("making the token", "account token create");
    manage::change(database, email, doing, details, async |account, connection| {
        made = account.make_token(connection, new).await?;
        Ok(())
    })
    .await?;
    match made {
        Some(ScriptTokenCreation::Token(token)) => Ok(token),
        Some(ScriptTokenCreation::NameTaken) => {
            Err(Failure::Refused(format!("{email} has a token {} already", new.name)))
        }
        Some(ScriptTokenCreation::TooMany) => {
            Err(Failure::Refused(format!("{email} has the largest number of tokens allowed")))
        }
        None => Err(Failure::Refused(format!("the account {email} is disabled"))),
    }
}

async fn end(database: &mut PgConnection, email: &str, name: &str) -> Result<(), Failure> {
    let mut was_there = false;
    let details = json!({ "name": name });
    manage::change(
        database,
        email,
        ("ending the token", "account token end"),
        details,
        async |account, connection| {
            was_there = account.end_token(connection, name).await?;
            Ok(())
        },
    )
    .await?;
    if was_there { Ok(()) } else { Err(Failure::Refused(format!("{email} has no token {name}"))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_support::with_database;

    #[tokio::test]
    async fn a_token_is_made_listed_and_ended_by_its_name() {
        with_database(async |database| {
            sqlx::raw_sql(
                "insert into accounts (id, email, name, password_hash, scopes) \
                 values ('acc_1', 'Ada@example.org', 'Ada', 'x', '{openid}')",
            )
            .execute(&mut *database)
            .await
            .unwrap();
            let scopes = ["generator_api.samples:read".to_owned()];
            let new = NewScriptToken { name: "Nightly", scopes: &scopes, days: 30 };

            let token = create(database, "ada@example.org", new).await.unwrap();
            let twice = create(database, "ada@example.org", NewScriptToken { name: "nightly", ..new }).await;
            let listed: Vec<_> =
                list(database, "ada@example.org").await.unwrap().iter().map(to_line).collect();
            let other = end(database, "ada@example.org", "weekly").await;
            end(database, "ada@example.org", "NIGHTLY").await.unwrap();

            assert!(token.starts_with("retort_") && token.len() == 58, "{token}");
            assert!(twice.is_err() && other.is_err());
            assert!(
                listed.len() == 1 && listed[0].starts_with("Nightly\tgenerator_api.samples:read\t"),
                "{listed:?}"
            );
            assert_eq!(list(database, "ada@example.org").await.unwrap().len(), 0);
            manage::disable(database, "ada@example.org").await.unwrap();
            assert!(create(database, "ada@example.org", new).await.is_err());
        })
        .await;
    }
}
