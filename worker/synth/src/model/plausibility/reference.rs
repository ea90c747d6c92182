//! The plausibility network in candle's operations, on a CPU or a GPU: the reference that the fast implementation is
//! tested against.

use std::path::Path;

use candle_core::{DType, Device, Error, Result, Tensor};
use candle_nn::{Embedding, Linear, Module, VarBuilder, linear};

/// Rows of the embedding. The upper half of a feature is its row.
const BUCKETS: usize = 1 << 16;
/// Byte value of the embedding that stands for zero.
const ZERO: f64 = 128.0;

/// Scores changes by the weights of `plausibility.safetensors`.
#[derive(Debug)]
pub struct ReferencePlausibilityModel {
    embedding: Embedding,
    bias: Tensor,
    hidden: Linear,
    score: Linear,
    device: Device,
}

impl ReferencePlausibilityModel {
    /// Loads the weights of a file onto a device.
    ///
    /// # Errors
    /// Fails when the file cannot be read or its tensors do not fit together.
    pub fn load(path: &Path, device: &Device) -> Result<Self> {
        let bytes = std::fs::read(path).map_err(Error::from)?;
        let weights = VarBuilder::from_buffered_safetensors(bytes, DType::F32, device)?;
        let width = weights.get_unchecked("bias")?.dim(0)?;
        let hidden = weights.pp("hidden").get_unchecked("bias")?.dim(0)?;
        let embedding = weights.pp("embedding");
        let scale = embedding.get(BUCKETS, "scale")?.reshape((BUCKETS, 1))?;
        let table = (embedding.get((BUCKETS, width), "weight")? - ZERO)?.broadcast_mul(&scale)?;
        Ok(Self {
            embedding: Embedding::new(table, width),
            bias: weights.get(width, "bias")?,
            hidden: linear(width, hidden, weights.pp("hidden"))?,
            score: linear(hidden, 1, weights.pp("score"))?,
            device: device.clone(),
        })
    }

    /// Returns the scores `[changes]` of changes, each given by its features.
    ///
    /// # Errors
    /// Fails when the device runs out of memory.
    pub fn scores(&self, changes: &[&[u32]]) -> Result<Vec<f32>> {
        let rows: Vec<u32> =
            changes.iter().flat_map(|features| features.iter().map(|one| one >> 16)).collect();
        let of: Vec<u32> = (0_u32..)
            .zip(changes)
            .flat_map(|(change, features)| std::iter::repeat_n(change, features.len()))
            .collect();
        let count = rows.len();
        let looked_up = self.embedding.forward(&Tensor::from_vec(rows, count, &self.device)?)?;
        let bags = self.bias.broadcast_as((changes.len(), self.bias.dim(0)?))?.contiguous()?;
        let bags = bags.index_add(&Tensor::from_vec(of, count, &self.device)?, &looked_up, 0)?;
        let hidden = self.hidden.forward(&bags.relu()?)?.relu()?;
        self.score.forward(&hidden)?.squeeze(1)?.to_vec1()
    }
}
