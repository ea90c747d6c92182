//! The template-relevance network: which templates are likely to make a molecule.
//!
//! `x -> layer1 -> activation -> layer2 -> softmax` (Segler and Waller, 2017, as AiZynthFinder ships it), where
//! `x` is the Morgan fingerprint. A fingerprint sets some 50 of its 2,048 bits, so the first layer is a sum of
//! that many rows. Of the second only the rows of templates that match the molecule are read: the others are no ways to
//! make it, whatever the network thinks of them, and take no part in the softmax.

mod output;

use std::path::Path;

use chem::Fingerprint;

use crate::error::ModelError;
use crate::tensors::Weights;
use output::OutputLayer;

/// Bits of the fingerprint.
const INPUTS: usize = 2048;

/// The network's weights.
#[derive(Debug)]
pub struct Policy {
    hidden: usize,
    /// `[2048, hidden]`: the file's first layer, transposed.
    layer1: Vec<f32>,
    bias1: Vec<f32>,
    activation: Activation,
    layer2: OutputLayer,
}

/// What the hidden layer does to its sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Activation {
    Elu,
    Relu,
}

/// A template that matches a molecule and the probability that the network gives it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// Row of the template.
    pub template: u32,
    /// Between 0 and 1; those of all templates that match sum to 1.
    pub probability: f32,
}

impl Policy {
    /// Reads `policy.safetensors` for `templates` templates.
    pub fn load(path: &Path, templates: usize) -> Result<Self, ModelError> {
        let file = Weights::read(path)?;
        let shape = file.shape("layer1.weight")?.unwrap_or_default();
        let hidden = shape.first().copied().unwrap_or(0);
        if shape.len() == 2 && !(1..=output::MAX_INPUTS).contains(&hidden) {
            let fault = format!("has {hidden} rows, expected 1 to {}", output::MAX_INPUTS);
            return Err(file.fault("layer1.weight", fault));
        }
        let rows = file.floats("layer1.weight", &[hidden, INPUTS])?;
        let mut layer1 = vec![0.0; INPUTS * hidden];
        for (unit, row) in rows.chunks_exact(INPUTS).enumerate() {
            for (bit, &weight) in row.iter().enumerate() {
                layer1[bit * hidden + unit] = weight;
            }
        }
        let bias1 = file.floats("layer1.bias", &[hidden])?;
        let activation = Activation::of(&file)?;
        let bytes = file.signed_bytes("layer2.weight", &[templates, hidden])?;
        let bias2 = || file.floats("layer2.bias", &[templates]);
        let layer2 = match bytes {
            Some(bytes) => {
                OutputLayer::new(hidden, &bytes, file.floats("layer2.scale", &[templates])?, bias2()?)
            }
            None => {
                let weights = file.floats("layer2.weight", &[templates, hidden])?;
                OutputLayer::rounded(hidden, &weights, bias2()?)
            }
        };
        Ok(Self { hidden, layer1, bias1, activation, layer2 })
    }

    /// A network that finds every template as likely as any other.
    #[cfg(test)]
    pub fn uniform(templates: usize) -> Self {
        Self {
            hidden: 1,
            layer1: vec![0.0; INPUTS],
            bias1: vec![0.0],
            activation: Activation::Elu,
            layer2: OutputLayer::rounded(1, &vec![0.0; templates], vec![0.0; templates]),
        }
    }

    /// The templates of these rows, most probable first, ties by row: a softmax over them alone.
    pub fn rank(&self, fingerprint: &Fingerprint, templates: &[u32]) -> Vec<Ranked> {
        let mut scores = self.layer2.outputs(&self.hidden_layer(fingerprint), templates);
        let top = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        scores.iter_mut().for_each(|score| *score = (*score - top).exp());
        let total: f32 = scores.iter().sum();
        let ranked = templates.iter().zip(scores);
        let mut ranked: Vec<Ranked> =
            ranked.map(|(&template, score)| Ranked { template, probability: score / total }).collect();
        ranked.sort_unstable_by(|a, b| {
            b.probability.total_cmp(&a.probability).then(a.template.cmp(&b.template))
        });
        ranked
    }

    fn hidden_layer(&self, fingerprint: &Fingerprint) -> Vec<f32> {
        let mut hidden = self.bias1.clone();
        for bit in fingerprint.on_bits() {
            let row = &self.layer1[usize::from(bit) * self.hidden..][..self.hidden];
            hidden.iter_mut().zip(row).for_each(|(unit, weight)| *unit += weight);
        }
        hidden.iter_mut().for_each(|unit| *unit = self.activation.of_sum(*unit));
        hidden
    }
}

impl Activation {
    /// What the file's header says under `activation`; ELU where it says nothing.
    fn of(file: &Weights) -> Result<Self, ModelError> {
        match file.note("activation")?.as_deref() {
            None | Some("elu") => Ok(Self::Elu),
            Some("relu") => Ok(Self::Relu),
            Some(other) => {
                Err(file
                    .fault("layer1.weight", format!("has activation `{other}`, expected `elu` or `relu`")))
            }
        }
    }

    fn of_sum(self, sum: f32) -> f32 {
        match self {
            _ if sum >= 0.0 => sum,
            Self::Elu => sum.exp_m1(),
            Self::Relu => 0.0,
        }
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
            activation: Activation::Elu,
            layer2: OutputLayer::rounded(2, &[1.0, 0.0, 0.0, 1.0, 2.0, 2.0], vec![0.0, 0.0, -1.0]),
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

        let ranked = policy().rank(&Fingerprint::from_on_bits([3, 5]), &[0, 1, 2]);

        let order: Vec<u32> = ranked.iter().map(|entry| entry.template).collect();
        assert_eq!(order, [0, 2, 1]);
        for entry in &ranked {
            assert!((entry.probability - expected[entry.template as usize]).abs() < 1e-4);
        }
    }

    #[test]
    fn a_rectified_network_forgets_negative_sums() {
        let policy = Policy { activation: Activation::Relu, ..policy() };

        let ranked = policy.rank(&Fingerprint::from_on_bits([5]), &[0, 1, 2]);

        assert!((ranked[0].probability - probabilities([0.0, 0.0, -1.0])[0]).abs() < 1e-4);
    }

    #[test]
    fn only_the_templates_asked_for_share_the_probability() {
        let bent = (-1.0_f32).exp() - 1.0;
        let rank = |templates: &[u32]| policy().rank(&Fingerprint::from_on_bits([3, 5]), templates);

        let ranked = rank(&[0, 1]);

        assert_eq!((ranked[0].template, ranked[1].template), (0, 1));
        assert!((ranked[0].probability - 1.0 / (1.0 + (bent - 1.0).exp())).abs() < 1e-4);
        assert!((ranked[0].probability + ranked[1].probability - 1.0).abs() < 1e-6);
        assert_eq!(rank(&[2]), [Ranked { template: 2, probability: 1.0 }]);
        assert_eq!(rank(&[]), []);
    }

    #[test]
    fn ties_go_to_the_earlier_template() {
        let ranked = Policy::uniform(40).rank(&Fingerprint::from_on_bits([1]), &[4, 7, 30]);

        assert_eq!(ranked.iter().map(|entry| entry.template).collect::<Vec<_>>(), [4, 7, 30]);
        assert!(ranked.iter().all(|entry| (entry.probability - 1.0 / 3.0).abs() < 1e-6));
    }
}
