//! Saved state from which a killed training continues.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use generator::Trainer;
use safetensors::SafeTensors;

use super::stored_tensor;
use crate::{
    error::ModelToolError,
    read,
    weights::{self, Tensor},
};

/// A stored tensor with its name.
pub type StoredTensor = Tensor;

/// Progress of a training.
#[derive(Debug)]
pub struct Checkpoint {
    key: String,
    /// Number of completed epochs.
    pub epochs: u32,
    /// Epochs since the best one.
    pub epochs_without_improvement: u32,
    /// Number of the best epoch, from 1; 0 before there is one.
    pub best_epoch: u32,
    /// Loss on the held-out molecules before the first epoch.
    pub first_loss: f64,
    /// Lowest loss since then.
    pub best_loss: f64,
    /// Weights with the lowest loss.
    pub best: Vec<StoredTensor>,
}

/// Prefix of the names of the best weights.
const BEST_PREFIX: &str = "best.";

impl Checkpoint {
    /// Creates the state before the first epoch.
    pub fn first(key: String, loss: f64, trainer: &Trainer) -> Self {
        let best = trainer.weights().iter().map(stored_tensor).collect();
        Self {
            key,
            epochs: 0,
            epochs_without_improvement: 0,
            best_epoch: 0,
            first_loss: loss,
            best_loss: loss,
            best,
        }
    }

    /// Records the end of an epoch; returns true if it is the best so far.
    pub fn note(&mut self, loss: f64, trainer: &Trainer) -> bool {
        self.epochs += 1;
        let is_best = loss < self.best_loss;
        if is_best {
            (self.best_loss, self.best_epoch, self.epochs_without_improvement) = (loss, self.epochs, 0);
            self.best = trainer.weights().iter().map(stored_tensor).collect();
        } else {
            self.epochs_without_improvement += 1;
        }
        is_best
    }

    /// Writes the whole state atomically.
    pub fn save(&self, folder: &Path, trainer: &Trainer) -> Result<(), ModelToolError> {
        let doing = || format!("writing a checkpoint to {}", folder.display());
        let (steps, state) = trainer.state();
        let mut tensors: Vec<Tensor> = state.iter().map(stored_tensor).collect();
        let best =
            self.best.iter().map(|it| Tensor { name: format!("{BEST_PREFIX}{}", it.name), ..it.clone() });
        tensors.extend(best);
        let numbers = [
            ("epochs", self.epochs.to_string()),
            ("barren", self.epochs_without_improvement.to_string()),
            ("best_epoch", self.best_epoch.to_string()),
            ("first_loss", self.first_loss.to_string()),
            ("best_loss", self.best_loss.to_string()),
            ("steps", steps.to_string()),
        ];
        let mut notes = vec![("key", self.key.as_str())];
        notes.extend(numbers.iter().map(|(name, number)| (*name, number.as_str())));
        fs::create_dir_all(folder).with_context(doing)?;
        let part = folder.join("part");
        fs::write(&part, weights::file(&tensors, &notes)?).with_context(doing)?;
        fs::rename(&part, place(folder)).with_context(doing)?;
        Ok(())
    }

    /// Reads the state that an earlier run of the same training left; `None` if there is none.
    pub fn load(folder: &Path, key: &str, trainer: &mut Trainer) -> Result<Option<Self>, ModelToolError> {
        let Ok(bytes) = read::bytes(&place(folder), read::MAX_WEIGHTS_BYTES) else { return Ok(None) };
        let Some(notes) = notes(&bytes).filter(|notes| notes.get("key").is_some_and(|found| found == key))
        else {
            return Ok(None);
        };
        let Ok(tensors) = SafeTensors::deserialize(&bytes) else { return Ok(None) };
        let number =
            |name: &str| notes.get(name).and_then(|text| text.parse::<u32>().ok()).unwrap_or_default();
        let loss = |name: &str| notes.get(name).and_then(|text| text.parse().ok()).unwrap_or(f64::INFINITY);
        let steps = notes.get("steps").and_then(|text| text.parse().ok()).unwrap_or_default();
        trainer.restore(steps, |name| numbers(&tensors, name)).map_err(anyhow::Error::from)?;
        let weights = trainer.weights();
        let best = weights.iter().map(|it| {
            let numbers = numbers(&tensors, &format!("{BEST_PREFIX}{}", it.name))?;
            Some(StoredTensor { numbers, ..stored_tensor(it) })
        });
        let Some(best) = best.collect::<Option<Vec<StoredTensor>>>() else { return Ok(None) };
        Ok(Some(Self {
            key: key.to_owned(),
            epochs: number("epochs"),
            epochs_without_improvement: number("barren"),
            best_epoch: number("best_epoch"),
            first_loss: loss("first_loss"),
            best_loss: loss("best_loss"),
            best,
        }))
    }
}

/// Deletes a checkpoint.
pub fn clear(folder: &Path) {
    // Remains only take disk space; the error is ignored.
    let _ = fs::remove_dir_all(folder);
}

fn place(folder: &Path) -> PathBuf {
    folder.join("checkpoint.safetensors")
}

fn notes(bytes: &[u8]) -> Option<HashMap<String, String>> {
    let (_, header) = SafeTensors::read_metadata(bytes).ok()?;
    header.metadata().clone()
}

fn numbers(tensors: &SafeTensors<'_>, name: &str) -> Option<Vec<f32>> {
    let data = tensors.tensor(name).ok()?.data().as_chunks::<4>().0;
    Some(data.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}
