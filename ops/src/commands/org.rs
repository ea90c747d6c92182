//! `retort org`: manages organisations directly in the database. Members of an organisation read each other's
//! samples.
//!
//! An account belongs to at most one organisation. To move it takes two commands, because its samples move with it:
//! samples that the first organisation could read become readable by the second.

use anyhow::anyhow;
use clap::{Args, Subcommand};
use identity::tables::organisations::{self, Membership, OrganisationListItem};
use serde_json::json;
use sqlx::PgConnection;

use super::account::parse_name;
use crate::{InstallationArgs, audit_log::LoggedAction, failure::Failure, terminal};

/// Manage organisations.
#[derive(Debug, Subcommand)]
pub enum Org {
    /// Create an organisation.
    Add(Name),
    /// List organisations: name, creation date, members.
    List,
    /// Remove an organisation; its accounts stay, and no longer share samples.
    Remove(Name),
    /// Add an account to an organisation: from now on it and the members read each other's samples, including old
    /// ones.
    Join(Join),
    /// Remove an account from its organisation; its samples go with it.
    Leave {
        /// E-mail address of the account.
        email: String,
    },
}

/// An organisation.
#[derive(Debug, Args)]
pub struct Name {
    /// Name of the organisation.
    name: String,
}

/// An account and an organisation.
#[derive(Debug, Args)]
pub struct Join {
    /// E-mail address of the account.
    email: String,
    /// Name of the organisation.
    name: String,
}

impl Org {
    /// Runs the command.
    pub async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let mut database = installation.data().connect().await?;
        match self {
            Self::Add(Name { name }) => {
                add(&mut database, &parse_name(&name)?).await?;
                terminal::note(&format!("made the organisation {name}"));
            }
            Self::List => {
                let rows = list(&mut database).await?;
                rows.iter().try_for_each(|row| terminal::data(&to_line(row)))?;
            }
            Self::Remove(Name { name }) => {
                remove(&mut database, &name).await?;
                terminal::note(&format!(
                    "removed the organisation {name}; its members share nothing any more"
                ));
            }
            Self::Join(Join { email, name }) => {
                join(&mut database, &email, &name).await?;
                terminal::note(&format!("{email} and the members of {name} now read each other's samples"));
            }
            Self::Leave { email } => {
                let name = leave(&mut database, &email).await?;
                terminal::note(&format!(
                    "{email} and the members of {name} no longer read each other's samples"
                ));
            }
        }
        Ok(())
    }
}

fn to_line(organisation: &OrganisationListItem) -> String {
    format!("{}\t{}\t{}", organisation.name, organisation.created, organisation.members.join(","))
}

async fn add(database: &mut PgConnection, name: &str) -> Result<(), Failure> {
    let mut act = LoggedAction::begin(database, "making the organisation").await?;
    let failed = act.failed();
    if !organisations::add(act.connection(), name).await.map_err(failed)? {
        return Err(anyhow!("there is an organisation {name} already").into());
    }
    act.done("org add", name, json!({})).await
}

async fn list(database: &mut PgConnection) -> Result<Vec<OrganisationListItem>, Failure> {
    organisations::list(database)
        .await
        .map_err(|error| Failure::database("listing the organisations", &error))
}

async fn remove(database: &mut PgConnection, name: &str) -> Result<(), Failure> {
    let mut act = LoggedAction::begin(database, "removing the organisation").await?;
    let failed = act.failed();
    let removed = organisations::remove(act.connection(), name).await.map_err(failed)?;
    let (name, members) = removed.ok_or_else(|| unknown(name))?;
    act.done("org remove", &name, json!({ "members": members })).await
}

async fn join(database: &mut PgConnection, email: &str, name: &str) -> Result<(), Failure> {
    let mut act = LoggedAction::begin(database, "letting the account into the organisation").await?;
    let failed = act.failed();
    let organisation = organisations::named(act.connection(), name).await.map_err(&failed)?;
    let organisation = organisation.ok_or_else(|| unknown(name))?;
    let account = locked_member(&mut act, email).await?;
    match &account.organisation {
        Some(current) if *current == organisation.name => return Ok(()),
        Some(current) => {
            return Err(anyhow!("{email} belongs to {current}: `retort org leave {email}` first").into());
        }
        None => {}
    }
    account.assign_account(act.connection(), Some(&organisation)).await.map_err(failed)?;
    act.done("org join", &account.email, json!({ "organisation": organisation.name })).await
}

