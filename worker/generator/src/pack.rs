//! A model pack: the folder that a trained model ships as, read and checked once.
//!
//! Everything that could make sampling fail or lie is refused here, with the file and the fault, so
//! that the rest of the crate trusts what it is given.

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
    /// One line for people.
    pub description: String,
    /// Compute per molecule relative to the other packs; the cheapest loaded model is the default.
    pub relative_cost: f64,
    /// How to draw from the model.
    pub generation: GenerationConfig,
    pub(crate) config: Config,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) weights: Weights,
}

impl ModelPack {
    /// Whether packs with this `model_type` in `config.json` are models of molecules.
    #[must_use]
    pub fn is_model_type(model_type: &str) -> bool {
        Cell::of(model_type).is_some()
    }

    /// Everything that keeps the folder `dir` from being a pack, at most one fault a file.
    ///
    /// Vocabulary and weights are only looked at beside a configuration that can be used.
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

    /// `text` in the model's tokens, the first and the last special one included; `None` when the vocabulary
    /// cannot write it. Where there are several ways, the longest tokens come first.
    #[must_use]
    pub fn spell(&self, text: &str) -> Option<Vec<u32>> {
        self.vocabulary.spell(text)
    }

    /// Reads and checks the pack in the folder `dir`.
    ///
    /// # Errors
    /// Fails on the first file that is missing or wrong; the error names it.
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
