//! What a backup says of itself: which release made it, of which schema, and every file with its checksum.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Component, Path},
};

use anyhow::{Context as _, anyhow};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// The file's name in a backup.
pub const MANIFEST: &str = "manifest.json";

/// The file with the database.
pub const DATABASE: &str = "database.dump";

/// The folder with the packs.
pub const MODELS: &str = "models";

/// What backups of this form have as their `format`.
const FORMAT: u32 = 1;

/// What a backup holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Of this file; another number is another form.
    #[serde(rename = "retort_backup")]
    format: u32,
    /// The release that made it.
    pub version: String,
    /// The last migration of its database.
    pub schema: i64,
    /// The moment that it shows.
    pub made_at: DateTime<Utc>,
    /// The server's version.
    pub postgresql: String,
    /// How many rows each table has, of those whose rows are kept.
    pub rows: BTreeMap<String, i64>,
    /// Every file but this one.
    pub parts: Vec<Part>,
}

/// A file of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its path within the backup.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: String,
}

impl Manifest {
    /// Of a backup that is made now.
    pub fn new(schema: i64, made_at: DateTime<Utc>, postgresql: String, rows: BTreeMap<String, i64>) -> Self {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Self { format: FORMAT, version, schema, made_at, postgresql, rows, parts: Vec::new() }
    }

    /// That of the backup in `folder`.
    ///
    /// # Errors
    /// Fails, and says which, when there is nothing, when it is none of ours, and when it is of a form that we do not know.
    pub fn read(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join(MANIFEST);
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(_) if !folder.exists() => {
                return Err(Failure::Usage(format!("there is no {}", folder.display())));
            }
            Err(error) if [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory].contains(&error.kind()) => {
                return Err(Failure::Usage(format!(
                    "{} is no backup of Retort: a backup is a folder with a {MANIFEST}",
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

    /// Whether its names are such as we write: no path leads out of the backup, and no table's name is anything else.
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
    fn what_is_no_backup_is_told_apart() {
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
        assert!(empty.contains("is no backup of Retort"), "{empty}");
        assert!(other.contains("or is damaged") && torn.contains("or is damaged"), "{other} {torn}");
        assert!(later.contains("a later release"), "{later}");
    }

    #[test]
    fn a_name_that_leads_elsewhere_makes_a_manifest_unsound() {
        let manifest = |path: &str, table: &str| {
            let rows = BTreeMap::from([(table.to_owned(), 1)]);
            let mut manifest = Manifest::new(1, DateTime::UNIX_EPOCH, "17".to_owned(), rows);
            manifest.parts = [path, DATABASE]
                .map(|path| Part { path: path.to_owned(), bytes: 0, sha256: String::new() })
                .to_vec();
            manifest
        };

        assert!(manifest("models/a/config.json", "public.samples").is_sound());
        assert!(!manifest("../a", "public.samples").is_sound());
        assert!(!manifest("/etc/passwd", "public.samples").is_sound());
        assert!(!manifest("models/a", "public.samples; drop table x").is_sound());
    }
}
