//! The small files of a pack, read and checked: model configuration, generation settings and metadata.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, de::DeserializeOwned};

use crate::{
    PackError,
    distribution::{Temperature, TopP},
};

/// Upper limit of sizes. No vocabulary, layer or string of a SMILES model comes near it.
const MAX_SIZE: usize = 1 << 20;

/// Content of `generation_config.json`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct GenerationConfig {
    /// Divisor of the logits; greater than 0.
    pub temperature: f64,
    /// Cumulative probability for nucleus sampling, greater than 0 and at most 1.
    pub top_p: f64,
    /// Maximum tokens of a string, the first and the last special token included.
    pub max_length: usize,
    /// Set if tokens are never drawn after which the string could not become a molecule.
    #[serde(default = "yes")]
    pub constrained: bool,
}

/// Content of `config.json`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Config {
    model_type: String,
    pub(crate) vocab_size: usize,
    pub(crate) embedding_size: usize,
    pub(crate) hidden_size: usize,
    pub(crate) num_layers: usize,
    pub(crate) bos_token_id: u32,
    pub(crate) eos_token_id: u32,
    /// Padding token. Optional, since nothing is padded here.
    pub(crate) pad_token_id: Option<u32>,
}

/// Type of the network's recurrent layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell {
    Gru,
    Lstm,
}

impl Cell {
    /// Returns the cell of a `model_type`.
    pub(crate) fn of(model_type: &str) -> Option<Self> {
        match model_type {
            "smiles_gru" => Some(Self::Gru),
            "smiles_lstm" => Some(Self::Lstm),
            _ => None,
        }
    }

    /// Returns the number of gates; weights have `hidden` rows per gate.
    pub(crate) const fn gates(self) -> usize {
        match self {
            Self::Gru => 3,
            Self::Lstm => 4,
        }
    }
}

/// The fields of `metadata.json` that the sampler needs.
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

    /// Parses the content of `file`.
    pub(crate) fn read(json: &[u8], file: &Path) -> Result<Self, PackError> {
        let config: Self = parse(json, file)?;
        let check = ConfigReader(file);
        let known = Cell::of(&config.model_type).is_some();
        check.that("model_type", &config.model_type, known, "`smiles_gru` or `smiles_lstm`")?;
        for (field, size) in [
            ("vocab_size", config.vocab_size),
            ("embedding_size", config.embedding_size),
            ("hidden_size", config.hidden_size),
            ("num_layers", config.num_layers),
        ] {
            check.that(field, &size, (1..=MAX_SIZE).contains(&size), "1 to 2^20")?;
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

    /// Returns the type of the recurrent layers.
    pub(crate) fn cell(&self) -> Cell {
        Cell::of(&self.model_type).expect("config: the model type was checked when it was loaded")
    }
}

impl GenerationConfig {
    pub(crate) fn load(file: PathBuf) -> Result<Self, PackError> {
        Self::read(&bytes(&file)?, &file)
    }

    /// Parses the content of `file`.
    pub(crate) fn read(json: &[u8], file: &Path) -> Result<Self, PackError> {
        let config: Self = parse(json, file)?;
        let Self { temperature, top_p, max_length, constrained: _ } = config;
        let check = ConfigReader(file);
        check.that(
            "temperature",
            &temperature,
            Temperature::try_from(temperature).is_ok(),
            Temperature::RANGE,
        )?;
        check.that("top_p", &top_p, TopP::try_from(top_p).is_ok(), TopP::RANGE)?;
        check.that("max_length", &max_length, (3..=MAX_SIZE).contains(&max_length), "3 to 2^20")?;
        Ok(config)
    }
}

impl Metadata {
    pub(crate) fn load(file: PathBuf) -> Result<Self, PackError> {
        Self::read(&bytes(&file)?, &file)
    }

    /// Parses the content of `file`.
    pub(crate) fn read(json: &[u8], file: &Path) -> Result<Self, PackError> {
        let metadata: Self = parse(json, file)?;
        let check = ConfigReader(file);
        // The contract's pattern for ids, `^\w+$`.
        let is_id = !metadata.id.is_empty()
            && metadata.id.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        check.that("id", &metadata.id, is_id, "letters, digits and underscores")?;
        let cost = metadata.relative_cost;
        check.that("relative_cost", &cost, cost.is_finite() && cost > 0.0, "over 0")?;
        Ok(metadata)
    }
}

/// Checks of the values in one file.
struct ConfigReader<'a>(&'a Path);

impl ConfigReader<'_> {
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
