//! Models, loaded once and shared by all jobs.
//!
//! A broken pack disables only its own model: it is reported and skipped. A sampler without any model is of no use
//! and does not start.

use std::{
    collections::BTreeMap,
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use anyhow::{Context, Result, bail, ensure};
use generator::{Device, DeviceChoice, ModelPack, Sampler};
use queue::LiveModel;
use serde::Deserialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use synth::{Planner, RetroModel};
use tracing::{error, info};

/// Files of a pack that determine its molecules.
const MODEL_FILES: [&str; 4] =
    ["config.json", "generation_config.json", "tokenizer.json", "model.safetensors"];

/// Filter rule of drawn molecules. A change of it changes the model's version, so that molecules made before are
/// dropped.
const VALIDITY_RULE: &str = "valid, no radicals";

/// Hardware that samplers use.
#[derive(Debug, Clone)]
pub struct ComputeDevice {
    /// CPU or GPU.
    pub device: Device,
    /// Threads that draw and check.
    pub threads: NonZeroUsize,
}

/// Generative model, ready to draw from.
#[derive(Debug)]
pub struct LoadedModel {
    /// Sampler of the model.
    pub sampler: Sampler,
    /// Version that changes with any file that determines the molecules: the start of a SHA-256 in hexadecimal.
    pub version: String,
    /// Contents of `metadata.json`: the published description of the model.
    pub card: Value,
}

impl LoadedModel {
    /// Returns the id by which clients name the model.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.sampler.pack().id
    }

    /// Returns the card, with our version if the pack names none.
    fn announced_card(&self) -> Value {
        let mut card = self.card.clone();
        if let Some(members) = card.as_object_mut() {
            members.entry("version").or_insert_with(|| self.version.clone().into());
        }
        card
    }

    /// Returns the cost of one string, as a multiple of the cheapest model's.
    pub(crate) fn relative_cost(&self) -> f64 {
        self.sampler.pack().relative_cost
    }
}

/// Generative models of this process, by id.
#[derive(Debug)]
pub struct Models {
    by_id: BTreeMap<String, Arc<LoadedModel>>,
}

impl Models {
    /// Loads the generative packs in the folders `dirs`, or those of them that `selected` names, onto `machine`.
    ///
    /// # Errors
    /// Fails when a folder cannot be read or no pack in them can be used; a single bad pack is only reported.
    pub fn load(dirs: &[PathBuf], selected: &[String], machine: &ComputeDevice) -> Result<Self> {
        Self::reload(dirs, selected, machine, None)
    }

    /// [Loads](Self::load) the packs again; models of unchanged packs are kept.
    pub(crate) fn reload(
        dirs: &[PathBuf],
        selected: &[String],
        machine: &ComputeDevice,
        before: Option<&Self>,
    ) -> Result<Self> {
        let mut by_id: BTreeMap<String, Arc<LoadedModel>> = BTreeMap::new();
        for folder in folders(dirs)? {
            let loaded = match load_pack(&folder, machine, before) {
                Ok(Some(model)) => model,
                Ok(None) => continue,
                Err(fault) => {
                    error!("skipping the model pack {}: {fault:#}", folder.display());
                    continue;
                }
            };
            let id = loaded.id().to_owned();
            if !selected.is_empty() && !selected.contains(&id) {
                continue;
            }
            if by_id.contains_key(&id) {
                error!("skipping the model pack {}: another pack has the name `{id}`", folder.display());
                continue;
            }
            info!(model.id = %id, model.relative_cost = loaded.relative_cost(), "loaded a model");
            by_id.insert(id, loaded);
        }
        for id in selected.iter().filter(|id| !by_id.contains_key(*id)) {
            error!("the requested model `{id}` is not in {}", names(dirs));
        }
        if by_id.is_empty() {
            bail!("no usable model pack in {}", names(dirs));
        }
        Ok(Self { by_id })
    }

    /// Returns the model called `id`. Without an id, as in jobs of earlier versions, it returns the cheapest; among
    /// equals the first by id.
    #[must_use]
    pub fn choose(&self, id: Option<&str>) -> Option<&Arc<LoadedModel>> {
        match id {
            Some(id) => self.by_id.get(id),
            None => self.iter().min_by(|a, b| a.relative_cost().total_cmp(&b.relative_cost())),
        }
    }

    /// Iterates over all models, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<LoadedModel>> {
        self.by_id.values()
    }

    /// Returns the models as announced to the API.
    #[must_use]
    pub fn announce(&self) -> Vec<LiveModel> {
        let announce = |model: &Arc<LoadedModel>| LiveModel {
            model_id: model.id().to_owned(),
            relative_cost: model.relative_cost(),
            card: model.announced_card(),
        };
        self.iter().map(announce).collect()
    }
}

