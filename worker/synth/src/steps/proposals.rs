//! Single-step proposals of the model: sets of precursors of a molecule.

use std::sync::Arc;

use chem::{Molecule, MoleculeKey};
use rustc_hash::FxHashMap;

use crate::graph::expander::{Expander, TemplateOutcome};
use crate::model::RetroModel;
use crate::steps::order::{ORDERED_SETS, SetFeatures, likelier};

/// Set of molecules that make another one, as the model proposes it.
#[derive(Debug, Clone)]
pub struct Precursors {
    /// Precursors in the order of their keys.
    pub precursors: Vec<Molecule>,
    /// Sum of the probabilities of all templates and sites that propose them.
    pub probability: f32,
    /// Features that order it, if it is one of the most probable and the model has recorded reactants.
    pub features: Option<SetFeatures>,
}

/// Set of precursors while templates are tried: the sum of probabilities, and the first proposal.
struct Proposed {
    probability: f32,
    template: u32,
    outcome: Arc<TemplateOutcome>,
}

/// Returns the `most` probable sets of precursors of a molecule: of the fifty most probable those first that
/// chemists have probably used.
///
/// Tries every matching template, which takes some ten milliseconds.
#[must_use]
pub fn proposals(model: &Arc<RetroModel>, product: &Molecule, most: usize) -> Vec<Precursors> {
    let expander = Expander::new(Arc::clone(model), 0);
    let expansion = expander.expansion(product);
    let list = expander.list(&expansion);
    let mut found: FxHashMap<Vec<MoleculeKey>, Proposed> = FxHashMap::default();
    for (at, ranked) in list.iter().enumerate() {
        let outcomes = expander.outcomes(&expansion, at, &mut || true).unwrap_or_default();
        for outcome in outcomes.iter() {
            let keys = outcome.precursors.iter().map(|precursor| precursor.molecule.key()).collect();
            let new =
                || Proposed { probability: 0.0, template: ranked.template, outcome: Arc::clone(outcome) };
            found.entry(keys).or_insert_with(new).probability += ranked.probability * outcome.share;
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_unstable_by(|(a_keys, a), (b_keys, b)| {
        b.probability.total_cmp(&a.probability).then_with(|| a_keys.cmp(b_keys))
    });
    let set =
        |(at, (_, Proposed { probability, template, outcome })): (usize, (Vec<MoleculeKey>, Proposed))| {
            let features = || {
                let is_sound = outcome.soundness(&expansion).is_ok();
                SetFeatures::of(model, (template, probability), is_sound, &outcome.precursors)
            };
            let features = (at < ORDERED_SETS).then(features).flatten();
            let precursors = outcome.precursors.iter().map(|precursor| precursor.molecule.clone()).collect();
            Precursors { precursors, probability, features }
        };
    let mut sets: Vec<Precursors> =
        found.into_iter().take(most.max(ORDERED_SETS)).enumerate().map(set).collect();
    sets.sort_by(|a, b| likelier(a.features, b.features));
    sets.truncate(most);
    sets
}
