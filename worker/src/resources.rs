//! Models, loaded once and shared by all jobs.
//!
//! A broken pack costs its own model and nothing else: it is reported and skipped. A sampler without a
//! single model is of no use and does not start.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, Result, bail};
use generator::{Device, ModelPack, Sampler};
use queue::LiveModel;
use serde::Deserialize;
use synth::RetroModel;
use tracing::{error, info};

/// `model_type` of the packs that a sampler can load.
const GENERATIVE: &str = "smiles_gru";

/// The generative models of this process, by id.
#[derive(Debug)]
pub struct Models {
    by_id: BTreeMap<String, Sampler>,
}

impl Models {
    /// Loads the packs in `dir` that are generative, or those of them that `wanted` names.
    ///
    /// # Errors
    /// Fails when `dir` cannot be read or no pack in it can be used; a single bad pack is only reported.
    pub fn load(dir: &Path, wanted: &[String]) -> Result<Self> {
        let mut by_id = BTreeMap::new();
        for folder in folders(dir)? {
            let loaded = match load_pack(&folder) {
                Ok(Some(sampler)) => sampler,
                Ok(None) => continue,
                Err(fault) => {
                    error!("skipping the model pack {}: {fault:#}", folder.display());
                    continue;
                }
            };
            let id = loaded.pack().id.clone();
            if !wanted.is_empty() && !wanted.contains(&id) {
                continue;
            }
            if by_id.contains_key(&id) {
                error!("skipping the model pack {}: another one is called `{id}` too", folder.display());
                continue;
            }
            info!(model.id = %id, model.relative_cost = loaded.pack().relative_cost, "loaded a model");
            by_id.insert(id, loaded);
        }
        for id in wanted.iter().filter(|id| !by_id.contains_key(*id)) {
            error!("the model `{id}` was asked for and is not in {}", dir.display());
        }
        if by_id.is_empty() {
            bail!("no usable model pack in {}", dir.display());
        }
        Ok(Self { by_id })
    }

    /// The model called `id`, or the cheapest where none is named; of equally cheap ones the first by id.
    #[must_use]
    pub fn choose(&self, id: Option<&str>) -> Option<&Sampler> {
        match id {
            Some(id) => self.by_id.get(id),
            None => {
                self.by_id.values().min_by(|a, b| a.pack().relative_cost.total_cmp(&b.pack().relative_cost))
            }
        }
    }

    /// What the API is told of the models.
    #[must_use]
    pub fn announce(&self) -> Vec<LiveModel> {
        self.by_id
            .values()
            .map(|sampler| LiveModel {
                model_id: sampler.pack().id.clone(),
                relative_cost: sampler.pack().relative_cost,
            })
            .collect()
    }
}

/// Loads the retrosynthesis model in `dir`.
///
/// # Errors
/// Fails when a file of it is missing or cannot be used.
pub fn load_retro_model(dir: &Path) -> Result<Arc<RetroModel>> {
    let model = RetroModel::load(dir)
        .with_context(|| format!("loading the retrosynthesis model in {}", dir.display()))?;
    info!(
        templates = model.templates(),
        skipped_templates = model.skipped_templates(),
        "loaded the retrosynthesis model"
    );
    Ok(Arc::new(model))
}

/// The folders in `dir`, in order of their names.
fn folders(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(dir).with_context(|| format!("reading the model packs in {}", dir.display()))?;
    let mut folders = Vec::new();
    for entry in entries {
        let path = entry.with_context(|| format!("reading the model packs in {}", dir.display()))?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}

/// The sampler of the pack in `folder`; `None` when the folder holds another kind of model.
fn load_pack(folder: &Path) -> Result<Option<Sampler>> {
    #[derive(Deserialize)]
    struct Kind {
        model_type: String,
    }

    let config = fs::read_to_string(folder.join("config.json")).context("config.json")?;
    let kind: Kind = serde_json::from_str(&config).context("config.json")?;
    if kind.model_type != GENERATIVE {
        return Ok(None);
    }
    let pack = ModelPack::load(folder)?;
    Ok(Some(Sampler::new(&pack, Device::Cpu)?))
}
