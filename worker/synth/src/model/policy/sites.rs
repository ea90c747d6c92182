//! Site scores: how probable a template is at each site where it matches.
//!
//! An atom's vector starts as the sum of the embeddings of its Morgan environments of radius 0 to 3, found by their
//! hashes. Two rounds of message passing from its neighbours follow. A site's vector is the sum of its atoms' vectors
//! divided by the root of their number, plus the contribution of the whole molecule, rectified. A template's score at
//! the site is a scalar product with that vector. `worker/training/policy_model.py` is the same in PyTorch,
//! [`reference`](super::reference) on candle.

use chem::{Bond, Match, Matches, Molecule, Structure};

use super::output::{OutputLayer, QuantisedInput};
use crate::model::dense::Dense;
use crate::model::error::ModelError;
use crate::model::tensors::Weights;

/// Rounds of message passing between atoms.
pub const MESSAGE_PASSING_ROUNDS: usize = 2;
/// Kinds of bonds: the orders of [`chem::Order`].
pub const BOND_KINDS: usize = 4;
/// Tensor names of each round.
pub const SELF_TENSORS: [[&str; 2]; MESSAGE_PASSING_ROUNDS] =
    [["own.0.weight", "own.0.bias"], ["own.1.weight", "own.1.bias"]];
pub const NEIGHBOUR_TENSORS: [&str; MESSAGE_PASSING_ROUNDS] = ["heard.0.weight", "heard.1.weight"];

/// The part of the network that sees sites.
#[derive(Debug)]
pub struct SiteScorer {
    /// Length of an atom's vector and of a site's.
    atom: usize,
    site: usize,
    /// Environment embeddings `[environment, atom]` in bytes, with one scale per row.
    environments: Vec<i8>,
    environment_scales: Vec<f32>,
    /// Bond weights `[kind, atom]`.
    bonds: Vec<f32>,
    rounds: [MessagePassingRound; MESSAGE_PASSING_ROUNDS],
    /// Dense layer `atom -> site`.
    atoms: Dense,
    /// Dense layer `molecule -> site`.
    molecule: Dense,
    molecule_bias: Vec<f32>,
    templates: OutputLayer,
}

/// One round of message passing: how the messages update an atom's vector.
#[derive(Debug)]
struct MessagePassingRound {
    own: Dense,
    bias: Vec<f32>,
    received: Dense,
}

impl SiteScorer {
    /// Reads the weights from `sites.safetensors`; `hidden` is the length of the molecule's vector.
    pub fn load(file: &Weights, templates: usize, hidden: usize) -> Result<Self, ModelError> {
        let shape = file.shape("environment.weight")?.unwrap_or_default();
        let &[environments, atom] = &shape[..] else {
            return Err(
                file.fault("environment.weight", format!("has shape {shape:?}, expected two dimensions"))
            );
        };
        let site = file.shape("molecule.bias")?.and_then(|shape| shape.first().copied()).unwrap_or(0);
        if environments == 0 || atom == 0 || !(1..=super::output::MAX_INPUTS).contains(&site) {
            return Err(file.fault("environment.weight", "is empty, or sites have no vectors".to_owned()));
        }
        let bytes = |tensor, shape: &[usize]| {
            let bytes = file.signed_bytes(tensor, shape)?;
            bytes.ok_or_else(|| file.fault(tensor, "holds no signed bytes".to_owned()))
        };
        let round = |at: usize| {
            Ok(MessagePassingRound {
                own: Dense::load(file, SELF_TENSORS[at][0], atom, atom)?,
                bias: file.floats(SELF_TENSORS[at][1], &[atom])?,
                received: Dense::load(file, NEIGHBOUR_TENSORS[at], atom, atom)?,
            })
        };
        let template_bytes = bytes("template.weight", &[templates, site])?;
        let template_scales = file.floats("template.scale", &[templates])?;
        Ok(Self {
            atom,
            site,
            environments: bytes("environment.weight", &[environments, atom])?,
            environment_scales: file.floats("environment.scale", &[environments])?,
            bonds: file.floats("bond.weight", &[BOND_KINDS, atom])?,
            rounds: [round(0)?, round(1)?],
            atoms: Dense::load(file, "atom.weight", atom, site)?,
            molecule: Dense::load(file, "molecule.weight", hidden, site)?,
            molecule_bias: file.floats("molecule.bias", &[site])?,
            templates: OutputLayer::new(site, &template_bytes, template_scales, vec![0.0; templates]),
        })
    }

