//! Recorded reactants: how often molecules, and parts of molecules, are used in recorded reactions.
//!
//! Of two sets of precursors the one that chemists use is often told by the precursors alone: they are at hand, or like
//! what is. The policy network sees the product, so it does not know them.

use std::path::Path;

use chem::{Molecule, MoleculeKey};
use rustc_hash::{FxHashMap, FxHashSet};
use safetensors::tensor::{Dtype, TensorView, serialize};

use crate::model::error::ModelError;
use crate::model::tensors::Weights;

/// Number of counts of environments; an environment has the one of the low bits of its hash.
const ENVIRONMENTS: usize = 1 << 18;
/// Radius of the environments, in bonds.
const RADIUS: usize = 2;
/// Units of a counted logarithm.
const LOGARITHM_UNITS: f64 = 20.0;
/// Header entry with the SMILES of the reactant that is used most.
const COMMONEST: &str = "commonest";

/// Recorded reactants and their environments.
pub struct RecordedReactants {
    /// ln(1 + reactants) with each environment, in units of 1/[`LOGARITHM_UNITS`].
    environments: Vec<u8>,
    /// Keys of the reactants, ascending, and the number of reactions of each, at most 255.
    keys: Vec<u32>,
    counts: Vec<u8>,
}

impl RecordedReactants {
    /// Loads `environments` `[262144]` and `counts` `[R]` of bytes, and `keys` `[R]`, unsigned and ascending.
    ///
    /// # Errors
    /// Fails if the file cannot be read, a tensor is missing or broken, or another version has made the keys.
    pub fn load(path: &Path) -> Result<Self, ModelError> {
        Self::of(&Weights::read(path)?)
    }

    fn of(file: &Weights) -> Result<Self, ModelError> {
        let count = file.shape("keys")?.and_then(|shape| shape.first().copied()).unwrap_or(0);
        let keys = file.unsigned("keys", &[count])?;
        if !keys.is_sorted() {
            return Err(file.fault("keys", "does not ascend".to_owned()));
        }
        let environments = file.bytes("environments", &[ENVIRONMENTS])?.to_vec();
        let reactants = Self { environments, keys, counts: file.bytes("counts", &[count])?.to_vec() };
        let commonest = file.note(COMMONEST)?.and_then(|smiles| smiles.parse::<Molecule>().ok());
        match commonest {
            Some(commonest) if reactants.reactions(commonest.key()) > 0 => Ok(reactants),
            _ => Err(file.fault("keys", format!("lacks the header's `{COMMONEST}` reactant"))),
        }
    }

    /// Returns the number of recorded reactions of a reactant, at most 255.
    pub fn reactions(&self, reactant: MoleculeKey) -> u8 {
        self.keys.binary_search(&low_half(reactant)).map_or(0, |at| self.counts[at])
    }

    /// Returns ln(1 + recorded reactants) with the environment that fewest of them have, among those of the molecule's
    /// atoms.
    pub fn rarest_environment(&self, molecule: &Molecule) -> f64 {
        let environments = molecule.environments();
        let logarithms = environments.iter().map(|hashes| self.environments[row(hashes)]);
        f64::from(logarithms.min().unwrap_or(0)) / LOGARITHM_UNITS
    }
}

/// Recorded reactants as they are counted.
#[derive(Debug, Default)]
pub struct ReactantCounts(FxHashMap<MoleculeKey, (Molecule, u32)>);

impl ReactantCounts {
    /// Counts a reactant of one reaction.
    pub fn add(&mut self, reactant: Molecule) {
        self.0.entry(reactant.key()).or_insert((reactant, 0)).1 += 1;
    }

