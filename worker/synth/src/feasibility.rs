//! The in-scope filter: whether a reaction is one that chemists have seen work.
//!
//! Two towers meet in a scalar product (Segler, Preuss and Waller, Nature 2018): one reads the product's
//! fingerprint, the other what the reaction changes in it. Inputs are sparse, so a tower is a sum of columns.

use std::path::Path;

use chem::Fingerprint;

use crate::error::ModelError;
use crate::tensors::Weights;

/// The bits of a fingerprint.
const BITS: usize = Fingerprint::BITS as usize;

/// The filter of a model.
pub struct Filter {
    product: Tower,
    reaction: Tower,
    /// Slope and offset that make the score a log-odds.
    calibration: [f32; 2],
}

/// A layer of a network, its weights input by input.
struct Tower {
    columns: Vec<f32>,
    bias: Vec<f32>,
}

impl Filter {
    /// Loads `product.weight` and `reaction.weight` `[H, 2048]`, their biases `[H]` and `calibration` `[2]`.
    pub fn load(path: &Path) -> Result<Self, ModelError> {
        let file = Weights::read(path)?;
        let hidden = match file.shape("product.bias")?.as_deref() {
            Some(&[hidden]) if hidden > 0 => hidden,
            _ => return Err(file.fault("product.bias", "is missing or no list".to_owned())),
        };
        let calibration = file.floats("calibration", &[2])?;
        Ok(Self {
            product: Tower::load(&file, "product.weight", "product.bias", hidden)?,
            reaction: Tower::load(&file, "reaction.weight", "reaction.bias", hidden)?,
            calibration: [calibration[0], calibration[1]],
        })
    }

    /// Probability that the reaction works: about 10 µs.
    pub fn probability(&self, product: &Fingerprint, precursors: &[Fingerprint]) -> f32 {
        let mut before = [0; 32];
        for precursor in precursors {
            before.iter_mut().zip(precursor.words()).for_each(|(all, word)| *all |= word);
        }
        let is_before = |bit: u16| before[usize::from(bit / 64)] >> (bit % 64) & 1 == 1;
        let is_after = |bit: u16| product.words()[usize::from(bit / 64)] >> (bit % 64) & 1 == 1;
        let left = self.product.of(product.on_bits().map(|bit| (bit, 1.0)));
        let made = product.on_bits().filter(|&bit| !is_before(bit)).map(|bit| (bit, 1.0));
        let gone =
            (0..Fingerprint::BITS).filter(|&bit| is_before(bit) && !is_after(bit)).map(|bit| (bit, -1.0));
        let right = self.reaction.of(made.chain(gone));
        let score: f32 = left.iter().zip(&right).map(|(a, b)| a * b).sum();
        let [slope, offset] = self.calibration;
        let log_odds = slope * score / (left.len() as f32).sqrt() + offset;
        1.0 / (1.0 + (-log_odds).exp())
    }
}

impl Tower {
    fn load(
        file: &Weights,
        weight: &'static str,
        bias: &'static str,
        hidden: usize,
    ) -> Result<Self, ModelError> {
        let rows = file.floats(weight, &[hidden, BITS])?;
        let mut columns = vec![0.0; rows.len()];
        for (unit, row) in rows.chunks_exact(BITS).enumerate() {
            for (bit, &value) in row.iter().enumerate() {
                columns[bit * hidden + unit] = value;
            }
        }
        Ok(Self { columns, bias: file.floats(bias, &[hidden])? })
    }

    /// ELU of the layer's sums.
    fn of(&self, inputs: impl Iterator<Item = (u16, f32)>) -> Vec<f32> {
        let mut sums = self.bias.clone();
        for (bit, value) in inputs {
            let column = &self.columns[usize::from(bit) * sums.len()..][..sums.len()];
            sums.iter_mut().zip(column).for_each(|(sum, weight)| *sum += value * weight);
        }
        sums.iter_mut().for_each(|sum| *sum = if *sum > 0.0 { *sum } else { sum.exp_m1() });
        sums
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use candle_core::{Device, Tensor};
    use chem::Molecule;

    use super::*;

    fn fingerprint(smiles: &str) -> Fingerprint {
        smiles.parse::<Molecule>().unwrap().fingerprint()
    }

    /// What PyTorch makes of the same weights.
    #[test]
    fn the_shipped_filter_gives_what_pytorch_gives() {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/uspto_retro/feasibility.safetensors");
        let filter = Filter::load(&path).unwrap();
        let known: [(&str, &[&str], f32); 3] = [
            ("CCNC(C)=O", &["CC(=O)O", "CCN"], 0.51505),
            ("CC(=O)c1ccccc1", &["c1ccccc1", "CC(=O)Cl"], 0.57475),
            ("CC(C)(C)OC(=O)NCc1ccccc1", &["NCc1ccccc1", "CC(C)(C)OC(=O)OC(=O)OC(C)(C)C"], 0.56246),
        ];
        for (product, precursors, expected) in known {
            let precursors: Vec<_> = precursors.iter().map(|smiles| fingerprint(smiles)).collect();

            let probability = filter.probability(&fingerprint(product), &precursors);

            assert!((probability - expected).abs() < 2e-4, "{product}: {probability}, not {expected}");
        }
    }

    #[test]
    fn weights_that_do_not_fit_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("feasibility.safetensors");
        let zeros = |shape: &[usize]| Tensor::zeros(shape, candle_core::DType::F32, &Device::Cpu).unwrap();
        let mut tensors: HashMap<String, Tensor> = HashMap::from([
            ("product.weight".to_owned(), zeros(&[3, 2048])),
            ("product.bias".to_owned(), zeros(&[3])),
            ("reaction.weight".to_owned(), zeros(&[4, 2048])),
            ("reaction.bias".to_owned(), zeros(&[3])),
            ("calibration".to_owned(), zeros(&[2])),
        ]);
        candle_core::safetensors::save(&tensors, &path).unwrap();
        let fault = Filter::load(&path).err().unwrap().to_string();
        assert!(fault.contains("reaction.weight") && fault.contains("[4, 2048]"), "{fault}");

        tensors.remove("product.bias");
        candle_core::safetensors::save(&tensors, &path).unwrap();
        let fault = Filter::load(&path).err().unwrap().to_string();
        assert!(fault.contains("product.bias"), "{fault}");
    }
}
