//! Single-step proposals of the model: sets of precursors of a molecule.

use std::cmp::Ordering;
use std::sync::Arc;

use chem::{Molecule, MoleculeKey};
use rustc_hash::FxHashMap;

use crate::graph::expander::{Expander, TemplateOutcome};
use crate::model::RetroModel;

/// Set of molecules that make another one, as the model proposes it.
#[derive(Debug, Clone)]
pub struct Precursors {
    /// Precursors in the order of their keys.
    pub precursors: Vec<Molecule>,
    /// Sum of the probabilities of all templates and sites that propose them.
    pub probability: f32,
}

/// Returns the `most` probable sets of precursors of a molecule, most probable first.
///
/// Tries every matching template, which takes some ten milliseconds.
#[must_use]
pub fn proposals(model: &Arc<RetroModel>, product: &Molecule, most: usize) -> Vec<Precursors> {
    let expander = Expander::new(Arc::clone(model), 0);
    let expansion = expander.expansion(product);
    let list = expander.list(&expansion);
    let mut found: FxHashMap<Vec<MoleculeKey>, (f32, Arc<TemplateOutcome>)> = FxHashMap::default();
    for (at, ranked) in list.iter().enumerate() {
        let outcomes = expander.outcomes(&expansion, at, &mut || true).unwrap_or_default();
        for outcome in outcomes.iter() {
            let keys = outcome.precursors.iter().map(|precursor| precursor.molecule.key()).collect();
            found.entry(keys).or_insert_with(|| (0.0, Arc::clone(outcome))).0 +=
                ranked.probability * outcome.share;
        }
    }
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_unstable_by(|a, b| {
        b.1.0.partial_cmp(&a.1.0).unwrap_or(Ordering::Equal).then_with(|| a.0.cmp(&b.0))
    });
    let molecules = |found: &TemplateOutcome| {
        found.precursors.iter().map(|precursor| precursor.molecule.clone()).collect()
    };
    found
        .into_iter()
        .take(most)
        .map(|(_, (probability, found))| Precursors { precursors: molecules(&found), probability })
        .collect()
}
