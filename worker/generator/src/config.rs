//! The small files of a pack, read and checked: what the model is, how to draw from it, what to call it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, de::DeserializeOwned};

use crate::PackError;

/// No vocabulary, layer or string of a SMILES model comes near it: a larger number is a slip.
const LARGEST: usize = 1 << 20;

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
    pub(crate) fn of(model_type: &str) -> Option<Self> {
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
pub(crate) struct Metadata {
    pub(crate) id: String,
    pub(crate) description: String,
    pub(crate) relative_cost: f64,
}

impl Config {
    pub(crate) fn load(file: PathBuf) -> Result<Self, PackError> {
        Self::read(&bytes(&file)?, &file)
    }

    /// Reads what is in `file`.
    pub(crate) fn read(json: &[u8], file: &Path) -> Result<Self, PackError> {
        let config: Self = parse(json, file)?;
        let check = Check(file);
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
        Cell::of(&self.model_type).expect("config: the model type was checked when it was loaded")
    }
}

impl GenerationConfig {
    pub(crate) fn load(file: PathBuf) -> Result<Self, PackError> {
        Self::read(&bytes(&file)?, &file)
    }

    /// Reads what is in `file`.
    pub(crate) fn read(json: &[u8], file: &Path) -> Result<Self, PackError> {
        let config: Self = parse(json, file)?;
        let Self { temperature, top_p, max_length, constrained: _ } = config;
        let check = Check(file);
        check.that("temperature", &temperature, (1e-3..=100.0).contains(&temperature), "0.001 to 100")?;
        check.that("top_p", &top_p, top_p > 0.0 && top_p <= 1.0, "over 0 and at most 1")?;
        check.that("max_length", &max_length, (3..=LARGEST).contains(&max_length), "3 to 2^20")?;
        Ok(config)
    }
}

impl Metadata {
    pub(crate) fn load(file: PathBuf) -> Result<Self, PackError> {
        Self::read(&bytes(&file)?, &file)
    }

    /// Reads what is in `file`.
    pub(crate) fn read(json: &[u8], file: &Path) -> Result<Self, PackError> {
        let metadata: Self = parse(json, file)?;
        let check = Check(file);
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

fn parse<T: DeserializeOwned>(json: &[u8], file: &Path) -> Result<T, PackError> {
    serde_json::from_slice(json).map_err(|source| PackError::Json { file: file.to_owned(), source })
}
