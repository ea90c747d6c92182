//! `retort restore`: restores a backup.

use std::{io::IsTerminal as _, path::PathBuf};

use anyhow::anyhow;
use clap::Args;
use model_tools::ModelsFolder;

use crate::{
    InstallationArgs,
    backup::{self, DatabaseState, Manifest},
    failure::Failure,
    terminal,
};

/// Restore a backup, whole or not at all.
///
/// The database must be empty. The role of MIGRATION_DATABASE_URL is used if it is set. An older schema is migrated.
/// The models go to the last models folder; models that are already there stay unchanged. Needs PostgreSQL's
/// `pg_restore` and `psql`.
#[derive(Debug, Args)]
pub struct Restore {
    /// Folder that `retort backup` made.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Folders of model packs, as for the workers; packs go to the last one [default: those of the data folder].
    #[arg(long, value_name = "DIR[:DIR…]", env = "MODELS_DIR", value_delimiter = ':')]
    models: Option<Vec<PathBuf>>,
    /// Delete the contents of the database; asks for confirmation on a terminal.
    #[arg(long)]
    replace: bool,
}

impl Restore {
    /// Runs the command.
    pub async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let data = installation.data();
        let models = self.models.as_ref().filter(|paths| !paths.is_empty()).cloned();
        let models = ModelsFolder::new(models.map_or_else(|| data.models(), Ok)?)?;
        let manifest = Manifest::read(&self.folder)?;
        let url = data.owner_url()?;
        let mut database = data.connect_to(&url).await?;
        self.confirm_replacement(&backup::state(&mut database).await?)?;

        let restored = backup::restore(&url, &mut database, &models, &self.folder).await?;

        terminal::note(&format!(
            "restored {} as it was at {}{}",
            self.folder.display(),
            manifest.made_at.format("%Y-%m-%d %H:%M:%S UTC"),
            if restored.is_migrated { ", and brought its schema up to date" } else { "" }
        ));
        let packs = restored.packs;
        if !packs.new.is_empty() {
            terminal::note(&format!("put in place: {}", packs.new.join(", ")));
        }
        if !packs.other.is_empty() {
            terminal::note(&format!(
                "left as they are, though the backup has others of these names in its folder `models`: {}",
                packs.other.join(", ")
            ));
        }
        Ok(())
    }

    /// Checks that the contents of the database may be deleted.
    fn confirm_replacement(&self, there: &DatabaseState) -> Result<(), Failure> {
        let DatabaseState { database, tables, processes } = there;
        if *tables == 0 {
            return Ok(());
        }
        if !self.replace {
            return Err(Failure::Usage(format!(
                "the database `{database}` is not empty (it has {tables} tables): name an empty one, or delete what it holds with \
                 --replace"
            )));
        }
        if !processes.is_empty() {
            return Err(anyhow!(
                "stop the service first; connected to `{database}`: {}",
                processes.join(", ")
            )
            .into());
        }
        if std::io::stdin().is_terminal() {
            let answer =
                terminal::prompt(&format!("Delete all that `{database}` holds? Type its name to go on"))?;
            if answer != *database {
                return Err(anyhow!("nothing was deleted").into());
            }
        }
        Ok(())
    }
}
