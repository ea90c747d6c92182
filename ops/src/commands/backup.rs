//! `retort backup`: copies the database and the imported models.

use std::path::PathBuf;

use clap::Args;
use identity::tables::signing_keys;
use model_tools::ModelsFolder;
use serde_json::json;

use crate::{InstallationArgs, audit_log::LoggedAction, backup, failure::Failure, terminal};

/// Back up the database and the imported models; the service may run.
///
/// The folder holds accounts, samples, the catalogue, signing keys, the audit log, and the model packs that were
/// imported or trained. Jobs and other short-lived data are left out. Uses PostgreSQL's `pg_dump`, which must be at
/// least as new as the server.
#[derive(Debug, Args)]
pub struct Backup {
    /// New folder for the backup.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// Folders of model packs, as for the workers; the last one is backed up [default: those of the data folder].
    #[arg(long, value_name = "DIR[:DIR…]", env = "MODELS_DIR", value_delimiter = ':')]
    models: Option<Vec<PathBuf>>,
}

impl Backup {
    /// Runs the command.
    pub async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let data = installation.data();
        let models = self.models.filter(|paths| !paths.is_empty());
        let models = ModelsFolder::new(models.map_or_else(|| data.models(), Ok)?)?;
        let url = data.database_url()?;
        let mut database = data.connect_to(&url).await?;

        let made = backup::back_up(&url, &mut database, &models, &self.folder).await?;

        let failed = |error| Failure::database("looking at the signing keys", &error);
        let keys = signing_keys::list(&mut database).await.map_err(failed)?;
        let details = json!({ "schema": made.manifest.schema, "packs": made.packs });
        let act = LoggedAction::begin(&mut database, "writing the audit log").await?;
        act.done("backup", &self.folder.display().to_string(), details).await?;

        let bytes: u64 = made.manifest.parts.iter().map(|part| part.bytes).sum();
        let samples = made.manifest.rows.get("public.samples").copied().unwrap_or_default();
        terminal::note(&format!(
            "backed up {samples} samples and all else to {}, with {} model packs of your own; {:.1} MB",
            self.folder.display(),
            made.packs.len(),
            bytes as f64 / 1e6
        ));
        terminal::note(if keys.iter().all(|key| key.sealed) && !keys.is_empty() {
            "its signing keys are sealed: keep KEYS_SECRET elsewhere, it is not in the backup, and without it the API does not start"
        } else {
            "it holds the keys that sign tokens, unsealed: whoever has it can make tokens (KEYS_SECRET seals them)"
        });
        Ok(())
    }
}
