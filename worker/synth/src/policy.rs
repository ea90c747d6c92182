//! The template-relevance network: which templates are likely to make a molecule.
//!
//! `x -> layer1 -> ELU -> layer2 -> softmax` (Segler and Waller, 2017, as AiZynthFinder ships it), where `x` is
//! the Morgan fingerprint. A fingerprint sets some 50 of its 2,048 bits, so the first layer is a sum of that
//! many rows; the second is one pass over its weights, bound by memory bandwidth, so a few molecules are asked
//! about in one pass for little more than the price of one.

use std::path::Path;

use candle_core::safetensors::BufferedSafetensors;
use candle_core::{DType, Device};
use chem::Fingerprint;
use pulp::{Arch, Simd, WithSimd};

use crate::error::ModelError;

/// Bits of the fingerprint.
const INPUTS: usize = 2048;
/// How many fingerprints share a pass over the weights.
pub const TOGETHER: usize = 4;
/// Partial sums of a dot product, so that the compiler can use vector registers.
const LANES: usize = 32;

/// The network's weights, in f32.
#[derive(Debug)]
pub struct Policy {
    hidden: usize,
    /// `[2048, hidden]`: the file's first layer, transposed.
    layer1: Vec<f32>,
    bias1: Vec<f32>,
    /// `[templates, hidden]`.
    layer2: Vec<f32>,
    bias2: Vec<f32>,
}

/// A template and the probability that the network gives it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// Row of the template.
    pub template: u32,
    /// Between 0 and 1; all templates' sum to 1.
    pub probability: f32,
}

impl Policy {
    /// Reads `policy.safetensors` for `templates` templates.
    pub fn load(path: &Path, templates: usize) -> Result<Self, ModelError> {
        let bytes =
            std::fs::read(path).map_err(|source| ModelError::Unreadable { path: path.to_owned(), source })?;
        let file = BufferedSafetensors::new(bytes)
            .map_err(|fault| ModelError::Weights { path: path.to_owned(), fault: fault.to_string() })?;
        let shape = file.get("layer1.weight").map(|view| view.shape().to_vec()).unwrap_or_default();
        let hidden = shape.first().copied().unwrap_or(0);
        if shape.len() == 2 && hidden == 0 {
            let fault = "has no rows".to_owned();
            return Err(ModelError::Tensor { path: path.to_owned(), tensor: "layer1.weight", fault });
        }
        let read = |tensor, shape: &[usize]| read_tensor(&file, path, tensor, shape);
        let rows = read("layer1.weight", &[hidden, INPUTS])?;
        let mut layer1 = vec![0.0; INPUTS * hidden];
        for (unit, row) in rows.chunks_exact(INPUTS).enumerate() {
            for (bit, &weight) in row.iter().enumerate() {
                layer1[bit * hidden + unit] = weight;
            }
        }
        Ok(Self {
            hidden,
            layer1,
            bias1: read("layer1.bias", &[hidden])?,
            layer2: read("layer2.weight", &[templates, hidden])?,
            bias2: read("layer2.bias", &[templates])?,
        })
    }

    /// A network that finds every template as likely as any other.
    #[cfg(test)]
    pub fn uniform(templates: usize) -> Self {
        Self {
            hidden: 1,
            layer1: vec![0.0; INPUTS],
            bias1: vec![0.0],
            layer2: vec![0.0; templates],
            bias2: vec![0.0; templates],
        }
    }

    /// For each of up to [`TOGETHER`] fingerprints, the most probable templates: at most `limit`, most probable
    /// first, ties by row, and no more of them than are needed to reach the probability `mass` together.
    ///
    /// The answers do not depend on which fingerprints are asked about together.
    pub fn rank(&self, fingerprints: &[Fingerprint], limit: usize, mass: f32) -> Vec<Vec<Ranked>> {
        fingerprints
            .chunks(TOGETHER)
            .flat_map(|together| self.logits(together))
            .map(|logits| most_probable(logits, limit, mass))
            .collect()
    }

    /// The second layer's output for each fingerprint.
    fn logits(&self, fingerprints: &[Fingerprint]) -> Vec<Vec<f32>> {
        let inputs = fingerprints.iter().map(|fingerprint| self.hidden_layer(fingerprint)).collect();
        Arch::new().dispatch(SecondLayer { policy: self, inputs })
    }

    fn hidden_layer(&self, fingerprint: &Fingerprint) -> Vec<f32> {
        let mut hidden = self.bias1.clone();
        for bit in fingerprint.on_bits() {
            let row = &self.layer1[usize::from(bit) * self.hidden..][..self.hidden];
            hidden.iter_mut().zip(row).for_each(|(unit, weight)| *unit += weight);
        }
        for unit in &mut hidden {
            if *unit < 0.0 {
                *unit = unit.exp_m1();
            }
        }
        hidden
    }
}

