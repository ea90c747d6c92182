//! One step back: the most probable sets of precursors of a molecule that stand, by what a search is made of.
//!
//! Templates are tried in the order of their probability. Each proposal is held against the rules and run forwards as the steps of
//! a route are, and what is refused makes room for the next. It ends when enough sets stand and no template that is left is as
//! probable as the last of them: what several improbable templates would propose together is not waited for, since trying all that
//! match takes several times as long. As many are looked for where fewer are wanted, whose order would else be another one.

use std::sync::Arc;

use chem::{Key, Molecule};
use reactivity::ReactionClass;
use rustc_hash::FxHashMap;

use crate::graph::expander::{Expander, Expansion, Found};
use crate::model::RetroModel;
use crate::steps::validate::fault;
use crate::task::Budget;

/// Sets that are looked for however few are wanted.
const LEAST_SETS: usize = 50;

/// Some molecules that make another in one step that stands.
#[derive(Debug, Clone)]
pub struct PrecursorSet {
    /// In the order of their canonical SMILES; what is needed twice is there twice.
    pub precursors: Vec<Molecule>,
    /// Probability that the policy network gives the templates that propose the step, among those that match the product.
    pub probability: f32,
    /// Probability that the precursors give the product, whatever else they might give, by the forward judge; 1 for a model
    /// without one.
    pub plausibility: f32,
    /// The template's hash in `templates.csv.gz`: the most probable whose proposal stands.
    pub template_hash: String,
    /// Recorded reactions of that template.
    pub precedents: u32,
    /// What chemists call the step.
    pub class: ReactionClass,
}

/// What is known of a set while templates are tried.
#[derive(Default)]
struct Candidate {
    /// Of the templates that propose it, but for those whose proposals were refused before one stood.
    probability: f32,
    /// The first proposal that stands, with its template.
    step: Option<(u32, Arc<Found>)>,
}

/// The `most` probable sets of precursors of `product` that stand, most probable first, ties by their canonical SMILES; `None` where
/// the budget is spent before they are known.
pub fn precursor_sets(
    expander: &Expander,
    product: &Molecule,
    most: usize,
    budget: &Budget,
) -> Option<Vec<PrecursorSet>> {
    let model = expander.model();
    let expansion = expander.expansion(product);
    let own = expansion.molecule().key();
    let list = expander.list(&expansion);
    let mut candidates: FxHashMap<Box<[Key]>, Candidate> = FxHashMap::default();
    for (at, ranked) in list.iter().enumerate() {
        if is_enough(&candidates, most.max(LEAST_SETS), ranked.probability) {
            break;
        }
        let found = expander.outcomes(&expansion, at, &mut || !budget.spent())?;
        for proposal in found.iter() {
            let keys: Box<[Key]> =
                proposal.precursors.iter().map(|precursor| precursor.molecule.key()).collect();
            // Who needs the product to make it does not make it.
            if keys.contains(&own) {
                continue;
            }
            let candidate = candidates.entry(keys).or_default();
            if candidate.step.is_none() && stands(model, &expansion, ranked.template, proposal) {
                candidate.step = Some((ranked.template, Arc::clone(proposal)));
            }
            if candidate.step.is_some() {
                candidate.probability += ranked.probability * proposal.share;
            }
        }
    }
    expander.keep(&expansion);
    Some(written(model, &expansion, candidates, most))
}

/// Whether so many sets stand, each more probable than any that a template of this probability proposes alone.
fn is_enough(candidates: &FxHashMap<Box<[Key]>, Candidate>, most: usize, next: f32) -> bool {
    candidates.values().filter(|it| it.step.is_some() && it.probability > next).count() >= most
}

/// Whether a chemist might sign the step as `template` has it, and it gives its product and no other, run forwards.
fn stands(model: &RetroModel, product: &Expansion, template: u32, found: &Found) -> bool {
    let Ok(certainty) = found.soundness(product) else { return false };
    let precursors: Vec<Molecule> =
        found.precursors.iter().map(|precursor| precursor.molecule.clone()).collect();
    let key = product.molecule().key();
    model.template(template).is_some_and(|it| fault(it, key, &precursors, certainty).is_none())
}

fn written(
    model: &RetroModel,
    product: &Expansion,
    candidates: FxHashMap<Box<[Key]>, Candidate>,
    most: usize,
) -> Vec<PrecursorSet> {
    let mut standing: Vec<(f32, u32, Arc<Found>)> = candidates
        .into_values()
        .filter_map(|Candidate { probability, step }| {
            step.map(|(template, found)| (probability, template, found))
        })
        .collect();
    standing.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    // What is as probable as the last that is wanted may come before it by its SMILES.
    let least = most.checked_sub(1).and_then(|last| standing.get(last)).map_or(0.0, |last| last.0);
    standing.retain(|candidate| candidate.0 >= least);
    let set = |(probability, template, found): (f32, u32, Arc<Found>)| {
        let mut precursors: Vec<Molecule> =
            found.precursors.iter().map(|precursor| precursor.molecule.clone()).collect();
        precursors.sort_by(|a, b| a.as_canonical().cmp(b.as_canonical()));
        PrecursorSet {
            precursors,
            probability: probability.min(1.0),
            plausibility: found.plausibility_alone(product, model),
            template_hash: model.template_hash(template).to_owned(),
            precedents: model.records(template).reactions,
            class: found.class(product),
        }
    };
    let mut sets: Vec<PrecursorSet> = standing.into_iter().map(set).collect();
    let names = |set: &PrecursorSet| -> Vec<String> {
        set.precursors.iter().map(Molecule::canonical_smiles).collect()
    };
    sets.sort_by(|a, b| b.probability.total_cmp(&a.probability).then_with(|| names(a).cmp(&names(b))));
    sets.truncate(most);
    sets
}
