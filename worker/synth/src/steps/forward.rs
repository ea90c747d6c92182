//! A known step of the model run forwards on other molecules.
//!
//! The product must pass all checks of a route's step: the template, run backwards, gives exactly these precursors,
//! the selectivity rules accept the step, and no competing product is expected. A template may include more of its
//! molecules than the reaction needs (the oxygen of a furan beside an acyl chloride). If it does not accept other
//! molecules, any template that runs the same class of reaction on them may replace it.

use std::fmt;

use chem::{Molecule, MoleculeKey, Outcome, Site};
use reactivity::ReactionClass;

use crate::graph::expander::{Expander, Expansion, TemplateOutcome};
use crate::search_result::{Step, Warning};
use crate::steps::explain::StepFault;
use crate::steps::one_step::{Check, standing};
use crate::task::Budget;

/// Step of a route, with its template and class in the model.
#[derive(Debug, Clone)]
pub struct KnownStep {
    template: u32,
    class: ReactionClass,
    /// Precursors of the route that the step takes, by index and in the form in which it takes them, each as often as
    /// it is taken.
    takes: Vec<(usize, Molecule)>,
}

impl KnownStep {
    /// Returns the molecules that the step takes when `others` replace some of its precursors.
    #[must_use]
    pub fn taking(&self, others: &[Option<&Molecule>]) -> Vec<Molecule> {
        let taken =
            |(which, own): &(usize, Molecule)| others.get(*which).copied().flatten().unwrap_or(own).clone();
        self.takes.iter().map(taken).collect()
    }
}

/// Result of running a step.
#[derive(Debug, Clone)]
pub struct ForwardProduct {
    /// The product.
    pub product: Molecule,
    /// The step as in a route. Its probability is that of its own template alone.
    pub step: Step,
}

/// Reason why a step gives no product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForwardFailure {
    /// The template does not react with these molecules.
    NoReaction,
    /// The product does not pass the checks.
    Refused(StepFault),
}

impl fmt::Display for ForwardFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoReaction => formatter.write_str("its reaction does not take these molecules"),
            Self::Refused(fault) => fault.fmt(formatter),
        }
    }
}

/// Returns the step that makes `product` from these precursors with the template of this hash. It may take each
/// precursor more than once. `None` if the model has no such step. A precursor may be given in its uncharged form, as
/// it is sold.
pub fn known_step(
    expander: &Expander,
    hash: &str,
    product: &Molecule,
    precursors: &[Molecule],
) -> Option<KnownStep> {
    let template = expander.model().template_with_hash(hash)?;
    let expansion = expander.uncached_expansion(product);
    let neutral: Vec<MoleculeKey> = precursors.iter().map(|precursor| precursor.neutral().key()).collect();
    let place = |taken: &Molecule| {
        let own = precursors.iter().position(|precursor| precursor.key() == taken.key());
        own.or_else(|| neutral.iter().position(|&key| key == taken.neutral().key()))
    };
    let outcomes = expander.model().template(template)?.apply(expansion.prepared());
    outcomes.into_iter().find_map(|outcome| {
        let taken = outcome.precursors.iter().map(|precursor| &precursor.molecule);
        let takes: Vec<_> = taken.map(|taken| Some((place(taken)?, taken.clone()))).collect::<Option<_>>()?;
        let all_are_taken = (0..precursors.len()).all(|which| takes.iter().any(|&(taken, _)| taken == which));
        let class = || TemplateOutcome::new(outcome.precursors).class(&expansion);
        all_are_taken.then(|| KnownStep { template, class: class(), takes })
    })
}

/// Returns the product of the step from these molecules, as many as it takes; `None` if the budget is spent first.
pub fn run(
    expander: &Expander,
    step: &KnownStep,
    precursors: &[Molecule],
    budget: &Budget,
) -> Option<Result<ForwardProduct, ForwardFailure>> {
    let made = run_by(expander, step.template, None, precursors, budget)?;
    // If its own template's product fails the checks, other templates are not tried.
    if !matches!(made, Err(ForwardFailure::NoReaction)) || step.class == ReactionClass::default() {
        return Some(made);
    }
    let mut why = ForwardFailure::NoReaction;
    for other in expander.model().templates_for(precursors) {
        match run_by(expander, other, Some(step.class), precursors, budget)? {
            Err(ForwardFailure::NoReaction) => {}
            Err(refused) => why = refused,
            made => return Some(made),
        }
    }
    Some(Err(why))
}

/// Returns the valid product that the template makes of the molecules, the most plausible of several. The reaction
/// must be of the wanted class, if one is given.
fn run_by(
    expander: &Expander,
    template: u32,
    wanted: Option<ReactionClass>,
    precursors: &[Molecule],
    budget: &Budget,
) -> Option<Result<ForwardProduct, ForwardFailure>> {
    let Some(compiled) = expander.model().template(template) else {
        return Some(Err(ForwardFailure::NoReaction));
    };
    let mut keys: Vec<MoleculeKey> = precursors.iter().map(Molecule::key).collect();
    keys.sort_unstable();
    let mut why = ForwardFailure::NoReaction;
    let mut best: Option<ForwardProduct> = None;
    for product in compiled.forward_traced(precursors) {
        if budget.spent() {
            return None;
        }
        let expansion = expander.uncached_expansion(&product.molecule);
        let of_these = |outcome: &Outcome| {
            outcome.precursors.iter().map(|precursor| precursor.molecule.key()).eq(keys.iter().copied())
        };
        let Some(outcome) = compiled.apply(expansion.prepared()).into_iter().find(of_these) else { continue };
        let Outcome { precursors, sites, .. } = outcome;
        let found = TemplateOutcome::new(precursors);
        if wanted.is_some_and(|wanted| found.class(&expansion) != wanted) {
            continue;
        }
        match written(expander, &expansion, template, &sites, &found) {
            Ok(made) if best.as_ref().is_none_or(|best| best.step.plausibility < made.step.plausibility) => {
                best = Some(made);
            }
            Ok(_) => {}
            Err(fault) => why = ForwardFailure::Refused(fault),
        }
    }
    Some(best.ok_or(why))
}

fn written(
    expander: &Expander,
    product: &Expansion,
    template: u32,
    sites: &[Site],
    found: &TemplateOutcome,
) -> Result<ForwardProduct, StepFault> {
    let model = expander.model();
    let class = standing(model, product, (template, found), Check::Forwards)?;
    let molecule = product.molecule();
    let plausibility = found.plausibility(product, model);
    let alone = found.plausibility_alone(product, model);
    let precedent = model.nearest_precedent(template, &molecule.fingerprint());
    let step = Step {
        template,
        template_hash: model.template_hash(template).to_owned(),
        probability: expander.probability(product, template, sites),
        rank: product.rank_of(template),
        plausibility,
        precedent,
        records: model.records(template),
        class,
        warnings: Warning::of((alone, plausibility), precedent),
    };
    Ok(ForwardProduct { product: molecule.clone(), step })
}
