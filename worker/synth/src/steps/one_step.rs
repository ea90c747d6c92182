//! Single-step retrosynthesis: the most probable sets of precursors of a molecule whose steps are valid, found with
//! the components of a search.
//!
//! Templates are tried in order of probability. Each proposal is checked against the selectivity rules, as a search
//! does before it expands a step's precursors. On request it is also run forwards, as the steps of routes are.
//! Refused proposals make room for the next. The search ends when enough sets are valid and no remaining template is
//! as probable as the last of them. It does not wait for what several improbable templates would propose together,
//! since trying all matching templates takes several times as long.
//!
//! The [`ORDERED_SETS`] most probable valid sets are put in the order in which chemists have probably used them
//! (`order.rs`). As many are sought even if fewer are wanted, because the order would otherwise differ.

use std::sync::Arc;

use chem::{Molecule, MoleculeKey};
use reactivity::{ReactionClass, StereoSource};
use rustc_hash::FxHashMap;

use crate::graph::expander::{Expander, Expansion, TemplateOutcome};
use crate::model::RetroModel;
use crate::steps::confidence::TemplateEvidence;
use crate::steps::explain::StepFault;
use crate::steps::order::{ORDERED_SETS, SetFeatures, likelier};
use crate::steps::validate::fault;
use crate::task::Budget;

/// Checks that proposals must pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Selectivity rules only.
    Rules,
    /// Selectivity rules, and the template run forwards: it gives the product, and no other expected product. A
    /// search does this only for the steps of routes, since it takes longer than everything else together.
    Forwards,
}

/// Set of molecules that make another one in one valid step.
#[derive(Debug, Clone)]
pub struct PrecursorSet {
    /// Precursors in the order of their canonical SMILES. A precursor needed twice is listed twice.
    pub precursors: Vec<Molecule>,
    /// Probability, by the policy network, of the templates that propose the step, among those that match the
    /// product.
    pub probability: f32,
    /// Probability, by the plausibility model, that the precursors give the product, regardless of competing
    /// products; 1 for a model without one.
    pub plausibility: f32,
    /// Hash, as in `templates.csv.gz`, of the most probable template whose proposal is valid.
    pub template_hash: String,
    /// Number of recorded reactions of that template.
    pub precedents: u32,
    /// Reaction class of the step.
    pub class: ReactionClass,
    /// Means by which the step gives one stereoisomer, if neither its precursors nor its template determine it.
    pub stereo_source: Option<StereoSource>,
}

/// Candidate set while templates are tried.
#[derive(Default)]
struct CandidateSet {
    /// Probability of the templates that propose it, without those whose proposals were refused before one was valid.
    probability: f32,
    /// First valid proposal, with its template and class.
    step: Option<(u32, Arc<TemplateOutcome>, ReactionClass)>,
}

/// Returns the `most` probable valid sets of precursors of `product`: of the [`ORDERED_SETS`] most probable those first
/// that chemists have probably used, the others in the order of their probabilities, ties by their canonical SMILES;
/// `None` if the budget is spent first.
pub fn precursor_sets(
    expander: &Expander,
    product: &Molecule,
    (most, check): (usize, Check),
    budget: &Budget,
) -> Option<Vec<PrecursorSet>> {
    let model = expander.model();
    // A thousand of these expansions would evict those that searches reuse from the cache.
    let expansion = expander.uncached_expansion(product);
    let own = expansion.molecule().key();
    let list = expander.list(&expansion);
    let mut candidates: FxHashMap<Box<[MoleculeKey]>, CandidateSet> = FxHashMap::default();
    for (at, ranked) in list.iter().enumerate() {
        if has_enough_valid_sets(&candidates, most.max(ORDERED_SETS), ranked.probability) {
            break;
        }
        let found = expander.outcomes(&expansion, at, &mut || !budget.spent())?;
        for proposal in found.iter() {
            let keys: Box<[MoleculeKey]> =
                proposal.precursors.iter().map(|precursor| precursor.molecule.key()).collect();
            // A set that contains the product itself does not make it.
            if keys.contains(&own) {
                continue;
            }
            let candidate = candidates.entry(keys).or_default();
            if candidate.step.is_none() {
                let class = check_step(model, &expansion, (ranked.template, proposal), check).ok();
                candidate.step = class.map(|class| (ranked.template, Arc::clone(proposal), class));
            }
            if candidate.step.is_some() {
                candidate.probability += ranked.probability * proposal.share;
            }
        }
    }
    Some(written(model, &expansion, candidates, most))
}

