//! `retort restore`: puts a backup in place.

use std::{io::IsTerminal as _, path::PathBuf};

use anyhow::anyhow;
use clap::Args;

use crate::{
    Place,
    backup::{self, Manifest, State},
    failure::Failure,
    models::ModelsFolder,
    terminal,
};

/// Put a backup in place, whole or not at all.
///
/// Into an empty database, by the role of MIGRATION_DATABASE_URL where there is one; an older schema is brought up to date. The models go
/// to the last folder of models; those that are there stay as they are. Takes PostgreSQL's `pg_restore` and `psql`.
#[derive(Debug, Args)]
pub struct Restore {
    /// What `retort backup` made.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Folders of model packs, those of the workers; packs go to the last one [default: those of the data folder].
    #[arg(long, value_name = "DIR[:DIR…]", env = "MODELS_DIR", value_delimiter = ':')]
    models: Option<Vec<PathBuf>>,
    /// Delete what the database holds; asks where there is a terminal.
    #[arg(long)]
    replace: bool,
}

impl Restore {
    /// Runs the command.
    pub async fn run(self, place: &Place) -> Result<(), Failure> {
        let data = place.data();
        let models = self.models.as_ref().filter(|paths| !paths.is_empty()).cloned();
        let models = ModelsFolder::new(models.map_or_else(|| data.models(), Ok)?)?;
        let manifest = Manifest::read(&self.folder)?;
        let url = data.owner_url()?;
        let mut database = data.connect_to(&url).await?;
        self.agree(&backup::state(&mut database).await?)?;

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

    /// Whether what is there may go.
    fn agree(&self, there: &State) -> Result<(), Failure> {
        let State { database, tables, processes } = there;
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
                terminal::ask(&format!("Delete all that `{database}` holds? Type its name to go on"))?;
            if answer != *database {
                return Err(anyhow!("nothing was deleted").into());
            }
        }
        Ok(())
    }
}
