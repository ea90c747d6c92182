//! The manifest of a backup: its release, its schema, and every file with its checksum.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Component, Path},
};

use anyhow::{Context as _, anyhow};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// Name of the manifest in a backup.
pub const MANIFEST: &str = "manifest.json";

/// Name of the database file.
pub const DATABASE: &str = "database.dump";

/// Name of the folder with the packs.
pub const MODELS: &str = "models";

/// Current value of `format`.
const FORMAT: u32 = 1;

/// Content of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the manifest's format.
    #[serde(rename = "retort_backup")]
    format: u32,
    /// Release that made the backup.
    pub version: String,
    /// Last migration of its database.
    pub schema: i64,
    /// Time of the database snapshot.
    pub made_at: DateTime<Utc>,
    /// Version of the PostgreSQL server.
    pub postgresql: String,
    /// Number of rows of each table whose rows are kept.
    pub rows: BTreeMap<String, i64>,
    /// All files except the manifest.
    pub parts: Vec<BackupPart>,
}

/// A file of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackupPart {
    /// Path within the backup.
    pub path: String,
    /// Length of the file.
    pub bytes: u64,
    /// SHA-256 of the file, in hexadecimal digits.
    pub sha256: String,
}

impl Manifest {
    /// Creates the manifest of a new backup, without parts.
    pub fn new(schema: i64, made_at: DateTime<Utc>, postgresql: String, rows: BTreeMap<String, i64>) -> Self {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Self { format: FORMAT, version, schema, made_at, postgresql, rows, parts: Vec::new() }
    }

    /// Reads the manifest of the backup in `folder`.
    ///
    /// # Errors
    /// Fails with the reason if there is no manifest, if it is not one of ours, or if its format is unknown.
    pub fn read(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join(MANIFEST);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(_) if !folder.exists() => {
                return Err(Failure::Usage(format!("there is no {}", folder.display())));
            }
            Err(error) if [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&error.kind()) => {
                return Err(Failure::Usage(format!(
                    "{} is not a backup of Retort: a backup is a folder with a {MANIFEST}",
                    folder.display()
                )));
            }
            Err(error) => return Err(anyhow!(error).context(format!("reading {}", path.display())).into()),
        };
        let none = || format!("{} is not the manifest of a backup of Retort, or is damaged", path.display());
        let manifest: serde_json::Value = serde_json::from_str(&text).with_context(none)?;
        match manifest.get("retort_backup").and_then(serde_json::Value::as_u64) {
            Some(format) if format != u64::from(FORMAT) => Err(Failure::Usage(format!(
                "{} is a backup of a later release of Retort (form {format}, this one knows {FORMAT})",
                folder.display()
            ))),
            _ => {
                let manifest: Self = serde_json::from_value(manifest).with_context(none)?;
                if manifest.is_sound() { Ok(manifest) } else { Err(anyhow!(none()).into()) }
            }
        }
    }

    /// Checks that its names are plausible: no path leads out of the backup, and table names are plain.
    fn is_sound(&self) -> bool {
        let is_inside =
            |path: &str| Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
        let is_name = |name: &str| {
            !name.is_empty()
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_.".contains(&byte))
        };
        self.parts.iter().all(|part| is_inside(&part.path))
            && self.parts.iter().any(|part| part.path == DATABASE)
            && self.rows.keys().all(|table| is_name(table))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_no_backup_is_recognised() {
        let folder = tempfile::tempdir().unwrap();
        let read = |text: &str| {
            fs::write(folder.path().join(MANIFEST), text).unwrap();
            Manifest::read(folder.path()).unwrap_err().to_string()
        };

        let nothing = Manifest::read(&folder.path().join("none")).unwrap_err().to_string();
        let empty = Manifest::read(folder.path()).unwrap_err().to_string();
        let other = read("{\"name\": \"something\"}");
        let torn = read("{\"retort_backup\": 1, \"ver");
        let later = read("{\"retort_backup\": 2}");

        assert!(nothing.starts_with("there is no "), "{nothing}");
        assert!(empty.contains("is not a backup of Retort"), "{empty}");
        assert!(other.contains("or is damaged") && torn.contains("or is damaged"), "{other} {torn}");
        assert!(later.contains("a later release"), "{later}");
    }

    #[test]
    fn a_name_that_leads_elsewhere_makes_a_manifest_unsound() {
        let manifest = |path: &str, table: &str| {
            let rows = BTreeMap::from([(table.to_owned(), 1)]);
            let mut manifest = Manifest::new(1, DateTime::UNIX_EPOCH, "17".to_owned(), rows);
            manifest.parts = [path, DATABASE]
                .map(|path| BackupPart { path: path.to_owned(), bytes: 0, sha256: String::new() })
                .to_vec();
            manifest
        };

        assert!(manifest("models/a/config.json", "public.samples").is_sound());
        assert!(!manifest("../a", "public.samples").is_sound());
        assert!(!manifest("/etc/passwd", "public.samples").is_sound());
        assert!(!manifest("models/a", "public.samples; drop table x").is_sound());
    }
}
