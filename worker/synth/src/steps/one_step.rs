//! One step back: the most probable sets of precursors of a molecule that stand, by what a search is made of.
//!
//! Templates are tried in the order of their probability. Each proposal is held against the rules, as a search does before it turns to what
//! a step needs, and if that is wanted run forwards as the steps of a route are; what is refused makes room for the next. It ends when enough sets stand and no template that is left is as
//! probable as the last of them: what several improbable templates would propose together is not waited for, since trying all that
//! match takes several times as long. As many are looked for where fewer are wanted, whose order would else be another one.

use std::sync::Arc;

use chem::{Key, Molecule};
use reactivity::ReactionClass;
use rustc_hash::FxHashMap;

use crate::graph::expander::{Expander, Expansion, Found};
use crate::model::RetroModel;
use crate::steps::explain::StepFault;
use crate::steps::validate::fault;
use crate::task::Budget;

/// Sets that are looked for however few are wanted.
const LEAST_SETS: usize = 50;

/// What proposals are held against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// The rules of what chemists would sign.
    Rules,
    /// These, and the template run forwards: it gives the product, and no other that a chemist would expect as well. Of a search only the
    /// steps of routes are, since it takes longer than all else together.
    Forwards,
}

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
    /// The first proposal that stands, with its template and class.
    step: Option<(u32, Arc<Found>, ReactionClass)>,
}

/// The `most` probable sets of precursors of `product` that stand, most probable first, ties by their canonical SMILES; `None` where
/// the budget is spent before they are known.
pub fn precursor_sets(
    expander: &Expander,
    product: &Molecule,
    (most, check): (usize, Check),
    budget: &Budget,
) -> Option<Vec<PrecursorSet>> {
    let model = expander.model();
    // A thousand of them would drive out of the cache what searches come back for.
    let expansion = expander.passing_expansion(product);
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
            if candidate.step.is_none() {
                let class = standing(model, &expansion, (ranked.template, proposal), check).ok();
                candidate.step = class.map(|class| (ranked.template, Arc::clone(proposal), class));
            }
            if candidate.step.is_some() {
                candidate.probability += ranked.probability * proposal.share;
            }
        }
    }
    Some(written(model, &expansion, candidates, most))
}

/// Whether so many sets stand, each more probable than any that a template of this probability proposes alone.
fn is_enough(candidates: &FxHashMap<Box<[Key]>, Candidate>, most: usize, next: f32) -> bool {
    candidates.values().filter(|it| it.step.is_some() && it.probability > next).count() >= most
}

/// The class of the step to `product` as this template proposes it, or why it does not stand.
pub fn standing(
    model: &RetroModel,
    product: &Expansion,
    (template, found): (u32, &Found),
    check: Check,
) -> Result<ReactionClass, StepFault> {
    let (certainty, class) = found.judged(product).map_err(StepFault::Unsound)?;
    if check == Check::Rules {
        return Ok(class);
    }
    let precursors: Vec<Molecule> =
        found.precursors.iter().map(|precursor| precursor.molecule.clone()).collect();
    let compiled = model.template(template).ok_or(StepFault::ProductNotRegained)?;
    match fault(compiled, product.molecule().key(), &precursors, certainty) {
        None => Ok(class),
        Some(fault) => Err(fault.into()),
    }
}

fn written(
    model: &RetroModel,
    product: &Expansion,
    candidates: FxHashMap<Box<[Key]>, Candidate>,
    most: usize,
) -> Vec<PrecursorSet> {
    let mut candidates: Vec<Candidate> = candidates.into_values().filter(|it| it.step.is_some()).collect();
    candidates.sort_unstable_by(|a, b| b.probability.total_cmp(&a.probability));
    // What is as probable as the last that is wanted may come before it by its SMILES.
    let last = most.checked_sub(1).and_then(|last| candidates.get(last));
    let least = last.map_or(0.0, |last| last.probability);
    candidates.retain(|candidate| candidate.probability >= least);
    let set = |Candidate { probability, step }: Candidate| {
        let (template, found, class) = step?;
        let mut precursors: Vec<Molecule> =
            found.precursors.iter().map(|precursor| precursor.molecule.clone()).collect();
        precursors.sort_by(|a, b| a.as_canonical().cmp(b.as_canonical()));
        Some(PrecursorSet {
            precursors,
            probability: probability.min(1.0),
            plausibility: found.plausibility_alone(product, model),
            template_hash: model.template_hash(template).to_owned(),
            precedents: model.records(template).reactions,
            class,
        })
    };
    let mut sets: Vec<PrecursorSet> = candidates.into_iter().filter_map(set).collect();
    let names = |set: &PrecursorSet| -> Vec<String> {
        set.precursors.iter().map(Molecule::canonical_smiles).collect()
    };
    sets.sort_by(|a, b| b.probability.total_cmp(&a.probability).then_with(|| names(a).cmp(&names(b))));
    sets.truncate(most);
    sets
}
