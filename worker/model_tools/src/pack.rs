//! A pack's folder and the facts that are known without loading the model.

use std::{
    ffi::OsStr,
    fs::{self, Permissions},
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, anyhow};
use contract::ModelMetrics;
use generator::ModelPack;
use serde::Serialize;
use serde_json::{Value, json};

use super::read;
use crate::error::ModelToolError;

/// `model_type` of template packs.
pub const TEMPLATES: &str = "template_relevance";

/// Kind of model in a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Generates molecules.
    Generator,
    /// Proposes disconnections: templates and the network that ranks them.
    Templates,
}

impl Kind {
    /// Returns the kind as one word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Generator => "generator",
            Self::Templates => "templates",
        }
    }
}

/// A folder that is, or should be, a pack.
#[derive(Debug)]
pub struct PackFolder {
    /// Path of the folder.
    pub folder: PathBuf,
    /// Kind of model, if it can be recognised.
    pub kind: Option<Kind>,
    /// `config.json`, if it can be read.
    pub config: Option<Value>,
    /// `metadata.json`, if it can be read.
    pub metadata: Option<Value>,
    /// Reasons why any of the three is missing.
    pub faults: Vec<String>,
}

impl PackFolder {
    /// Reads the metadata of a folder.
    pub fn open(folder: &Path) -> Self {
        let mut faults = Vec::new();
        let mut json = |name| match read::json(&folder.join(name)) {
            Ok(value) => Some(value),
            Err(fault) => {
                faults.push(fault.to_string());
                None
            }
        };
        let (config, metadata) = (json("config.json"), json("metadata.json"));
        let kind = config.as_ref().and_then(|config| match kind(config) {
            Ok(kind) => Some(kind),
            Err(fault) => {
                faults.push(format!("{}: {fault}", folder.join("config.json").display()));
                None
            }
        });
        Self { folder: folder.to_owned(), kind, config, metadata, faults }
    }

    /// Returns the id by which callers name the model; the folder's name if the pack states none.
    pub fn id(&self) -> &str {
        self.text("id").unwrap_or_else(|| self.name())
    }

    /// The folder's name.
    pub fn name(&self) -> &str {
        self.folder.file_name().and_then(OsStr::to_str).unwrap_or("?")
    }

    /// Returns a text field of `metadata.json`.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.metadata.as_ref()?.get(field)?.as_str()
    }

    /// Returns the files of the folder with their sizes, sorted by name.
    pub fn files(&self) -> Vec<(String, u64)> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut files: Vec<(String, u64)> = entries
            .filter_map(|entry| {
                let metadata = fs::metadata(entry.path()).ok()?;
                metadata.is_file().then(|| (entry.file_name().to_string_lossy().into_owned(), metadata.len()))
            })
            .collect();
        files.sort();
        files
    }

    /// Stores figures in `metadata.json` under `name`, beside those of other names; the file is replaced as a whole.
    pub fn keep(&mut self, name: &str, metrics: &ModelMetrics) -> Result<(), ModelToolError> {
        let path = self.folder.join("metadata.json");
        let metadata = self.metadata.as_mut().and_then(Value::as_object_mut);
        let metadata = metadata.ok_or_else(|| anyhow!("{}: no object to keep figures in", path.display()))?;
        let kept = metadata.entry("metrics").or_insert_with(|| json!({}));
        let kept =
            kept.as_object_mut().ok_or_else(|| anyhow!("{}: `metrics` is not an object", path.display()))?;
        kept.insert(name.to_owned(), json!(metrics));
        let doing = || format!("writing {}", path.display());
        let mut file = tempfile::NamedTempFile::new_in(&self.folder).with_context(doing)?;
        file.write_all(format!("{:#}\n", json!(metadata)).as_bytes()).with_context(doing)?;
        file.as_file().set_permissions(Permissions::from_mode(0o644)).with_context(doing)?;
        file.as_file().sync_all().with_context(doing)?;
        file.persist(&path).with_context(doing)?;
        Ok(())
    }

    /// Returns the total size of all files in bytes.
    pub fn size(&self) -> u64 {
        self.files().iter().map(|(_, bytes)| bytes).sum()
    }
}

/// Returns the kind of model that a configuration describes.
pub fn kind(config: &Value) -> Result<Kind, String> {
    match config.get("model_type").and_then(Value::as_str) {
        Some(TEMPLATES) => Ok(Kind::Templates),
        Some(model_type) if ModelPack::is_model_type(model_type) => Ok(Kind::Generator),
        Some(other) => Err(format!(
            "`model_type` is {other}, wanted `smiles_gru` or `smiles_lstm` (a generator) or `{TEMPLATES}`"
        )),
        None => Err("no text `model_type`".to_owned()),
    }
}
