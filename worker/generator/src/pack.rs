//! A model pack: the folder that a trained model ships as, read and checked once.
//!
//! Everything that could make sampling fail or lie is refused here, with the file and the fault, so
//! that the rest of the crate trusts what it is given.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, de::DeserializeOwned};

use crate::{PackError, vocabulary::Vocabulary, weights::Weights};

/// No vocabulary, layer or string of a SMILES model comes near it: a larger number is a slip.
const LARGEST: usize = 1 << 20;

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

/// `generation_config.json`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct GenerationConfig {
    /// Divides the logits; over 0.
    pub temperature: f64,
    /// Share of the probability that the tokens drawn from must cover, over 0 and at most 1.
    pub top_p: f64,
    /// Tokens of the longest string, the first and the last special token included.
    pub max_length: usize,
    /// Whether tokens after which a string cannot become a molecule any more are never drawn.
    #[serde(default = "yes")]
    pub constrained: bool,
}

/// `config.json`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Config {
    model_type: String,
    pub(crate) vocab_size: usize,
    pub(crate) embedding_size: usize,
    pub(crate) hidden_size: usize,
    pub(crate) num_layers: usize,
    pub(crate) bos_token_id: u32,
    pub(crate) eos_token_id: u32,
    /// Not every vocabulary has one: nothing is ever padded here.
    pub(crate) pad_token_id: Option<u32>,
}

/// What a layer of the network is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell {
    Gru,
    Lstm,
}

impl Cell {
    /// The cell of a `model_type`.
    fn of(model_type: &str) -> Option<Self> {
        match model_type {
            "smiles_gru" => Some(Self::Gru),
            "smiles_lstm" => Some(Self::Lstm),
            _ => None,
        }
    }

    /// How many times `hidden` rows its weights have.
    pub(crate) const fn gates(self) -> usize {
        match self {
            Self::Gru => 3,
            Self::Lstm => 4,
        }
    }
}

/// `metadata.json`, as far as the sampler is concerned.
#[derive(Debug, Deserialize)]
struct Metadata {
    id: String,
    description: String,
    relative_cost: f64,
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

impl Config {
    fn load(file: PathBuf) -> Result<Self, PackError> {
        let config: Self = json(&file)?;
        let check = Check(&file);
        let known = Cell::of(&config.model_type).is_some();
        check.that("model_type", &config.model_type, known, "`smiles_gru` or `smiles_lstm`")?;
        for (field, size) in [
            ("vocab_size", config.vocab_size),
            ("embedding_size", config.embedding_size),
            ("hidden_size", config.hidden_size),
            ("num_layers", config.num_layers),
        ] {
            check.that(field, &size, (1..=LARGEST).contains(&size), "1 to 2^20")?;
        }
        let mut tokens = vec![("bos_token_id", config.bos_token_id), ("eos_token_id", config.eos_token_id)];
        tokens.extend(config.pad_token_id.map(|id| ("pad_token_id", id)));
        for (n, (field, id)) in tokens.iter().enumerate() {
            let known = usize::try_from(*id).is_ok_and(|id| id < config.vocab_size);
            check.that(field, id, known, "an id below `vocab_size`")?;
            let distinct = tokens[..n].iter().all(|(_, other)| other != id);
            check.that(field, id, distinct, "an id of its own")?;
        }
        Ok(config)
    }

    /// What the layers are made of.
    pub(crate) fn cell(&self) -> Cell {
        Cell::of(&self.model_type).expect("pack: the model type was checked when it was loaded")
    }
}

impl GenerationConfig {
    fn load(file: PathBuf) -> Result<Self, PackError> {
        let config: Self = json(&file)?;
        let Self { temperature, top_p, max_length, constrained: _ } = config;
        let check = Check(&file);
        check.that("temperature", &temperature, (1e-3..=100.0).contains(&temperature), "0.001 to 100")?;
        check.that("top_p", &top_p, top_p > 0.0 && top_p <= 1.0, "over 0 and at most 1")?;
        check.that("max_length", &max_length, (3..=LARGEST).contains(&max_length), "3 to 2^20")?;
        Ok(config)
    }
}

impl Metadata {
    fn load(file: PathBuf) -> Result<Self, PackError> {
        let metadata: Self = json(&file)?;
        let check = Check(&file);
        // The contract's pattern for ids, `^\w+$`.
        let is_id = !metadata.id.is_empty()
            && metadata.id.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        check.that("id", &metadata.id, is_id, "letters, digits and underscores")?;
        let cost = metadata.relative_cost;
        check.that("relative_cost", &cost, cost.is_finite() && cost > 0.0, "over 0")?;
        Ok(metadata)
    }
}

/// Checks of one file's values.
struct Check<'a>(&'a Path);

impl Check<'_> {
    fn that(
        &self,
        field: &'static str,
        found: &impl ToString,
        holds: bool,
        wanted: &'static str,
    ) -> Result<(), PackError> {
        if holds {
            return Ok(());
        }
        Err(PackError::Value { file: self.0.to_owned(), field, found: found.to_string(), wanted })
    }
}

/// Reads a whole file.
pub(crate) fn bytes(file: &Path) -> Result<Vec<u8>, PackError> {
    fs::read(file).map_err(|source| PackError::Unreadable { file: file.to_owned(), source })
}

fn yes() -> bool {
    true
}

fn json<T: DeserializeOwned>(file: &Path) -> Result<T, PackError> {
    serde_json::from_slice(&bytes(file)?).map_err(|source| PackError::Json { file: file.to_owned(), source })
}
