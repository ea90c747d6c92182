//! Further training of a model on the user's own molecules: transfer learning of GRU language models.
//!
//! The backward pass is written out (`training/gru.rs`). candle's automatic one keeps a tensor for each of about ten
//! operations of each of about fifty steps and is several times slower than PyTorch. Matrix products are candle's.
//! Adam (Kingma and Ba, ICLR 2015), gradients clipped to a norm of 1. The loss is divided by a constant, so that
//! tokens have equal weight whatever batch they are in.

mod batch;
mod gru;
mod parameters;

use rand::{SeedableRng, seq::SliceRandom};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{ModelPack, config::Cell};
use batch::TrainingBatch;
pub use parameters::NamedTensor;
use parameters::Parameters;

/// Settings of a training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainingSettings {
    /// Molecules per step.
    pub batch_size: usize,
    /// Learning rate of Adam, reached after 20 steps.
    pub learning_rate: f32,
    /// Seed of the order of the molecules.
    pub seed: u64,
}

/// Reason why training failed.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "fields named in the variant's doc")]
#[non_exhaustive]
pub enum TrainingError {
    /// The network has no GRU layers.
    #[error("only models of GRU layers can be trained, and `{id}` has LSTM layers")]
    Architecture { id: String },
    /// The saved state belongs to another network.
    #[error("the saved state does not fit the model: {reason}")]
    State { reason: String },
    /// The loss was not a finite number.
    #[error("the training diverged: try a lower learning rate")]
    Diverged,
    /// A matrix product failed.
    #[error("the network failed: {0}")]
    Network(#[from] candle_core::Error),
}

/// A model in training.
#[derive(Debug)]
pub struct Trainer {
    parameters: Parameters,
    settings: TrainingSettings,
    rng: Xoshiro256PlusPlus,
    steps: u64,
}

/// Steps of warm-up until the learning rate is reached.
const WARM_UP_STEPS: u64 = 20;
/// Number of batches that are cut together from molecules sorted by length.
const BATCHES_PER_SORT: usize = 64;

impl Trainer {
    /// Starts from the weights of `pack`.
    ///
    /// # Errors
    /// Fails if the model's layers are not GRU layers.
    pub fn new(pack: &ModelPack, settings: TrainingSettings) -> Result<Self, TrainingError> {
        if pack.config.cell() != Cell::Gru {
            return Err(TrainingError::Architecture { id: pack.id.clone() });
        }
        let rng = Xoshiro256PlusPlus::seed_from_u64(settings.seed);
        Ok(Self { parameters: Parameters::of(pack)?, settings, rng, steps: 0 })
    }

    /// Returns the mean negative log-likelihood of molecules, in nats per molecule.
    ///
    /// Molecules are encoded as by [`ModelPack::encode`].
    ///
    /// # Errors
    /// Fails if a matrix product does.
    pub fn loss(&self, molecules: &[Vec<u32>]) -> Result<f64, TrainingError> {
        let mut order: Vec<usize> = (0..molecules.len()).collect();
        order.sort_by_key(|n| molecules[*n].len());
        let mut sum = 0.0;
        for rows in order.chunks(self.settings.batch_size.max(1)) {
            sum += gru::loss(&self.parameters, &TrainingBatch::of(molecules, rows))?;
        }
        Ok(sum / molecules.len().max(1) as f64)
    }

    /// Trains on every molecule once, in a new order. Returns their mean loss on the way, in nats per molecule.
    ///
    /// `resume` is called after each step with the number of molecules used, and ends the epoch by returning false.
    ///
    /// # Errors
    /// Fails if the loss is not a finite number, or if a matrix product fails.
    pub fn epoch(
        &mut self,
        molecules: &[Vec<u32>],
        mut resume: impl FnMut(usize) -> bool,
    ) -> Result<f64, TrainingError> {
        let tokens: usize = molecules.iter().map(|molecule| molecule.len() - 1).sum();
        let tokens_per_molecule = tokens as f32 / molecules.len().max(1) as f32;
        let (mut sum, mut seen) = (0.0, 0);
        for rows in self.batches(molecules) {
            let batch = TrainingBatch::of(molecules, &rows);
            let weight = 1.0 / (rows.len() as f32 * tokens_per_molecule);
            let (loss, gradients) = gru::gradients(&self.parameters, &batch, weight)?;
            if !loss.is_finite() {
                return Err(TrainingError::Diverged);
            }
            self.steps += 1;
            let warm = (self.steps as f32 / WARM_UP_STEPS as f32).min(1.0);
            self.parameters.update(gradients, self.settings.learning_rate * warm, self.steps);
            sum += loss;
            seen += rows.len();
            if !resume(rows.len()) {
                break;
            }
        }
        Ok(sum / seen.max(1) as f64)
    }

    /// Multiplies the learning rate.
    pub fn scale_learning_rate(&mut self, factor: f32) {
        self.settings.learning_rate *= factor;
    }

    /// Returns the weights, by PyTorch's names.
    #[must_use]
    pub fn weights(&self) -> Vec<NamedTensor<'_>> {
        self.parameters.weights()
    }

    /// Returns everything needed to resume a training: steps, weights, moments.
    #[must_use]
    pub fn state(&self) -> (u64, Vec<NamedTensor<'_>>) {
        (self.steps, self.parameters.state())
    }

    /// Resumes from a [state](Self::state); `numbers` returns each tensor by its name.
    ///
    /// # Errors
    /// Fails if a tensor is missing or has another size. The trainer must not be used afterwards.
    pub fn restore(
        &mut self,
        steps: u64,
        numbers: impl Fn(&str) -> Option<Vec<f32>>,
    ) -> Result<(), TrainingError> {
        self.steps = steps;
        // Gives an order that differs from those of the epochs before.
        self.rng = Xoshiro256PlusPlus::seed_from_u64(self.settings.seed ^ steps);
        self.parameters.restore(numbers).map_err(|reason| TrainingError::State { reason })
    }

    /// Splits the rows of `molecules` into batches of similar length, in random order.
    fn batches(&mut self, molecules: &[Vec<u32>]) -> Vec<Vec<usize>> {
        let mut order: Vec<usize> = (0..molecules.len()).collect();
        order.shuffle(&mut self.rng);
        let size = self.settings.batch_size.max(1);
        for pool in order.chunks_mut(size * BATCHES_PER_SORT) {
            pool.sort_by_key(|n| molecules[*n].len());
        }
        let mut batches: Vec<Vec<usize>> = order.chunks(size).map(<[usize]>::to_vec).collect();
        batches.shuffle(&mut self.rng);
        batches
    }
}