    /// Score of every template at each of its sites, template after template. A template whose sites are unknown has
    /// one score, that of a site without atoms. `hidden` is the network's hidden vector for the molecule's
    /// fingerprint.
    pub fn scores(&self, molecule: &Molecule, hidden: &[f32], matches: &Matches) -> Vec<f32> {
        let mut general = self.molecule_bias.clone();
        self.molecule.add_to(hidden, &mut general);
        let inputs = self.inputs(&self.atoms(molecule), &general, matches);
        let nowhere = matches.sites.len() as u32;
        let places = |found: &Match| {
            let here =
                if found.count == 0 { nowhere..nowhere + 1 } else { found.first..found.first + found.count };
            let template = found.template;
            here.map(move |site| (template, site))
        };
        let pairs: Vec<(u32, u32)> = matches.templates.iter().flat_map(places).collect();
        self.templates.outputs(&inputs, &pairs)
    }

    /// Vectors of all sites; the last is that of a site without atoms.
    fn inputs(&self, atoms: &[f32], general: &[f32], matches: &Matches) -> Vec<QuantisedInput> {
        let mut vector = vec![0.0; self.site];
        let mut input = |members: &mut dyn Iterator<Item = usize>| {
            vector.fill(0.0);
            let mut count = 0.0_f32;
            for atom in members {
                count += 1.0;
                add(&mut vector, &atoms[atom * self.site..][..self.site]);
            }
            let share = 1.0 / count.max(1.0).sqrt();
            for (value, general) in vector.iter_mut().zip(general) {
                *value = (*value * share + general).max(0.0);
            }
            self.templates.rounded_input(&vector)
        };
        let mut inputs: Vec<QuantisedInput> =
            matches.sites.iter().map(|site| input(&mut site.atoms())).collect();
        inputs.push(input(&mut std::iter::empty()));
        inputs
    }

    /// Contribution of every atom to the sites it is in: `[atoms, site]`.
    fn atoms(&self, molecule: &Molecule) -> Vec<f32> {
        let structure = Structure::of(molecule);
        let count = structure.len();
        let mut state = vec![0.0; count * self.atom];
        for (vector, environments) in state.chunks_exact_mut(self.atom).zip(molecule.environments()) {
            for hash in environments {
                let row = hash as usize % self.environment_scales.len();
                let scale = self.environment_scales[row];
                let weights = &self.environments[row * self.atom..][..self.atom];
                vector.iter_mut().zip(weights).for_each(|(sum, &byte)| *sum += f32::from(byte) * scale);
            }
            vector.iter_mut().for_each(|value| *value = value.max(0.0));
        }
        for round in &self.rounds {
            let received = self.received(&state, count, &structure);
            let mut change: Vec<f32> = (0..count).flat_map(|_| round.bias.iter().copied()).collect();
            round.own.add_to(&state, &mut change);
            round.received.add_to(&received, &mut change);
            state.iter_mut().zip(change).for_each(|(state, change)| *state += change.max(0.0));
        }
        let mut atoms = vec![0.0; count * self.site];
        self.atoms.add_to(&state, &mut atoms);
        atoms
    }

    /// Sum of the messages from each atom's neighbours: `[atoms, atom]`.
    fn received(&self, state: &[f32], count: usize, structure: &Structure) -> Vec<f32> {
        let mut received = vec![0.0; state.len()];
        for (atom, sum) in (0..count as u32).zip(received.chunks_exact_mut(self.atom)) {
            for &Bond { to, order, .. } in structure.bonds(atom) {
                let messages = &state[to as usize * self.atom..][..self.atom];
                let kind = &self.bonds[order as usize * self.atom..][..self.atom];
                for ((sum, messages), kind) in sum.iter_mut().zip(messages).zip(kind) {
                    *sum += (messages + kind).max(0.0);
                }
            }
        }
        received
    }
}

fn add(sums: &mut [f32], values: &[f32]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
}
