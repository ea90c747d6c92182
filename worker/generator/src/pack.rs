//! Model packs: the folder in which a trained model ships, read and checked once.
//!
//! Everything that could make sampling fail or give wrong results is refused here, naming the file and the fault. The
//! rest of the crate can trust its input.

use std::path::Path;

use crate::{
    PackError,
    config::{Cell, Config, GenerationConfig, Metadata},
    vocabulary::Vocabulary,
    weights::Weights,
};

/// A checked model, ready for [`crate::Sampler::new`].
#[derive(Debug, Clone)]
pub struct ModelPack {
    /// The id by which callers name the model.
    pub id: String,
    /// One-line description for people.
    pub description: String,
    /// Compute per molecule relative to the other packs. The cheapest loaded model is the default.
    pub relative_cost: f64,
    /// Generation settings.
    pub generation: GenerationConfig,
    pub(crate) config: Config,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) weights: Weights,
}

impl ModelPack {
    /// Returns true if this `model_type` in `config.json` is a model of molecules.
    #[must_use]
    pub fn is_model_type(model_type: &str) -> bool {
        Cell::of(model_type).is_some()
    }

    /// Returns all faults that keep the folder `dir` from being a pack, at most one per file.
    ///
    /// Vocabulary and weights are only checked if the configuration is usable.
    #[must_use]
    pub fn faults(dir: &Path) -> Vec<PackError> {
        let config = Config::load(dir.join("config.json"));
        let mut faults = Vec::new();
        faults.extend(GenerationConfig::load(dir.join("generation_config.json")).err());
        faults.extend(Metadata::load(dir.join("metadata.json")).err());
        match config {
            Ok(config) => {
                faults.extend(Vocabulary::load(dir.join("tokenizer.json"), &config).err());
                faults.extend(Weights::load(dir.join("model.safetensors"), &config).err());
            }
            Err(fault) => faults.insert(0, fault),
        }
        faults
    }

    /// Encodes `text` in the model's tokens, including the first and last special token; `None` if the vocabulary
    /// cannot express it. Longer tokens are preferred.
    #[must_use]
    pub fn encode(&self, text: &str) -> Option<Vec<u32>> {
        self.vocabulary.encode(text)
    }

    /// Reads and checks the pack in the folder `dir`.
    ///
    /// # Errors
    /// Fails at the first file that is missing or wrong; the error names it.
    pub fn load(dir: &Path) -> Result<Self, PackError> {
        let config = Config::load(dir.join("config.json"))?;
        let generation = GenerationConfig::load(dir.join("generation_config.json"))?;
        let metadata = Metadata::load(dir.join("metadata.json"))?;
        let vocabulary = Vocabulary::load(dir.join("tokenizer.json"), &config)?;
        let weights = Weights::load(dir.join("model.safetensors"), &config)?;
        Ok(Self {
            id: metadata.id,
            description: metadata.description,
            relative_cost: metadata.relative_cost,
            generation,
            config,
            vocabulary,
            weights,
        })
    }
}
