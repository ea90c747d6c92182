//! Training a model further, on somebody's own molecules: transfer learning of GRU language models.
//!
//! The backward pass is written out (`training/gru.rs`), because candle's automatic one keeps a tensor for each of some
//! ten operations of every one of some fifty steps, and is several times slower than PyTorch; matrix products are
//! candle's. Adam (Kingma and Ba, ICLR 2015), gradients cut to a norm of 1. The loss is divided by a constant, so that
//! tokens weigh alike whatever batch they are in.

mod batch;
mod gru;
mod parameters;

use rand::{SeedableRng, seq::SliceRandom};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::{ModelPack, config::Cell};
use batch::Batch;
pub use parameters::NamedTensor;
use parameters::Parameters;

/// How to train.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainingSettings {
    /// Molecules of a step.
    pub batch_size: usize,
    /// Of Adam, reached after 20 steps.
    pub learning_rate: f32,
    /// Of the order of the molecules.
    pub seed: u64,
}

/// Why a model cannot be trained.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "fields named in the variant's doc")]
#[non_exhaustive]
pub enum TrainingError {
    /// The network has no GRU layers.
    #[error("only models of GRU layers can be trained, and `{id}` has LSTM layers")]
    Architecture { id: String },
    /// The saved state is that of another network.
    #[error("the saved state does not fit the model: {reason}")]
    State { reason: String },
    /// The loss was no number any more.
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

/// Steps until the learning rate is reached.
const WARM_UP: u64 = 20;
/// Batches that are cut from molecules sorted by length together.
const POOL: usize = 64;

impl Trainer {
    /// Begins with the weights of `pack`.
    ///
    /// # Errors
    /// Fails for models of other layers than GRU's.
    pub fn new(pack: &ModelPack, settings: TrainingSettings) -> Result<Self, TrainingError> {
        if pack.config.cell() != Cell::Gru {
            return Err(TrainingError::Architecture { id: pack.id.clone() });
        }
        let rng = Xoshiro256PlusPlus::seed_from_u64(settings.seed);
        Ok(Self { parameters: Parameters::of(pack)?, settings, rng, steps: 0 })
    }

    /// The mean negative log-likelihood of molecules, in nats a molecule.
    ///
    /// A molecule is what [`ModelPack::spell`] gives.
    ///
    /// # Errors
    /// Fails when a matrix product does.
    pub fn loss(&self, molecules: &[Vec<u32>]) -> Result<f64, TrainingError> {
        let mut order: Vec<usize> = (0..molecules.len()).collect();
        order.sort_by_key(|n| molecules[*n].len());
        let mut sum = 0.0;
        for rows in order.chunks(self.settings.batch_size.max(1)) {
            sum += gru::loss(&self.parameters, &Batch::of(molecules, rows))?;
        }
        Ok(sum / molecules.len().max(1) as f64)
    }

    /// Trains on every molecule once, in a new order, and gives their mean loss on the way, in nats a molecule.
    ///
    /// `go_on` is told after each step how many molecules it took, and ends the epoch by saying no.
    ///
    /// # Errors
    /// Fails when the loss is no number any more, or a matrix product fails.
    pub fn epoch(
        &mut self,
        molecules: &[Vec<u32>],
        mut go_on: impl FnMut(usize) -> bool,
    ) -> Result<f64, TrainingError> {
        let tokens: usize = molecules.iter().map(|molecule| molecule.len() - 1).sum();
        let tokens_per_molecule = tokens as f32 / molecules.len().max(1) as f32;
        let (mut sum, mut seen) = (0.0, 0);
        for rows in self.batches(molecules) {
            let batch = Batch::of(molecules, &rows);
            let weight = 1.0 / (rows.len() as f32 * tokens_per_molecule);
            let (loss, gradients) = gru::gradients(&self.parameters, &batch, weight)?;
            if !loss.is_finite() {
                return Err(TrainingError::Diverged);
            }
            self.steps += 1;
            let warm = (self.steps as f32 / WARM_UP as f32).min(1.0);
            self.parameters.update(gradients, self.settings.learning_rate * warm, self.steps);
            sum += loss;
            seen += rows.len();
            if !go_on(rows.len()) {
                break;
            }
        }
        Ok(sum / seen.max(1) as f64)
    }

    /// Multiplies the learning rate.
    pub fn slow_down(&mut self, factor: f32) {
        self.settings.learning_rate *= factor;
    }

    /// The weights, by PyTorch's names.
    #[must_use]
    pub fn weights(&self) -> Vec<NamedTensor<'_>> {
        self.parameters.weights()
    }

    /// Everything that a training goes on from: weights, moments, steps.
    #[must_use]
    pub fn state(&self) -> (u64, Vec<NamedTensor<'_>>) {
        (self.steps, self.parameters.state())
    }

    /// Goes on from a [state](Self::state): `numbers` gives each tensor by its name.
    ///
    /// # Errors
    /// Fails when a tensor is missing or of another size; then the trainer is of no further use.
    pub fn restore(
        &mut self,
        steps: u64,
        numbers: impl Fn(&str) -> Option<Vec<f32>>,
    ) -> Result<(), TrainingError> {
        self.steps = steps;
        // Another order than that of the epochs before.
        self.rng = Xoshiro256PlusPlus::seed_from_u64(self.settings.seed ^ steps);
        self.parameters.restore(numbers).map_err(|reason| TrainingError::State { reason })
    }

    /// Rows of `molecules`, alike in length within a batch, in random order.
    fn batches(&mut self, molecules: &[Vec<u32>]) -> Vec<Vec<usize>> {
        let mut order: Vec<usize> = (0..molecules.len()).collect();
        order.shuffle(&mut self.rng);
        let size = self.settings.batch_size.max(1);
        for pool in order.chunks_mut(size * POOL) {
            pool.sort_by_key(|n| molecules[*n].len());
        }
        let mut batches: Vec<Vec<usize>> = order.chunks(size).map(<[usize]>::to_vec).collect();
        batches.shuffle(&mut self.rng);
        batches
    }
}