/// Removes the account from its organisation; returns the organisation's name.
async fn leave(database: &mut PgConnection, email: &str) -> Result<String, Failure> {
    let mut act = LoggedAction::begin(database, "taking the account out of its organisation").await?;
    let account = locked_member(&mut act, email).await?;
    let Some(name) = &account.organisation else {
        return Err(anyhow!("{email} belongs to no organisation").into());
    };
    let failed = act.failed();
    account.assign_account(act.connection(), None).await.map_err(failed)?;
    act.done("org leave", &account.email, json!({ "organisation": name })).await?;
    Ok(name.clone())
}

/// Returns the account, locked until the action ends.
async fn locked_member(act: &mut LoggedAction<'_>, email: &str) -> Result<Membership, Failure> {
    let failed = act.failed();
    let member = organisations::membership(act.connection(), email).await.map_err(failed)?;
    member.ok_or_else(|| anyhow!("there is no account {email}").into())
}

fn unknown(name: &str) -> Failure {
    anyhow!("there is no organisation {name}").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_support::with_database;

    use crate::audit_log;

    async fn lines(database: &mut PgConnection) -> Vec<String> {
        let rows = list(database).await.unwrap();
        rows.iter().map(|row| format!("{} {}", row.name, row.members.join(","))).collect()
    }

    #[tokio::test]
    async fn an_account_belongs_to_one_organisation_at_most() {
        with_database(async |database| {
            sqlx::raw_sql(
                "insert into accounts (id, email, name, password_hash, scopes) \
                 values ('acc_1', 'ada@example.org', 'Ada', '', '{}'), ('acc_2', 'bob@example.org', 'Bob', '', '{}')",
            )
            .execute(&mut *database)
            .await
            .unwrap();
            add(database, "Lab").await.unwrap();
            add(database, "Plant").await.unwrap();
            assert_eq!(add(database, "LAB").await.unwrap_err().to_string(), "there is an organisation LAB already");

            join(database, "Ada@example.org", "lab").await.unwrap();
            join(database, "ada@example.org", "Lab").await.unwrap();
            join(database, "bob@example.org", "Lab").await.unwrap();
            let elsewhere = join(database, "ada@example.org", "Plant").await.unwrap_err();
            assert!(elsewhere.to_string().starts_with("ada@example.org belongs to Lab"), "{elsewhere}");
            assert_eq!(lines(database).await, ["Lab ada@example.org,bob@example.org", "Plant "]);

            assert_eq!(leave(database, "ada@example.org").await.unwrap(), "Lab");
            assert!(leave(database, "ada@example.org").await.is_err());
            assert!(leave(database, "nobody@example.org").await.is_err());
            assert!(join(database, "nobody@example.org", "Lab").await.is_err());
            assert!(join(database, "ada@example.org", "Nowhere").await.is_err());
            remove(database, "lab").await.unwrap();
            assert!(remove(database, "lab").await.is_err());
            assert_eq!(lines(database).await, ["Plant "]);

            let entries = audit_log::read(database, 100).await.unwrap();
            let acts: Vec<_> = entries.iter().map(|line| line.to_line()).collect();
            let acts: Vec<_> = acts.iter().map(|line| line.split('\t').skip(2).collect::<Vec<_>>().join(" ")).collect();
            assert_eq!(
                acts,
                [
                    "org add Lab {}",
                    "org add Plant {}",
                    "org join ada@example.org {\"organisation\":\"Lab\"}",
                    "org join bob@example.org {\"organisation\":\"Lab\"}",
                    "org leave ada@example.org {\"organisation\":\"Lab\"}",
                    "org remove Lab {\"members\":[\"bob@example.org\"]}",
                ]
            );
        })
        .await;
    }
}
