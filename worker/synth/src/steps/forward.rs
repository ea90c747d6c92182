//! A known step of the model run forwards on other molecules.
//!
//! The product must pass all checks of a route's step: the template, run backwards, gives exactly these precursors,
//! the selectivity rules accept the step, and no competing product is expected. A template may include more of its
//! molecules than the reaction needs (the oxygen of a furan beside an acyl chloride). If it does not accept other
//! molecules, any template that runs the same class of reaction on them may replace it.

use std::fmt;

use chem::{Molecule, MoleculeKey, Site};
use reactivity::ReactionClass;

use crate::graph::expander::{Expander, Expansion, TemplateOutcome};
use crate::search_result::{RouteStep, Warning};
use crate::steps::confidence::TemplateEvidence;
use crate::steps::explain::StepFault;
use crate::steps::one_step::{Check, check_step};
use crate::task::Budget;

/// Step of a route, with its template and class in the model.
#[derive(Debug, Clone)]
pub struct KnownStep {
    template: u32,
    class: ReactionClass,
    /// Index and form of each precursor that the template consumes; repeated if it is consumed more than once.
    precursors: Vec<(usize, Molecule)>,
}

impl KnownStep {
    /// Returns the molecules that the step consumes when `replacements` replace some of its precursors.
    #[must_use]
    pub fn precursors_with(&self, replacements: &[Option<&Molecule>]) -> Vec<Molecule> {
        let precursor = |(precursor_index, own): &(usize, Molecule)| {
            replacements.get(*precursor_index).copied().flatten().unwrap_or(own).clone()
        };
        self.precursors.iter().map(precursor).collect()
    }
}

/// Result of running a step.
#[derive(Debug, Clone)]
pub struct ForwardProduct {
    /// The product.
    pub product: Molecule,
    /// The step as in a route. Its probability is that of its own template alone.
    pub step: RouteStep,
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
            Self::NoReaction => formatter.write_str("the template does not match these molecules"),
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
    let index_of = |molecule: &Molecule| {
        let own = precursors.iter().position(|precursor| precursor.key() == molecule.key());
        own.or_else(|| neutral.iter().position(|&key| key == molecule.neutral().key()))
    };
    let outcomes = expansion.outcomes_of(expander.model().template(template)?);
    outcomes.into_iter().find_map(|(outcome, _)| {
        let molecules = outcome.precursors.iter().map(|precursor| &precursor.molecule);
        let consumed: Vec<_> = molecules
            .map(|precursor| Some((index_of(precursor)?, precursor.clone())))
            .collect::<Option<_>>()?;
        let all_are_consumed = (0..precursors.len())
            .all(|index| consumed.iter().any(|&(precursor_index, _)| precursor_index == index));
        let class = outcome.class(&expansion);
        all_are_consumed.then_some(KnownStep { template, class, precursors: consumed })
    })
}

/// Returns the product of the step from these molecules, as many as it takes; `None` if the budget is spent first.
pub fn run(
    expander: &Expander,
    step: &KnownStep,
    precursors: &[Molecule],
    budget: &Budget,
) -> Option<Result<ForwardProduct, ForwardFailure>> {
    let made = run_template(expander, step.template, None, precursors, budget)?;
    // If its own template's product fails the checks, other templates are not tried.
    if !matches!(made, Err(ForwardFailure::NoReaction)) || step.class == ReactionClass::default() {
        return Some(made);
    }
    let mut failure = ForwardFailure::NoReaction;
    for other in expander.model().templates_for(precursors) {
        match run_template(expander, other, Some(step.class), precursors, budget)? {
            Err(ForwardFailure::NoReaction) => {}
            Err(refused) => failure = refused,
            made => return Some(made),
        }
    }
    Some(Err(failure))
}

/// Returns the valid product that the template makes of the molecules, the most plausible of several. The reaction
/// must be of the wanted class, if one is given.
fn run_template(
    expander: &Expander,
    template: u32,
    class: Option<ReactionClass>,
    precursors: &[Molecule],
    budget: &Budget,
) -> Option<Result<ForwardProduct, ForwardFailure>> {
    let Some(compiled) = expander.model().template(template) else {
        return Some(Err(ForwardFailure::NoReaction));
    };
    let mut keys: Vec<MoleculeKey> = precursors.iter().map(Molecule::key).collect();
    keys.sort_unstable();
    let mut failure = ForwardFailure::NoReaction;
    let mut best: Option<ForwardProduct> = None;
    for product in compiled.forward_traced(precursors) {
        if budget.spent() {
            return None;
        }
        let expansion = expander.uncached_expansion(&product.molecule);
        let has_these_precursors = |(outcome, _): &(TemplateOutcome, _)| {
            outcome.precursors.iter().map(|precursor| precursor.molecule.key()).eq(keys.iter().copied())
        };
        let mut outcomes = expansion.outcomes_of(compiled).into_iter();
        let Some((template_outcome, sites)) = outcomes.find(has_these_precursors) else { continue };
        if class.is_some_and(|class| template_outcome.class(&expansion) != class) {
            continue;
        }
        match check_and_build(expander, &expansion, template, &sites, &template_outcome) {
            Ok(made) if best.as_ref().is_none_or(|best| best.step.plausibility < made.step.plausibility) => {
                best = Some(made);
            }
            Ok(_) => {}
            Err(fault) => failure = ForwardFailure::Refused(fault),
        }
    }
    Some(best.ok_or(failure))
}

fn check_and_build(
    expander: &Expander,
    product: &Expansion,
    template: u32,
    sites: &[Site],
    template_outcome: &TemplateOutcome,
) -> Result<ForwardProduct, StepFault> {
    let model = expander.model();
    let class = check_step(model, product, (template, template_outcome), Check::Forwards)?;
    let molecule = product.molecule();
    let unlabelled = product.unlabelled().molecule();
    let precedent = model.nearest_precedent(template, &unlabelled.fingerprint());
    let probability = expander.probability(product, template, sites);
    let evidence = TemplateEvidence::new(
        model,
        (template, probability),
        precedent,
        template_outcome.surroundings(product),
    );
    let plausibility = evidence.confidence(template_outcome.plausibility(product, model));
    let alone = evidence.confidence(template_outcome.plausibility_alone(product, model));
    let step = RouteStep {
        template,
        template_hash: model.template_hash(template).to_owned(),
        probability,
        rank: product.rank_of(template),
        plausibility,
        precedent,
        records: model.records(template),
        class,
        stereo_source: template_outcome.stereo_source(product),
        warnings: Warning::of((alone, plausibility), precedent),
    };
    Ok(ForwardProduct { product: molecule.clone(), step })
}
