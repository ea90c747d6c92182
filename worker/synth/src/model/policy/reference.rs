//! The policy network in candle-nn's layers, on a CPU or a GPU: the reference that the fast implementation is tested
//! against.

use std::collections::HashMap;
use std::path::Path;

use candle_core::{DType, Device, Result, Tensor};
use candle_nn::{Embedding, Linear, Module, VarBuilder, embedding, linear, linear_no_bias};
use chem::{Match, Matches, Molecule, Structure};

use super::sites::{BOND_KINDS, MESSAGE_PASSING_ROUNDS};
use super::{Activation, INPUTS};
use crate::model::error::ModelError;
use crate::model::tensors::{Floats, Weights};

/// Scores templates at sites with the weights of `policy.safetensors` and `sites.safetensors`.
#[derive(Debug)]
pub struct ReferencePolicy {
    layer1: Linear,
    activation: Activation,
    layer2: Embedding,
    layer2_bias: Embedding,
    sites: Option<Sites>,
    device: Device,
}

/// The layers that see sites.
#[derive(Debug)]
struct Sites {
    environment: Embedding,
    environments: u32,
    bond: Embedding,
    rounds: Vec<(Linear, Linear)>,
    atom: Linear,
    molecule: Linear,
    template: Embedding,
}

impl ReferencePolicy {
    /// Loads the weights of a folder for `templates` templates onto a device.
    ///
    /// # Errors
    /// Fails when a file cannot be read or its tensors do not fit together.
    pub fn load(folder: &Path, templates: usize, device: &Device) -> std::result::Result<Self, ModelError> {
        let file = Weights::read(&folder.join("policy.safetensors"))?;
        let activation = Activation::of(&file)?;
        let mut weights = tensors(&file).map_err(|fault| file.unreadable(fault))?;
        let sites = folder.join("sites.safetensors");
        if sites.exists() {
            let sites = Weights::read(&sites)?;
            weights.extend(tensors(&sites).map_err(|fault| sites.unreadable(fault))?);
        }
        Self::build(weights, activation, templates, device).map_err(|fault| file.unreadable(fault))
    }

    fn build(
        tensors: HashMap<String, Tensor>,
        activation: Activation,
        templates: usize,
        device: &Device,
    ) -> Result<Self> {
        let sizes = |name: &str| tensors.get(name).map(Tensor::dims2).transpose();
        let (hidden, _) = sizes("layer1.weight")?.unwrap_or_default();
        let (sees, of_sites) = (sizes("environment.weight")?, sizes("molecule.weight")?);
        let weights = VarBuilder::from_tensors(tensors, DType::F32, device);
        let sites = match (sees, of_sites) {
            (Some((environments, atom)), Some((site, _))) => {
                let round = |at: usize| {
                    let own = linear(atom, atom, weights.pp(format!("own.{at}")))?;
                    Ok((own, linear_no_bias(atom, atom, weights.pp(format!("heard.{at}")))?))
                };
                Some(Sites {
                    environment: embedding(environments, atom, weights.pp("environment"))?,
                    environments: u32::try_from(environments).map_err(candle_core::Error::wrap)?,
                    bond: embedding(BOND_KINDS, atom, weights.pp("bond"))?,
                    rounds: (0..MESSAGE_PASSING_ROUNDS).map(round).collect::<Result<_>>()?,
                    atom: linear_no_bias(atom, site, weights.pp("atom"))?,
                    molecule: linear(hidden, site, weights.pp("molecule"))?,
                    template: embedding(templates, site, weights.pp("template"))?,
                })
            }
            _ => None,
        };
        let bias = weights.get(templates, "layer2.bias")?.reshape((templates, 1))?;
        Ok(Self {
            layer1: linear(INPUTS, hidden, weights.pp("layer1"))?,
            activation,
            layer2: embedding(templates, hidden, weights.pp("layer2"))?,
            layer2_bias: Embedding::new(bias, 1),
            sites,
            device: device.clone(),
        })
    }

    /// Returns the logit of every template at each of its sites, template after template, and one for a template
    /// without sites. If the network does not see sites, one for every template.
    ///
    /// # Errors
    /// Fails when the device runs out of memory.
    pub fn logits(&self, molecule: &Molecule, matches: &Matches) -> Result<Vec<f32>> {
        if matches.templates.is_empty() {
            return Ok(Vec::new());
        }
        let mut bits = vec![0.0_f32; INPUTS];
        molecule.fingerprint().on_bits().for_each(|bit| bits[usize::from(bit)] = 1.0);
        let hidden = self.layer1.forward(&Tensor::from_vec(bits, (1, INPUTS), &self.device)?)?;
        let hidden = match self.activation {
            Activation::Elu => hidden.elu(1.0)?,
            Activation::Relu => hidden.relu()?,
        };
        let templates = self.numbers(matches.templates.iter().map(|found| found.template))?;
        let general = self.layer2.forward(&templates)?.broadcast_mul(&hidden)?.sum(1)?;
        let general = (general + self.layer2_bias.forward(&templates)?.squeeze(1)?)?;
        let Some(sites) = &self.sites else { return general.to_vec1() };
        let vectors = self.site_vectors(sites, molecule, &hidden, matches)?;
        let nowhere = matches.sites.len() as u32;
        let places = |found: &Match| {
            if found.count == 0 { nowhere..nowhere + 1 } else { found.first..found.first + found.count }
        };
        let pairs = || {
            (0_u32..)
                .zip(&matches.templates)
                .flat_map(|(at, found)| places(found).map(move |site| (at, site)))
        };
        let (of_match, of_site) =
            (self.numbers(pairs().map(|pair| pair.0))?, self.numbers(pairs().map(|pair| pair.1))?);
        let rows = sites.template.forward(&templates.index_select(&of_match, 0)?)?;
        let special = (rows * vectors.index_select(&of_site, 0)?)?.sum(1)?;
        (general.index_select(&of_match, 0)? + special)?.to_vec1()
    }

