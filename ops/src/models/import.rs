//! Importing: what somebody else made becomes a pack among the models, or a sentence that says why not.

mod layout;

use std::path::PathBuf;

use anyhow::anyhow;

use super::{ModelId, ModelsFolder, Pack, Report, check, folder::Draft, read};
use crate::failure::Failure;

/// What to import, and as what.
#[derive(Debug)]
pub struct Import {
    /// A folder in our layout.
    pub source: PathBuf,
    /// The id it is to have; else its own.
    pub name: Option<ModelId>,
}

/// Imports a model; says what it was found to be.
///
/// # Errors
/// Fails, and leaves nothing behind, when the source cannot be read, the id is taken, or the pack would not be sound.
pub fn import(models: &ModelsFolder, import: &Import) -> Result<Report, Failure> {
    let draft = if import.source.is_dir() {
        layout::import(models, import)?
    } else {
        read::open(&import.source).map_err(anyhow::Error::from)?;
        return Err(anyhow!("{}: not a model that can be imported", import.source.display()).into());
    };
    land(draft)
}

/// Checks a pack and moves it into place.
fn land(draft: Draft) -> Result<Report, Failure> {
    let mut report = check(&Pack::open(draft.path()), &[]);
    if !report.is_sound() {
        // The temporary folder is gone when this is read.
        let folder = format!("{}/", draft.path().display());
        let faults = report.faults.iter().map(|fault| fault.replace(&folder, ""));
        let faults = faults.collect::<Vec<_>>().join("; ");
        return Err(anyhow!("not imported: {faults}").into());
    }
    let written = draft.path().display().to_string();
    let landed = draft.land()?.display().to_string();
    for warning in &mut report.warnings {
        *warning = warning.replace(&written, &landed);
    }
    report.folder = landed;
    Ok(report)
}
