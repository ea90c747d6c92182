//! The template-relevance network: ranks templates by how likely they are to make a molecule.
//!
//! `x -> layer1 -> activation -> layer2 -> softmax` (Segler and Waller, 2017, as AiZynthFinder ships it), where `x`
//! is the Morgan fingerprint. A fingerprint sets some 50 of its 2,048 bits, so the first layer is a sum of that many
//! rows. Of the second layer only the rows of templates that match the molecule are read. The other templates cannot
//! make it, whatever the network scores, and take no part in the softmax.
//!
//! A network may see sites as well ([`sites`]). Each template then has a score for each site that it matches, the
//! softmax is over those scores, and a template's probability is the sum over its sites.

mod output;
mod ranking;
mod reference;
mod sites;

pub use ranking::{Ranked, Ranking};
pub use reference::ReferencePolicy;

use std::iter::repeat_n;
use std::path::Path;

use chem::{Fingerprint, Matches, Molecule};

use crate::model::error::ModelError;
use crate::model::tensors::Weights;
use output::OutputLayer;
use sites::SiteScorer;

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
    sites: Option<SiteScorer>,
}

/// Activation function of the hidden layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Activation {
    Elu,
    Relu,
}

impl Policy {
    /// Reads `policy.safetensors` of a folder for `templates` templates, and `sites.safetensors` if it exists.
    pub fn load(folder: &Path, templates: usize) -> Result<Self, ModelError> {
        let sites = folder.join("sites.safetensors");
        let sites = sites.exists().then(|| Weights::read(&sites)).transpose()?;
        Self::of(&Weights::read(&folder.join("policy.safetensors"))?, sites.as_ref(), templates)
    }

    /// Reads the policy weights from one file, and the site weights from another if given.
    pub fn of(file: &Weights, sites: Option<&Weights>, templates: usize) -> Result<Self, ModelError> {
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
        let activation = Activation::of(file)?;
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
        let sites = sites.map(|sites| SiteScorer::load(sites, templates, hidden)).transpose()?;
        Ok(Self { hidden, layer1, bias1, activation, layer2, sites })
    }

    /// Network that gives every template the same probability.
    #[cfg(test)]
    pub fn uniform(templates: usize) -> Self {
        Self {
            hidden: 1,
            layer1: vec![0.0; INPUTS],
            bias1: vec![0.0],
            activation: Activation::Elu,
            layer2: OutputLayer::rounded(1, &vec![0.0; templates], vec![0.0; templates]),
            sites: None,
        }
    }

    /// Matching templates, most probable first.
    pub fn rank(&self, molecule: &Molecule, matches: Matches) -> Ranking {
        let logits = self.logits(molecule, &matches);
        match self.sites {
            Some(_) => Ranking::of_sites(matches, logits),
            None => Ranking::of_templates(&matches, logits),
        }
    }

    /// Logits, template after template: one for each site of a template, and one for a template without sites. If the
    /// network does not see sites, one for each template.
    fn logits(&self, molecule: &Molecule, matches: &Matches) -> Vec<f32> {
        let hidden = self.hidden_layer(&molecule.fingerprint());
        let general = self.template_scores(&hidden, matches);
        let Some(sites) = &self.sites else { return general };
        let places = matches.templates.iter().map(|found| found.count.max(1) as usize);
        let general = general.into_iter().zip(places).flat_map(|(score, places)| repeat_n(score, places));
        let special = sites.scores(molecule, &hidden, matches);
        general.zip(special).map(|(general, special)| general + special).collect()
    }

    /// Score of each matching template, without regard to sites.
    fn template_scores(&self, hidden: &[f32], matches: &Matches) -> Vec<f32> {
        let rows: Vec<(u32, u32)> = matches.templates.iter().map(|found| (found.template, 0)).collect();
        self.layer2.outputs(&[self.layer2.rounded_input(hidden)], &rows)
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
    /// Reads the header's `activation`; ELU if it is missing.
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
    use chem::Match;

    use super::*;

    /// Test network with two hidden units: bit 3 drives the first to 1, bit 5 the second to -1, which ELU bends.
    fn policy() -> Policy {
        let mut layer1 = vec![0.0; INPUTS * 2];
        (layer1[3 * 2], layer1[5 * 2 + 1]) = (1.0, -1.0);
        Policy {
            hidden: 2,
            layer1,
            bias1: vec![0.0, 0.0],
            activation: Activation::Elu,
            layer2: OutputLayer::rounded(2, &[1.0, 0.0, 0.0, 1.0, 2.0, 2.0], vec![0.0, 0.0, -1.0]),
            sites: None,
        }
    }

    fn probabilities(logits: [f32; 3]) -> [f32; 3] {
        let total: f32 = logits.iter().map(|logit| logit.exp()).sum();
        logits.map(|logit| logit.exp() / total)
    }

    fn matches(templates: &[u32]) -> Matches {
        let templates = templates.iter().map(|&template| Match { template, first: 0, count: 0 });
        Matches { sites: Vec::new(), templates: templates.collect() }
    }

    fn rank(policy: &Policy, bits: &[u16], templates: &[u32]) -> Vec<Ranked> {
        let hidden = policy.hidden_layer(&Fingerprint::from_on_bits(bits.iter().copied()));
        let matches = matches(templates);
        Ranking::of_templates(&matches, policy.template_scores(&hidden, &matches)).templates().to_vec()
    }

    #[test]
    fn probabilities_are_those_of_the_network_written_out() {
        let bent = (-1.0_f32).exp() - 1.0;
        let expected = probabilities([1.0, bent, 2.0 + 2.0 * bent - 1.0]);

        let ranked = rank(&policy(), &[3, 5], &[0, 1, 2]);

        let order: Vec<u32> = ranked.iter().map(|entry| entry.template).collect();
        assert_eq!(order, [0, 2, 1]);
        for entry in &ranked {
            assert!((entry.probability - expected[entry.template as usize]).abs() < 1e-4);
        }
    }

    #[test]
    fn a_rectified_network_forgets_negative_sums() {
        let policy = Policy { activation: Activation::Relu, ..policy() };

        let ranked = rank(&policy, &[5], &[0, 1, 2]);

        assert!((ranked[0].probability - probabilities([0.0, 0.0, -1.0])[0]).abs() < 1e-4);
    }

    #[test]
    fn only_the_templates_asked_for_share_the_probability() {
        let bent = (-1.0_f32).exp() - 1.0;

        let ranked = rank(&policy(), &[3, 5], &[0, 1]);

        assert_eq!((ranked[0].template, ranked[1].template), (0, 1));
        assert!((ranked[0].probability - 1.0 / (1.0 + (bent - 1.0).exp())).abs() < 1e-4);
        assert!((ranked[0].probability + ranked[1].probability - 1.0).abs() < 1e-6);
        assert_eq!(rank(&policy(), &[3, 5], &[2]), [Ranked { template: 2, probability: 1.0 }]);
        assert_eq!(rank(&policy(), &[3, 5], &[]), []);
    }

    #[test]
    fn ties_go_to_the_earlier_template() {
        let ranked = rank(&Policy::uniform(40), &[1], &[4, 7, 30]);

        assert_eq!(ranked.iter().map(|entry| entry.template).collect::<Vec<_>>(), [4, 7, 30]);
        assert!(ranked.iter().all(|entry| (entry.probability - 1.0 / 3.0).abs() < 1e-6));
    }
}
