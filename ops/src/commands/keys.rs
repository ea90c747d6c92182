//! `retort keys`: manages token-signing keys directly in the database.

use anyhow::Context as _;
use clap::{Args, Subcommand};
use identity::{
    SealingKey,
    tables::signing_keys::{self, SigningKeyEntry},
};
use serde_json::json;
use sqlx::PgConnection;

use crate::{InstallationArgs, audit_log::LoggedAction, failure::Failure, terminal};

/// Manage the keys that sign tokens.
#[derive(Debug, Subcommand)]
pub enum KeysArgs {
    /// List keys: name, day of creation, state, and whether they are sealed.
    List,
    /// Create a key that replaces the ones in use.
    ///
    /// The new key is published at once and signs after ten minutes, when all clients have had time to fetch it.
    /// Older keys verify until the last token that they signed has expired.
    Rotate(Rotate),
}

/// Create a key that replaces the ones in use.
#[derive(Debug, Args)]
pub struct Rotate {
    /// The API's secret for sealing keys, if it has one.
    #[arg(long, env = "KEYS_SECRET", hide_env_values = true)]
    keys_secret: Option<String>,
}

impl KeysArgs {
    /// Runs the command.
    pub async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let mut database = installation.data().connect().await?;
        match self {
            Self::List => {
                let rows = list(&mut database).await?;
                rows.iter().try_for_each(|key| terminal::data(&to_line(key)))
            }
            Self::Rotate(Rotate { keys_secret }) => {
                let secret = keys_secret.filter(|text| !text.trim().is_empty());
                let secret: Option<SealingKey> =
                    secret.map(|text| text.parse()).transpose().context("KEYS_SECRET cannot be used")?;
                let kid = rotate(&mut database, secret.as_ref()).await?;
                terminal::data(&kid)?;
                terminal::note("the key is published within a minute and signs in ten; restart nothing");
                Ok(())
            }
        }
    }
}

fn to_line(key: &SigningKeyEntry) -> String {
    let sealed = if key.sealed { "sealed" } else { "open" };
    format!("{}\t{}\t{}\t{sealed}", key.kid, key.created, key.state)
}

async fn list(database: &mut PgConnection) -> Result<Vec<SigningKeyEntry>, Failure> {
    signing_keys::list(database).await.map_err(|error| Failure::database("listing the keys", &error))
}

/// Creates a key that replaces the ones in use; returns its name.
async fn rotate(database: &mut PgConnection, secret: Option<&SealingKey>) -> Result<String, Failure> {
    let mut act = LoggedAction::begin(database, "rotating the keys").await?;
    let failed = act.failed();
    let kid = signing_keys::rotate(act.connection(), secret).await.map_err(failed)?;
    act.done("keys rotate", &kid, json!({ "sealed": secret.is_some() })).await?;
    Ok(kid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_support::with_database;

    #[tokio::test]
    async fn a_rotation_publishes_a_key_and_retires_the_others() {
        with_database(async |database| {
            let secret: SealingKey = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=".parse().unwrap();
            rotate(database, None).await.unwrap();
            sqlx::query("update signing_keys set created_at = created_at - interval '1 hour'")
                .execute(&mut *database)
                .await
                .unwrap();

            rotate(database, Some(&secret)).await.unwrap();

            let rows = list(database).await.unwrap();
            let states: Vec<_> = rows.iter().map(|row| (row.state.as_str(), row.sealed)).collect();
            assert_eq!(states, [("verifies", false), ("new", true)]);
        })
        .await;
    }
}
