//! `retort keys`: the keys that sign tokens, straight in the database.

use anyhow::Context as _;
use clap::{Args, Subcommand};
use serde_json::json;
use signing::{Secret, StoredKey};
use sqlx::PgConnection;

use crate::{Place, failure::Failure, journal::Act, terminal};

/// Manage the keys that sign tokens.
#[derive(Debug, Subcommand)]
pub enum Keys {
    /// List keys: name, day they were made, state, whether they are sealed.
    List,
    /// Make a key that replaces the ones in use.
    ///
    /// It is published at once and signs after ten minutes, when everybody has had time to fetch it; the keys
    /// before it verify until the last token they signed has ended.
    Rotate(Rotate),
}

/// Make a key that replaces the ones in use.
#[derive(Debug, Args)]
pub struct Rotate {
    /// The API's secret for sealing keys, if it has one.
    #[arg(long, env = "KEYS_SECRET", hide_env_values = true)]
    keys_secret: Option<String>,
}

#[derive(Debug, sqlx::FromRow)]
struct Row {
    kid: String,
    created: String,
    state: String,
    sealed: bool,
}

impl Keys {
    /// Runs the command.
    pub async fn run(self, place: &Place) -> Result<(), Failure> {
        let mut database = place.data().connect().await?;
        match self {
            Self::List => {
                let rows = list(&mut database).await?;
                rows.iter().try_for_each(|row| terminal::data(&row.to_line()))
            }
            Self::Rotate(Rotate { keys_secret }) => {
                let secret = keys_secret.filter(|text| !text.trim().is_empty());
                let secret: Option<Secret> =
                    secret.map(|text| text.parse()).transpose().context("KEYS_SECRET cannot be used")?;
                let key = signing::generate(secret.as_ref());
                rotate(&mut database, &key).await?;
                terminal::data(&key.kid)?;
                terminal::note("the key is published within a minute and signs in ten; restart nothing");
                Ok(())
            }
        }
    }
}

impl Row {
    fn to_line(&self) -> String {
        let sealed = if self.sealed { "sealed" } else { "open" };
        format!("{}\t{}\t{}\t{sealed}", self.kid, self.created, self.state)
    }
}

async fn list(database: &mut PgConnection) -> Result<Vec<Row>, Failure> {
    sqlx::query_as(
        "select kid, to_char(created_at, 'YYYY-MM-DD') as created, \
         case when retired_at is null and created_at > now() - interval '10 minutes' then 'new' \
         when retired_at is null then 'in use' \
         when retired_at > now() - interval '25 hours' then 'verifies' else 'retired' end as state, \
         private_key_pem like 'sealed1:%' as sealed \
         from signing_keys order by created_at, kid",
    )
    .fetch_all(database)
    .await
    .map_err(|error| Failure::database("listing the keys", &error))
}

async fn rotate(database: &mut PgConnection, key: &StoredKey) -> Result<(), Failure> {
    let mut act = Act::begin(database, "rotating the keys").await?;
    let failed = act.failed();
    // The old keys go on signing until the new one does.
    sqlx::query(
        "update signing_keys set retired_at = now() + interval '12 minutes' where retired_at is null",
    )
    .execute(act.connection())
    .await
    .map_err(&failed)?;
    sqlx::query(
        "insert into signing_keys (kid, algorithm, private_key_pem, public_key_pem) values ($1, $2, $3, $4)",
    )
    .bind(&key.kid)
    .bind(key.algorithm)
    .bind(&key.private_key_pem)
    .bind(&key.public_key_pem)
    .execute(act.connection())
    .await
    .map_err(&failed)?;
    // What nobody needs any more is not kept for somebody to steal.
    sqlx::query("delete from signing_keys where retired_at < now() - interval '25 hours'")
        .execute(act.connection())
        .await
        .map_err(failed)?;
    act.done("keys rotate", &key.kid, json!({ "sealed": signing::is_sealed(&key.private_key_pem) })).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_database::with_database;

    #[tokio::test]
    async fn a_rotation_publishes_a_key_and_retires_the_others() {
        with_database(async |database| {
            let secret: Secret = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=".parse().unwrap();
            rotate(database, &signing::generate(None)).await.unwrap();
            sqlx::query("update signing_keys set created_at = created_at - interval '1 hour'")
                .execute(&mut *database)
                .await
                .unwrap();

            rotate(database, &signing::generate(Some(&secret))).await.unwrap();

            let rows = list(database).await.unwrap();
            let states: Vec<_> = rows.iter().map(|row| (row.state.as_str(), row.sealed)).collect();
            assert_eq!(states, [("verifies", false), ("new", true)]);
        })
        .await;
    }
}