impl ComputeDevice {
    /// Opens the device for samplers, with this number of threads.
    ///
    /// # Errors
    /// Fails when a GPU is named that cannot be used.
    pub fn open(choice: DeviceChoice, threads: NonZeroUsize) -> Result<Self> {
        let device = choice.open().context("RETORT_DEVICE")?;
        info!(device = %DeviceChoice::of(&device), threads, "opened the device for samples");
        Ok(Self { device, threads })
    }
}

/// Loads the retrosynthesis model in `dir`, for searches with `settings`.
///
/// # Errors
/// Fails when a file of it is missing or cannot be used.
pub fn load_planner(dir: &Path, settings: synth::PlannerSettings) -> Result<Arc<Planner>> {
    let model = RetroModel::load_on(dir, settings.cores)
        .with_context(|| format!("loading the retrosynthesis model in {}", dir.display()))?;
    info!(
        templates = model.templates(),
        skipped_templates = model.skipped_templates(),
        algorithm = %settings.algorithm,
        cores = settings.cores,
        cache_bytes = settings.cache_bytes,
        memory_bytes = settings.memory_bytes,
        "loaded the retrosynthesis model"
    );
    Ok(Arc::new(Planner::new(Arc::new(model), settings)))
}

/// Lists the model folders in `dirs`, sorted by name within each; hidden ones are packs that are being imported or
/// removed.
fn folders(dirs: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for dir in dirs {
        let doing = || format!("reading the model packs in {}", dir.display());
        let mut folders = Vec::new();
        for entry in fs::read_dir(dir).with_context(doing)? {
            let path = entry.with_context(doing)?.path();
            let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            if path.is_dir() && !hidden {
                folders.push(path);
            }
        }
        folders.sort();
        all.append(&mut folders);
    }
    Ok(all)
}

/// Formats the folders for messages, as `MODELS_DIR` has them.
fn names(dirs: &[PathBuf]) -> String {
    dirs.iter().map(|dir| dir.display().to_string()).collect::<Vec<_>>().join(":")
}

/// Loads the model of the pack in `folder`, or reuses the one in `before` if it has not changed; `None` if the folder
/// holds another kind of model.
fn load_pack(
    folder: &Path,
    machine: &ComputeDevice,
    before: Option<&Models>,
) -> Result<Option<Arc<LoadedModel>>> {
    #[derive(Deserialize)]
    struct PackKind {
        model_type: String,
    }

    let config = fs::read_to_string(folder.join("config.json")).context("config.json")?;
    let kind: PackKind = serde_json::from_str(&config).context("config.json")?;
    if !ModelPack::is_model_type(&kind.model_type) {
        return Ok(None);
    }
    let card = fs::read(folder.join("metadata.json")).context("metadata.json")?;
    let card: Value = serde_json::from_slice(&card).context("metadata.json")?;
    // A process with such a card could not store its heartbeat.
    ensure!(!has_nul(&card), "metadata.json has a NUL character, which the database stores nowhere");
    let version = version(folder)?;
    let same = |model: &&Arc<LoadedModel>| model.version == version && model.card == card;
    if let Some(model) = before.and_then(|before| before.iter().find(same)) {
        return Ok(Some(Arc::clone(model)));
    }
    let sampler = Sampler::on_threads(&ModelPack::load(folder)?, machine.device.clone(), machine.threads)?;
    Ok(Some(Arc::new(LoadedModel { sampler, version, card })))
}

/// Returns true if a text or name in the value has a NUL character.
fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(items) => items.iter().any(has_nul),
        Value::Object(members) => members.iter().any(|(name, value)| name.contains('\0') || has_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Fingerprint of files: modification time and size of each, if it exists.
pub(crate) type FileStamps = Vec<(PathBuf, Option<(SystemTime, u64)>)>;

/// Returns the fingerprint of the packs in `dirs`; it changes with their files.
pub(crate) fn stamp(dirs: &[PathBuf]) -> Result<FileStamps> {
    let files = folders(dirs)?.into_iter().flat_map(|folder| {
        MODEL_FILES.iter().chain(&["metadata.json"]).map(move |file| folder.join(file)).collect::<Vec<_>>()
    });
    let looks = |file: &PathBuf| {
        let metadata = fs::metadata(file).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    Ok(files.map(|file| (file.clone(), looks(&file))).collect())
}

fn version(folder: &Path) -> Result<String> {
    let mut hash = Sha256::new();
    hash.update(VALIDITY_RULE);
    for file in MODEL_FILES {
        let bytes = fs::read(folder.join(file)).context(file)?;
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
    Ok(hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}
