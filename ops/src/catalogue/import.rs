//! Reading vendors' files and sending their offers to the database in batches.
//!
//! Parsing structures takes nearly all of the time. The reader does so on all cores while the database takes the
//! batch before.

use ::catalogue::{inchi_key, read::KnownKeys};
use anyhow::Context as _;
use catalogue_tables::{
    load::{self, ImportCounts},
    structure_changes,
};
use serde_json::json;
use sqlx::PgConnection;

use super::{
    entry_structures::EntryStructures,
    files::{CatalogueImport, InputFiles},
    note_waiting,
};
use crate::{audit_log, failure::Failure, terminal};

/// Result of an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Imported {
    /// Offers that loaded, or that would load.
    pub loaded: u64,
    /// Rejected records.
    pub left_out: u64,
    /// Offers that loaded although their major component is a known counter-ion or solvate.
    pub doubtful: u64,
    /// Offers of racemates and of unknown enantiomers, which loaded without their configuration.
    pub racemates: u64,
    /// Changes to the catalogue; `None` for a dry run.
    pub merged: Option<ImportCounts>,
}

/// Imports files; invalid records are reported and left out.
///
/// # Errors
/// Fails, and changes nothing, if a file cannot be read to its end, if its columns hold no structures, or if the
/// database fails.
pub async fn import(database: &mut PgConnection, import: &CatalogueImport) -> Result<Imported, Failure> {
    let mut files = InputFiles::open(import)?;
    let mut transaction = load::begin(database).await?;
    load::stage(&mut transaction, &mut files).await?;
    files.bar.set_message("merging");
    structure_changes::settle(&mut transaction, |change| files.report_doubled(change)).await?;
    let merged = load::merge(&mut transaction, import.is_all, note_waiting).await?;
    structure_changes::since_before(&mut transaction, |change| files.report_changed(change)).await?;
    let left_out = files.report.count();
    let details = json!({ "vendor": import.vendor, "loaded": files.loaded, "left_out": left_out });
    let names: Vec<String> = import.files.iter().map(|path| path.display().to_string()).collect();
    audit_log::record(&mut transaction, "catalogue import", &names.join(", "), details)
        .await
        .map_err(|error| Failure::database("writing the audit log", &error))?;
    load::commit(transaction).await?;
    finish(files, Some(merged))
}

/// Building blocks of the catalogue by InChIKey.
///
/// # Errors
/// Fails if the database does.
pub async fn known_keys(database: &mut PgConnection) -> Result<KnownKeys, Failure> {
    let blocks = load::structures(database).await?;
    let bar = terminal::bar(blocks.len() as u64, "InChIKeys of the catalogue");
    let keyed = |smiles: String| {
        bar.inc(1);
        Some((inchi_key(&smiles)?, smiles))
    };
    let keys = blocks.into_iter().filter_map(keyed).collect();
    bar.finish_and_clear();
    Ok(keys)
}

/// Reads files as an import does, but changes nothing.
///
/// # Errors
/// Fails as [`import`] does, except for the database.
pub fn try_out(import: &CatalogueImport) -> Result<Imported, Failure> {
    let doing = "comparing the rows of one entry";
    let mut files = InputFiles::open(import)?;
    let mut structures = EntryStructures::new().context(doing)?;
    for batch in &mut files {
        for entry in &batch?.entries {
            structures.note(entry).context(doing)?;
        }
    }
    for change in structures.changes().context(doing)? {
        files.report_doubled(&change)?;
    }
    finish(files, None)
}

fn finish(files: InputFiles, merged: Option<ImportCounts>) -> Result<Imported, Failure> {
    let loaded = files.loaded;
    let counts = files.finish()?;
    Ok(Imported {
        loaded,
        left_out: counts.left_out,
        doubtful: counts.doubtful,
        racemates: counts.racemates,
        merged,
    })
}

#[cfg(test)]
mod tests;