    /// Vectors of all sites, `[sites + 1, site]`; the last is that of a site without atoms.
    fn site_vectors(
        &self,
        layers: &Sites,
        molecule: &Molecule,
        hidden: &Tensor,
        matches: &Matches,
    ) -> Result<Tensor> {
        let structure = Structure::of(molecule);
        let rows = molecule.environments().into_iter().flatten().map(|hash| hash % layers.environments);
        let rows = self.numbers(rows)?.reshape((structure.len(), ()))?;
        let mut state = layers.environment.forward(&rows)?.sum(1)?.relu()?;
        let bonds = || {
            let atoms = 0..structure.len() as u32;
            atoms.flat_map(|atom| {
                structure.bonds(atom).iter().map(move |bond| (bond.to, atom, bond.order as u32))
            })
        };
        let from = self.numbers(bonds().map(|bond| bond.0))?;
        let to = self.numbers(bonds().map(|bond| bond.1))?;
        let kinds = layers.bond.forward(&self.numbers(bonds().map(|bond| bond.2))?)?;
        for (own, received) in &layers.rounds {
            let messages = (state.index_select(&from, 0)? + &kinds)?.relu()?;
            let messages = state.zeros_like()?.index_add(&to, &messages, 0)?;
            let change = (own.forward(&state)? + received.forward(&messages)?)?.relu()?;
            state = (state + change)?;
        }
        let atoms = layers.atom.forward(&state)?;
        let count = matches.sites.len() + 1;
        let members = || {
            (0_u32..)
                .zip(&matches.sites)
                .flat_map(|(at, site)| site.atoms().map(move |atom| (at, atom as u32)))
        };
        let (of_site, of_atom) =
            (self.numbers(members().map(|pair| pair.0))?, self.numbers(members().map(|pair| pair.1))?);
        let sums = Tensor::zeros((count, atoms.dim(1)?), DType::F32, &self.device)?;
        let sums = sums.index_add(&of_site, &atoms.index_select(&of_atom, 0)?, 0)?;
        let sizes = matches.sites.iter().map(|site| site.bits().count_ones() as f32).chain([1.0]);
        let sizes = Tensor::from_iter(sizes, &self.device)?.reshape((count, 1))?.sqrt()?;
        sums.broadcast_div(&sizes)?.broadcast_add(&layers.molecule.forward(hidden)?)?.relu()
    }

    fn numbers(&self, numbers: impl Iterator<Item = u32>) -> Result<Tensor> {
        Tensor::from_iter(numbers, &self.device)
    }
}

/// Returns all tensors of a file in single precision. Byte tensors are scaled by their rows' scales.
fn tensors(file: &Weights) -> Result<HashMap<String, Tensor>> {
    let plain = file.tensors()?;
    let scaled = |(name, (shape, values)): (&String, &Floats)| {
        let tensor = Tensor::from_slice(values, &shape[..], &Device::Cpu)?;
        let scale = name.strip_suffix(".weight").and_then(|layer| plain.get(&format!("{layer}.scale")));
        let tensor = match scale {
            Some((rows, scale)) => {
                tensor.broadcast_mul(&Tensor::from_slice(scale, (rows[0], 1), &Device::Cpu)?)?
            }
            None => tensor,
        };
        Ok((name.clone(), tensor))
    };
    plain.iter().map(scaled).collect()
}

#[cfg(test)]
mod tests {
    use chem::PreparedMolecule;

    use super::*;
    use crate::model::library::TemplateLibrary;
    use crate::model::policy::Policy;

    const MOLECULES: [&str; 8] = [
        "CC(=O)Nc1ccc(O)cc1",
        "CN1CCN(c2nc(N3CCOCC3)c3nc(Cl)ccc3n2)CC1",
        "CC(C)(C)OC(=O)N[C@@H](Cc1ccccc1)C(=O)NCC(=O)OC",
        "O=S(=O)(Nc1cccc(Br)c1)c1ccc(F)cc1",
        "COc1ccc2[nH]c(C(=O)N3CCC(CO)CC3)cc2c1",
        "FC(F)(F)c1ccc(C#Cc2ccncc2)cc1",
        "C[C@H](O)CCC=C(C)C",
        "[2H]C([2H])([2H])Oc1ccccc1",
    ];

    #[test]
    fn the_fast_network_gives_what_the_reference_gives() {
        let pack = Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/uspto_retro");
        let library = TemplateLibrary::load(&pack.join("templates.csv.gz"), 1).unwrap();
        let reference = ReferencePolicy::load(&pack, library.len(), &Device::Cpu).unwrap();
        let policy = Policy::load(&pack, library.len()).unwrap();
        assert!(policy.sites.is_some());
        for smiles in MOLECULES {
            let product = PreparedMolecule::new(&smiles.parse::<Molecule>().unwrap());
            let matches = library.matches(&product);
            assert!(matches.templates.len() > 20, "{smiles}");

            let expected = reference.logits(product.molecule(), &matches).unwrap();
            let found = policy.logits(product.molecule(), &matches);

            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(expected) {
                // Inputs of the byte layers are rounded to one part in 4,000.
                assert!((found - expected).abs() < 0.02, "{smiles}: {found}, not {expected}");
            }
        }
    }
}
