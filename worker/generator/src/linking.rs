//! Joining of fragments to linkers (LinkInvent's task; Guo et al., J. Cheminform. 2023).
//!
//! A finished string is the first fragment with a substituent, the linker. Each further fragment is joined to that
//! atom of the linker at which the whole molecule is most likely under the model, as PromptSMILES chooses it.

use std::{collections::HashSet, ops::Range};

use chem::{Limits, Molecule, OpenMolecule};

use crate::{
    decoration::Decoration,
    engine::NetworkEngine,
    likelihood::{self, LikelihoodBatch, negative_log_likelihoods},
    vocabulary::Vocabulary,
};

/// Model by which fragments are joined.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Linking<'a> {
    pub(crate) decoration: &'a Decoration,
    pub(crate) engine: &'a NetworkEngine,
    pub(crate) vocabulary: &'a Vocabulary,
}

/// A molecule to which fragments are being joined.
struct Linker {
    open: OpenMolecule,
    /// Numbers of the linker's atoms.
    atoms: Range<usize>,
}

/// A molecule with one more fragment.
struct Candidate {
    open: OpenMolecule,
    text: String,
    canonical: String,
}

impl Linking<'_> {
    /// Joins the fragments to each finished string and returns the molecules as SMILES; `None` if that is not
    /// possible.
    pub(crate) fn join(&self, texts: &[&str]) -> candle_core::Result<Vec<Option<String>>> {
        let mut linkers: Vec<Option<Linker>> = texts.iter().map(|text| self.linker(text)).collect();
        let mut joined = vec![None; texts.len()];
        for fragment in self.decoration.linked() {
            let candidates: Vec<Vec<Candidate>> = linkers
                .iter()
                .map(|linker| {
                    linker.as_ref().map_or_else(Vec::new, |linker| linker.candidates(fragment.open()))
                })
                .collect();
            let losses = self.losses(&candidates)?;
            let mut losses = losses.into_iter();
            for ((linker, joined), candidates) in linkers.iter_mut().zip(&mut joined).zip(candidates) {
                let best = candidates.into_iter().zip(&mut losses).min_by(|a, b| a.1.total_cmp(&b.1));
                let best = best.filter(|(_, loss)| loss.is_finite()).map(|(candidate, _)| candidate);
                match (best, linker.as_mut()) {
                    (Some(best), Some(linker)) => {
                        linker.open = best.open;
                        *joined = Some(best.text);
                    }
                    _ => (*linker, *joined) = (None, None),
                }
            }
        }
        Ok(joined)
    }

    /// Returns the linker of a string.
    fn linker(&self, text: &str) -> Option<Linker> {
        let first = self.decoration.open();
        let open = first.continued(text.strip_prefix(self.decoration.first().text())?)?;
        let atoms = first.atoms()..open.atoms();
        Some(Linker { open, atoms })
    }

    /// Returns the negative log-likelihoods of molecules; infinite if the vocabulary cannot express one.
    fn losses(&self, candidates: &[Vec<Candidate>]) -> candle_core::Result<Vec<f64>> {
        let smiles = candidates.iter().flatten().map(|candidate| candidate.canonical.as_str());
        let mut losses = vec![f64::INFINITY; smiles.clone().count()];
        for LikelihoodBatch { places, strings } in likelihood::batches(smiles, self.vocabulary) {
            let found = negative_log_likelihoods(self.engine, self.vocabulary.len(), &strings)?;
            for (place, loss) in places.into_iter().zip(found) {
                losses[place] = loss;
            }
        }
        Ok(losses)
    }
}

impl Linker {
    /// Returns the distinct molecules with the fragment at one of the linker's atoms.
    fn candidates(&self, fragment: &OpenMolecule) -> Vec<Candidate> {
        let mut known = HashSet::new();
        let mut candidates = Vec::new();
        for site in self.open.with_point_anywhere(self.atoms.clone()) {
            let Some(open) = site.joined(fragment) else { continue };
            let text = open.smiles();
            let Ok(molecule) = Molecule::parse(&text, Limits::TARGET) else { continue };
            let canonical = molecule.canonical_smiles();
            if known.insert(canonical.clone()) {
                candidates.push(Candidate { open, text, canonical });
            }
        }
        candidates
    }
}