/// The head of the list of templates by probability.
fn most_probable(mut scores: Vec<f32>, limit: usize, mass: f32) -> Vec<Ranked> {
    let top = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    scores.iter_mut().for_each(|score| *score = (*score - top).exp());
    let total: f32 = scores.iter().sum();
    let mut ranked: Vec<Ranked> = (0_u32..)
        .zip(&scores)
        .map(|(template, score)| Ranked { template, probability: score / total })
        .collect();
    let order =
        |a: &Ranked, b: &Ranked| b.probability.total_cmp(&a.probability).then(a.template.cmp(&b.template));
    if limit < ranked.len() {
        ranked.select_nth_unstable_by(limit, order);
        ranked.truncate(limit);
    }
    ranked.sort_unstable_by(order);
    let mut covered = 0.0;
    let enough = ranked.iter().position(|entry| {
        covered += entry.probability;
        covered >= mass
    });
    ranked.truncate(enough.map_or(ranked.len(), |last| last + 1));
    ranked
}

/// The second layer on a few inputs, compiled for the instruction sets that `pulp` finds at run time.
///
/// The order of summation is written out, so that every machine gets the same bits.
struct SecondLayer<'a> {
    policy: &'a Policy,
    inputs: Vec<Vec<f32>>,
}

impl WithSimd for SecondLayer<'_> {
    type Output = Vec<Vec<f32>>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Self::Output {
        let Policy { hidden, layer2, bias2, .. } = self.policy;
        let mut logits = vec![Vec::with_capacity(bias2.len()); self.inputs.len()];
        for (row, bias) in layer2.chunks_exact(*hidden).zip(bias2) {
            for (logits, input) in logits.iter_mut().zip(&self.inputs) {
                logits.push(bias + dot(row, input));
            }
        }
        logits
    }
}

/// The dot product of two slices of one length.
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let (a_chunks, b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f32 = a_chunks.remainder().iter().zip(b_chunks.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a_chunks.zip(b_chunks) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

fn read_tensor(
    file: &BufferedSafetensors,
    path: &Path,
    tensor: &'static str,
    shape: &[usize],
) -> Result<Vec<f32>, ModelError> {
    let fault = |fault: String| ModelError::Tensor { path: path.to_owned(), tensor, fault };
    let view = file.get(tensor).map_err(|_| fault("is missing".to_owned()))?;
    if view.shape() != shape {
        return Err(fault(format!("has shape {:?}, expected {shape:?}", view.shape())));
    }
    let values = file
        .load(tensor, &Device::Cpu)
        .and_then(|loaded| loaded.to_dtype(DType::F32)?.flatten_all()?.to_vec1::<f32>())
        .map_err(|error| fault(error.to_string()))?;
    match values.iter().position(|value| !value.is_finite()) {
        Some(at) => Err(fault(format!("value {at} is {}", values[at]))),
        None => Ok(values),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two hidden units: bit 3 drives the first to 1, bit 5 the second to -1, which ELU bends.
    fn policy() -> Policy {
        let mut layer1 = vec![0.0; INPUTS * 2];
        (layer1[3 * 2], layer1[5 * 2 + 1]) = (1.0, -1.0);
        Policy {
            hidden: 2,
            layer1,
            bias1: vec![0.0, 0.0],
            layer2: vec![1.0, 0.0, 0.0, 1.0, 2.0, 2.0],
            bias2: vec![0.0, 0.0, -1.0],
        }
    }

    fn probabilities(logits: [f32; 3]) -> [f32; 3] {
        let total: f32 = logits.iter().map(|logit| logit.exp()).sum();
        logits.map(|logit| logit.exp() / total)
    }

    #[test]
    fn probabilities_are_those_of_the_network_written_out() {
        let bent = (-1.0_f32).exp() - 1.0;
        let expected = probabilities([1.0, bent, 2.0 + 2.0 * bent - 1.0]);

        let ranked = policy().rank(&[Fingerprint::from_on_bits([3, 5])], 3, 2.0);

        let order: Vec<u32> = ranked[0].iter().map(|entry| entry.template).collect();
        assert_eq!(order, [0, 2, 1]);
        for entry in &ranked[0] {
            assert!((entry.probability - expected[entry.template as usize]).abs() < 1e-6);
        }
    }

    #[test]
    fn the_list_ends_at_its_limit_or_at_its_probability() {
        let query = [Fingerprint::from_on_bits([3])];
        let length = |limit, mass| policy().rank(&query, limit, mass)[0].len();

        // The probabilities are 0.422, 0.422 and 0.155.
        assert_eq!((length(3, 2.0), length(2, 2.0), length(3, 0.8), length(3, 0.4)), (3, 2, 2, 1));
    }

    #[test]
    fn ties_go_to_the_earlier_template() {
        let ranked = Policy::uniform(40).rank(&[Fingerprint::from_on_bits([1])], 3, 2.0);

        assert_eq!(ranked[0].iter().map(|entry| entry.template).collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn molecules_asked_about_together_get_the_answers_they_get_alone() {
        let queries: Vec<_> = (0..9).map(|bit| Fingerprint::from_on_bits([bit, 3])).collect();

        let together = policy().rank(&queries, 3, 2.0);

        let alone: Vec<_> = queries.iter().flat_map(|query| policy().rank(&[*query], 3, 2.0)).collect();
        assert_eq!(together, alone);
    }
}