    /// Writes `reactants.safetensors` of a pack, and returns the number of reactants in it.
    ///
    /// # Errors
    /// Fails if there are none or the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<usize, Box<dyn std::error::Error>> {
        let mut counts: Vec<(u32, u32)> =
            self.0.iter().map(|(&key, &(_, count))| (low_half(key), count)).collect();
        counts.sort_unstable();
        let commonest = self.0.iter().max_by_key(|&(key, &(_, count))| (count, key));
        let (_, (commonest, _)) = commonest.ok_or("there are no reactants")?;
        let mut reactants = vec![0_u32; ENVIRONMENTS];
        for (molecule, _) in self.0.values() {
            let rows: FxHashSet<usize> = molecule.environments().iter().map(row).collect();
            rows.into_iter().for_each(|row| reactants[row] += 1);
        }
        let logarithm = |&count: &u32| (LOGARITHM_UNITS * f64::from(count).ln_1p()).round().min(255.0) as u8;
        let environments: Vec<u8> = reactants.iter().map(logarithm).collect();
        let keys: Vec<u8> = counts.iter().flat_map(|(key, _)| key.to_le_bytes()).collect();
        let counts: Vec<u8> = counts.iter().map(|&(_, count)| count.min(255) as u8).collect();
        let tensors = [
            ("environments", TensorView::new(Dtype::U8, vec![ENVIRONMENTS], &environments)?),
            ("keys", TensorView::new(Dtype::U32, vec![counts.len()], &keys)?),
            ("counts", TensorView::new(Dtype::U8, vec![counts.len()], &counts)?),
        ];
        let header = [(COMMONEST.to_owned(), commonest.canonical_smiles())].into_iter().collect();
        std::fs::write(path, serialize(tensors, Some(header))?)?;
        Ok(counts.len())
    }
}

fn low_half(key: MoleculeKey) -> u32 {
    (key.number() & u128::from(u32::MAX)) as u32
}

fn row(hashes: &[u32; 4]) -> usize {
    hashes[RADIUS] as usize % ENVIRONMENTS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(reactants: &[&str]) -> (tempfile::TempDir, RecordedReactants) {
        let mut counts = ReactantCounts::default();
        reactants.iter().for_each(|smiles| counts.add(smiles.parse().unwrap()));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("reactants.safetensors");
        counts.write(&path).unwrap();
        let read = RecordedReactants::load(&path).unwrap();
        (folder, read)
    }

    #[test]
    fn reactants_are_counted_whatever_the_order_of_their_atoms() {
        let (_folder, reactants) = written(&["OB(O)c1ccccc1", "c1ccccc1B(O)O", "Brc1ccncc1"]);

        let reactions = |smiles: &str| reactants.reactions(smiles.parse::<Molecule>().unwrap().key());

        assert_eq!(["c1(B(O)O)ccccc1", "c1cnccc1Br", "Clc1ccncc1"].map(reactions), [2, 1, 0]);
    }

    #[test]
    fn the_rarest_environment_counts_reactants_and_not_reactions() {
        let (_folder, reactants) = written(&["CCO", "CCO", "CCO", "CCCO"]);

        let rarest = |smiles: &str| reactants.rarest_environment(&smiles.parse().unwrap());

        let close = |logarithm: f64, count: f64| (logarithm - count.ln_1p()).abs() < 0.03;
        assert!(close(rarest("CCO"), 1.0), "{}", rarest("CCO"));
        assert!(close(rarest("CCCO"), 1.0));
        assert_eq!(rarest("CCCBr"), 0.0);
    }

    #[test]
    fn broken_files_are_refused_by_name() {
        let (folder, _) = written(&["CCO", "CCO", "CCN"]);
        let bytes = std::fs::read(folder.path().join("reactants.safetensors")).unwrap();
        let load = |bytes: Vec<u8>| {
            let file = Weights::of(bytes, Path::new("reactants.safetensors"));
            file.and_then(|file| RecordedReactants::of(&file)).err().map(|fault| fault.to_string())
        };
        let replaced = |old: &[u8], new: &[u8]| {
            let at = bytes.windows(old.len()).position(|window| window == old).unwrap();
            [&bytes[..at], new, &bytes[at + old.len()..]].concat()
        };
        assert_eq!(load(bytes.clone()), None);
        let cut = load(bytes[..bytes.len() - 1].to_vec()).unwrap();
        assert!(cut.contains("reactants.safetensors"), "{cut}");
        // As if another version had made the keys.
        let unknown = load(replaced(b"\"CCO\"", b"\"CCF\"")).unwrap();
        assert!(unknown.contains("keys") && unknown.contains("commonest"), "{unknown}");
        let missing = load(replaced(b"\"counts\"", b"\"COUNTS\"")).unwrap();
        assert!(missing.contains("counts"), "{missing}");
        assert!(ReactantCounts::default().write(&folder.path().join("none")).is_err());
    }
}
