//! Training data of a model: the lines of a file that it can write.

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
    path::Path,
};

use anyhow::{Context as _, anyhow};
use chem::{Limits, Molecule};
use generator::ModelPack;
use rayon::prelude::*;
use sha2::{Digest as _, Sha256};

use crate::{error::ModelToolError, molecules};

/// Minimum number of molecules; the effect of fewer could not be measured.
const MIN_MOLECULES: usize = 20;
/// Maximum number of held-out molecules.
const MAX_HELD_OUT: usize = 5_000;

/// Molecules as a model's tokens.
#[derive(Debug)]
pub struct TrainingData {
    /// Training molecules.
    pub sequences: Vec<Vec<u32>>,
    /// Held-out molecules.
    pub held_out: Vec<Vec<u32>>,
    /// Canonical SMILES of the training molecules.
    pub smiles: Vec<String>,
    /// Rejected lines with their line numbers.
    pub faults: Vec<(usize, LineError)>,
}

/// A line's canonical SMILES and tokens.
type ParsedLine = Result<(String, Vec<u32>), LineError>;

/// Reason why a line is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineError {
    /// The line is no molecule.
    Broken(String),
    /// The molecule has several components.
    Components,
    /// The model has no tokens for the molecule.
    Spelling(String),
    /// The molecule is longer than the strings that the model writes.
    TooLong,
    /// An earlier line has the same molecule.
    Repeated,
}

impl fmt::Display for LineError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(reason) => write!(formatter, "no molecule: {reason}"),
            Self::Components => formatter.write_str("several components"),
            Self::Spelling(smiles) => write!(formatter, "the model has no tokens to write {smiles}"),
            Self::TooLong => formatter.write_str("longer than the model writes"),
            Self::Repeated => formatter.write_str("a molecule of an earlier line"),
        }
    }
}

impl LineError {
    const fn kind(&self) -> &'static str {
        match self {
            Self::Broken(_) => "no molecule",
            Self::Components => "several components",
            Self::Spelling(_) => "no tokens for it",
            Self::TooLong => "too long",
            Self::Repeated => "repeated",
        }
    }
}

impl TrainingData {
    /// Reads a file for a model, and holds out the share `held_out` of its molecules.
    ///
    /// The held-out selection depends on the molecules alone, not on their order or the run.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or has too few molecules that the model can write.
    pub fn read(file: &Path, pack: &ModelPack, held_out: f64) -> Result<Self, ModelToolError> {
        let lines = molecules::lines(file)?;
        let read: Vec<(usize, ParsedLine)> =
            lines.par_iter().map(|(number, text)| (*number, encode_line(text, pack))).collect();
        let (mut known, mut found, mut faults) = (HashSet::new(), Vec::new(), Vec::new());
        for (number, lesson) in read {
            match lesson {
                Ok((smiles, tokens)) if known.insert(smiles.clone()) => found.push((smiles, tokens)),
                Ok(_) => faults.push((number, LineError::Repeated)),
                Err(fault) => faults.push((number, fault)),
            }
        }
        let mut training_data =
            Self { sequences: Vec::new(), held_out: Vec::new(), smiles: Vec::new(), faults };
        if found.len() < MIN_MOLECULES {
            return Err(anyhow!(
                "{}: {} molecules that {} can write, of at least {MIN_MOLECULES}; left out: {}",
                file.display(),
                found.len(),
                pack.id,
                training_data.summary()
            )
            .into());
        }
        let count = ((found.len() as f64 * held_out).ceil() as usize).clamp(1, MAX_HELD_OUT);
        found.sort_by_cached_key(|(smiles, _)| Sha256::digest(smiles.as_bytes()));
        for (n, (smiles, tokens)) in found.into_iter().enumerate() {
            if n < count {
                training_data.held_out.push(tokens);
            } else {
                training_data.sequences.push(tokens);
                training_data.smiles.push(smiles);
            }
        }
        Ok(training_data)
    }

    /// Summarises how many lines were rejected for each reason.
    pub fn summary(&self) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, fault) in &self.faults {
            *counts.entry(fault.kind()).or_default() += 1;
        }
        if counts.is_empty() {
            return "none".to_owned();
        }
        counts.iter().map(|(kind, count)| format!("{kind}: {count}")).collect::<Vec<_>>().join(", ")
    }

    /// Returns a key of the molecules and the initial weights. A checkpoint with another key is not resumed.
    pub(super) fn key(&self, from: &Path) -> Result<String, ModelToolError> {
        let weights = from.join("model.safetensors");
        let mut hash = Sha256::new();
        hash.update(std::fs::read(&weights).with_context(|| format!("reading {}", weights.display()))?);
        for tokens in self.sequences.iter().chain(&self.held_out) {
            for token in tokens {
                hash.update(token.to_le_bytes());
            }
        }
        Ok(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// Converts a line to canonical SMILES and the model's tokens.
fn encode_line(text: &str, pack: &ModelPack) -> ParsedLine {
    let molecule =
        Molecule::parse(text, Limits::TARGET).map_err(|fault| LineError::Broken(fault.to_string()))?;
    let smiles = molecule.canonical_smiles();
    if smiles.contains('.') {
        return Err(LineError::Components);
    }
    let Some(tokens) = pack.encode(&smiles) else { return Err(LineError::Spelling(smiles)) };
    if tokens.len() > pack.generation.max_length {
        return Err(LineError::TooLong);
    }
    Ok((smiles, tokens))
}
