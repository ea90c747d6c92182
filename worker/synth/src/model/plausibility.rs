//! The plausibility model: the probability that a reaction mixture gives a particular product.
//!
//! The decision that matters: a step is not rated by itself alone but beside its rivals, everything that the library
//! makes of the same mixture, sites included. A small network reads the change (`chem::Change`) and gives each change
//! a score, its log-odds against no reaction. A step's plausibility is calibrated on its score and on its lead over
//! its rivals. The score alone costs some microseconds, the rivals a millisecond: a search uses the score alone,
//! validation uses both.
//!
//! The network is an embedding bag and one hidden layer (`reference.rs` implements it in candle). Features and
//! weights come from `worker/training/train_plausibility.py`. Rivals as negatives: Coley et al., ACS Cent. Sci. 2017,
//! 3, 434.

pub mod reference;

use std::path::Path;

use chem::{Change, Molecule, OutcomeIndex, Precursor, ReactionMixture, Template};
use pulp::{Arch, Simd, WithSimd};

use crate::model::dense::Dense;
use crate::model::error::ModelError;
use crate::model::tensors::Weights;

/// Number of rows of the embedding: the upper half of a feature is its row.
const BUCKETS: usize = 1 << 16;
/// Maximum number of rivals, those of common templates first.
const MAX_RIVALS: usize = 64;
/// Byte that represents zero in the embedding.
const ZERO: u8 = 128;

/// The plausibility model of a retro model.
pub struct PlausibilityModel {
    network: PlausibilityNetwork,
    index: OutcomeIndex,
}

/// The network and the calibration of its scores.
pub struct PlausibilityNetwork {
    width: usize,
    /// `[65536, width]`, bytes that share a scale with their row.
    embedding: Vec<u8>,
    scale: Vec<f32>,
    bias: Vec<f32>,
    hidden: Dense,
    hidden_bias: Vec<f32>,
    score: Vec<f32>,
    score_bias: f32,
    /// Calibration without rivals: slope of the score, and offset.
    alone: [f32; 2],
    /// Calibration among rivals: slopes of the score and of its lead, and offset.
    among: [f32; 3],
}

/// Returns the reaction mixture of a step and its change; `precursors` map each of their atoms to a product atom.
/// `None` if the mixture cannot be determined.
pub fn change(product: &Molecule, precursors: &[Precursor]) -> Option<(ReactionMixture, Change)> {
    let molecules: Vec<Molecule> = precursors.iter().map(|precursor| precursor.molecule.clone()).collect();
    let mixture = ReactionMixture::new(&molecules)?;
    let mut sources = vec![None; product.atoms()];
    let images = precursors.iter().flat_map(|precursor| precursor.sources.iter());
    for (atom, image) in (0_u32..).zip(images) {
        if let Some(source) = image.and_then(|image| sources.get_mut(image as usize)) {
            *source = Some(atom);
        }
    }
    let change = mixture.change(product, &sources)?;
    Some((mixture, change))
}

impl PlausibilityModel {
    /// Loads the network, and prepares the templates, each with its row, for forward runs.
    pub fn load<'a>(
        path: &Path,
        templates: impl IntoIterator<Item = (u32, &'a Template)>,
    ) -> Result<Self, ModelError> {
        Ok(Self { network: PlausibilityNetwork::load(path)?, index: OutcomeIndex::new(templates) })
    }

    /// Returns the probability that the mixture gives this product, by the change and its environment.
    pub fn alone(&self, change: &Change) -> f32 {
        self.network.alone(self.network.score(&change.features))
    }

    /// Returns the same probability among everything else that the templates make of the mixture; never more than
    /// [`Self::alone`].
    pub fn among_rivals<'a>(
        &self,
        mixture: &ReactionMixture,
        change: &Change,
        template: impl Fn(u32) -> Option<&'a Template>,
    ) -> f32 {
        let score = self.network.score(&change.features);
        let rivals = self.index.outcomes(mixture, template, MAX_RIVALS);
        let others = rivals.iter().filter(|(_, rival)| rival.product_hash != change.product_hash);
        let others: f32 = others.map(|(_, rival)| self.network.score(&rival.features).exp()).sum();
        self.network.among(score, score - others.ln_1p()).min(self.network.alone(score))
    }

    /// Returns the templates that make something of the mixture, one for each product, common ones first.
    pub fn templates_for<'a>(
        &self,
        mixture: &ReactionMixture,
        template: impl Fn(u32) -> Option<&'a Template>,
    ) -> Vec<u32> {
        self.index.outcomes(mixture, template, MAX_RIVALS).into_iter().map(|(row, _)| row).collect()
    }
}