/// Returns true if `most` sets are valid and each is more probable than any that a template of this probability
/// proposes alone.
fn has_enough_valid_sets(
    candidates: &FxHashMap<Box<[MoleculeKey]>, CandidateSet>,
    most: usize,
    next: f32,
) -> bool {
    candidates.values().filter(|it| it.step.is_some() && it.probability > next).count() >= most
}

/// Returns the class of the step to `product` as this template proposes it, or the reason why it is invalid.
pub fn check_step(
    model: &RetroModel,
    product: &Expansion,
    (template, found): (u32, &TemplateOutcome),
    check: Check,
) -> Result<ReactionClass, StepFault> {
    let (soundness, class) = found.apply_rules(product).map_err(StepFault::Unsound)?;
    if check == Check::Rules {
        return Ok(class);
    }
    let compiled = model.template(template).ok_or(StepFault::ProductNotRegained)?;
    let (precursors, regained) = found.forward_run(product);
    match fault(compiled, regained, &precursors, soundness.certainty) {
        None => Ok(class),
        Some(fault) => Err(fault.into()),
    }
}

fn written(
    model: &RetroModel,
    product: &Expansion,
    candidates: FxHashMap<Box<[MoleculeKey]>, CandidateSet>,
    most: usize,
) -> Vec<PrecursorSet> {
    let mut sets: Vec<ValidSet> = candidates.into_values().filter_map(ValidSet::of).collect();
    // Only ties need names, and most sets are not wanted.
    sets.sort_by(|a, b| b.probability.total_cmp(&a.probability).then_with(|| a.names().cmp(&b.names())));
    for set in sets.iter_mut().take(ORDERED_SETS) {
        set.features = SetFeatures::of(model, (set.template, set.probability), true, &set.outcome.precursors);
    }
    sets.sort_by(|a, b| likelier(a.features, b.features));
    let fingerprint = product.unlabelled().molecule().fingerprint();
    let written = |ValidSet { template, probability, outcome, class, .. }: ValidSet| {
        let mut precursors: Vec<Molecule> =
            outcome.precursors.iter().map(|precursor| precursor.molecule.clone()).collect();
        precursors.sort_by(|a, b| a.as_canonical().cmp(b.as_canonical()));
        let precedent = model.nearest_precedent(template, &fingerprint);
        let evidence =
            TemplateEvidence::new(model, (template, probability), precedent, outcome.surroundings(product));
        PrecursorSet {
            precursors,
            probability,
            plausibility: evidence.confidence(outcome.plausibility_alone(product, model)),
            template_hash: model.template_hash(template).to_owned(),
            precedents: model.records(template).reactions,
            class,
            stereo_source: outcome.stereo_source(product),
        }
    };
    sets.into_iter().take(most).map(written).collect()
}

/// Candidate that is valid.
struct ValidSet {
    template: u32,
    probability: f32,
    outcome: Arc<TemplateOutcome>,
    class: ReactionClass,
    features: Option<SetFeatures>,
}

impl ValidSet {
    fn of(candidate: CandidateSet) -> Option<Self> {
        let (template, outcome, class) = candidate.step?;
        let probability = candidate.probability.min(1.0);
        Some(Self { template, probability, outcome, class, features: None })
    }

    /// Returns the canonical SMILES of the precursors, ascending.
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> =
            self.outcome.precursors.iter().map(|precursor| precursor.molecule.as_canonical()).collect();
        names.sort_unstable();
        names
    }
}