impl PlausibilityNetwork {
    /// Loads `embedding.weight` u8 `[65536, W]` (its zero is 128) and `embedding.scale` `[65536]`, `bias` `[W]`,
    /// `hidden.weight` `[H, W]`, `hidden.bias` `[H]`, `score.weight` `[1, H]`, `score.bias` `[1]`, `alone` `[2]` and
    /// `among` `[3]`.
    pub fn load(path: &Path) -> Result<Self, ModelError> {
        let file = Weights::read(path)?;
        let length = |name: &'static str| match file.shape(name)?.as_deref() {
            Some(&[length]) if length > 0 => Ok(length),
            _ => Err(file.fault(name, "is missing or no list".to_owned())),
        };
        let (width, hidden) = (length("bias")?, length("hidden.bias")?);
        let alone = file.floats("alone", &[2])?;
        let among = file.floats("among", &[3])?;
        Ok(Self {
            width,
            embedding: file.bytes("embedding.weight", &[BUCKETS, width])?.to_vec(),
            scale: file.floats("embedding.scale", &[BUCKETS])?,
            bias: file.floats("bias", &[width])?,
            hidden: Dense::load(&file, "hidden.weight", width, hidden)?,
            hidden_bias: file.floats("hidden.bias", &[hidden])?,
            score: file.floats("score.weight", &[1, hidden])?,
            score_bias: file.floats("score.bias", &[1])?[0],
            alone: [alone[0], alone[1]],
            among: [among[0], among[1], among[2]],
        })
    }

    /// Computes the uncalibrated log-odds of a change against no reaction, in about a microsecond.
    pub fn score(&self, features: &[u32]) -> f32 {
        let mut sums = self.bias.clone();
        Arch::new().dispatch(Bag { network: self, features, sums: &mut sums });
        sums.iter_mut().for_each(|sum| *sum = sum.max(0.0));
        let mut hidden = self.hidden_bias.clone();
        self.hidden.add_to(&sums, &mut hidden);
        let score: f32 = hidden.iter().zip(&self.score).map(|(sum, weight)| weight * sum.max(0.0)).sum();
        self.score_bias + score
    }

    fn alone(&self, score: f32) -> f32 {
        sigmoid(self.alone[0] * score + self.alone[1])
    }

    fn among(&self, score: f32, lead: f32) -> f32 {
        sigmoid(self.among[0] * score + self.among[1] * lead + self.among[2])
    }
}

/// Sum of the features' embeddings, compiled for the instruction sets that `pulp` finds at run time.
struct Bag<'a> {
    network: &'a PlausibilityNetwork,
    features: &'a [u32],
    sums: &'a mut [f32],
}

impl WithSimd for Bag<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) {
        let PlausibilityNetwork { width, embedding, scale, .. } = self.network;
        // Loops, because closures would not be compiled for the instruction set.
        for feature in self.features {
            let row = (feature >> 16) as usize;
            let scale = scale[row];
            let weights = &embedding[row * width..][..*width];
            for (sum, &weight) in self.sums.iter_mut().zip(weights) {
                *sum += scale * f32::from(i16::from(weight) - i16::from(ZERO));
            }
        }
    }
}

fn sigmoid(value: f32) -> f32 {
    1.0 / (1.0 + (-value).exp())
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::path::PathBuf;

    use candle_core::{DType, Device, Tensor};

    use super::*;
    use crate::model::RetroModel;
    use crate::model::plausibility::reference::ReferencePlausibilityModel;

    fn pack() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/uspto_retro")
    }

    /// Changes that the shipped templates make to the reaction mixtures of the first steps of a table.
    fn changes(model: &RetroModel, plausibility_model: &PlausibilityModel) -> Vec<Change> {
        let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("../reactivity/tests/data/right_steps.tsv");
        let text = std::fs::read_to_string(table).unwrap();
        let flasks = text.lines().skip(1).step_by(30).filter_map(|line| {
            let precursors = line.split('\t').nth(1)?.split_once(">>")?.0;
            let molecules: Vec<Molecule> = precursors.split('.').map(|one| one.parse().unwrap()).collect();
            ReactionMixture::new(&molecules)
        });
        flasks
            .flat_map(|mixture| {
                plausibility_model.index.outcomes(&mixture, |row| model.template(row), MAX_RIVALS)
            })
            .map(|(_, change)| change)
            .collect()
    }

    #[test]
    fn the_fast_network_gives_what_the_reference_gives() {
        let model = RetroModel::load(&pack()).unwrap();
        let plausibility_model = model.plausibility_model().unwrap();
        let reference =
            ReferencePlausibilityModel::load(&pack().join("plausibility.safetensors"), &Device::Cpu).unwrap();
        let changes = changes(&model, plausibility_model);
        assert!(changes.len() > 300, "{} changes", changes.len());

        let features: Vec<&[u32]> = changes.iter().map(|change| &*change.features).collect();
        let expected = reference.scores(&features).unwrap();

        for (features, expected) in features.into_iter().zip(expected) {
            let score = plausibility_model.network.score(features);
            assert!((score - expected).abs() < 1e-3, "{score}, not {expected}");
        }
    }

    #[test]
    fn weights_that_do_not_fit_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plausibility.safetensors");
        let zeros = |shape: &[usize], dtype| Tensor::zeros(shape, dtype, &Device::Cpu).unwrap();
        let shapes: [(&str, &[usize]); 9] = [
            ("embedding.scale", &[BUCKETS]),
            ("embedding.weight", &[BUCKETS, 2]),
            ("bias", &[2]),
            ("hidden.weight", &[3, 2]),
            ("hidden.bias", &[3]),
            ("score.weight", &[1, 4]),
            ("score.bias", &[1]),
            ("alone", &[2]),
            ("among", &[3]),
        ];
        let mut tensors: HashMap<String, Tensor> = shapes
            .map(|(name, shape)| {
                let dtype = if name == "embedding.weight" { DType::U8 } else { DType::F32 };
                (name.to_owned(), zeros(shape, dtype))
            })
            .into();
        let fault = |tensors: &HashMap<String, Tensor>| {
            candle_core::safetensors::save(tensors, &path).unwrap();
            PlausibilityNetwork::load(&path).err().unwrap().to_string()
        };

        let misshapen = fault(&tensors);
        tensors.remove("hidden.bias");
        let missing = fault(&tensors);

        assert!(misshapen.contains("score.weight") && misshapen.contains("[1, 4]"), "{misshapen}");
        assert!(missing.contains("hidden.bias"), "{missing}");
    }
}
