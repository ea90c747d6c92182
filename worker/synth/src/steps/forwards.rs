//! One step forwards: a step that the model knows, run on other molecules than those that it was found with.
//!
//! What comes out is held against all that the steps of routes are: the template, run backwards, makes just these precursors of it, a chemist
//! would sign that, and nothing else is to be expected of the flask. A template may have seen more of its molecules than the reaction needs (the
//! oxygen of a furan beside an acyl chloride); where it does not take others, any that makes the same class of reaction of them may stand for it.

use std::fmt;
use std::sync::Arc;

use chem::{Key, Molecule};
use reactivity::ReactionClass;

use crate::graph::expander::{Expander, Expansion, Found};
use crate::model::RetroModel;
use crate::plan::{Step, Warning};
use crate::steps::explain::StepFault;
use crate::steps::one_step::{Check, standing};
use crate::task::Budget;

/// A step of a route as the model knows it.
#[derive(Debug, Clone)]
pub struct KnownStep {
    template: u32,
    class: ReactionClass,
    /// Which of the route's precursors it takes, in the form in which it takes them, each as often as it does.
    takes: Vec<(usize, Molecule)>,
}

impl KnownStep {
    /// What it takes where some of its precursors have others in their places.
    #[must_use]
    pub fn taking(&self, others: &[Option<&Molecule>]) -> Vec<Molecule> {
        let taken =
            |(which, own): &(usize, Molecule)| others.get(*which).copied().flatten().unwrap_or(own).clone();
        self.takes.iter().map(taken).collect()
    }
}

/// What a step gives.
#[derive(Debug, Clone)]
pub struct Made {
    /// The product.
    pub product: Molecule,
    /// The step, as of a route; its probability is that of its own template alone.
    pub step: Step,
}

/// Why a step gives nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotMade {
    /// Its template makes nothing of these molecules.
    NoReaction,
    /// It makes what does not stand.
    Refused(StepFault),
}

impl fmt::Display for NotMade {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoReaction => formatter.write_str("its reaction does not take these molecules"),
            Self::Refused(fault) => fault.fmt(formatter),
        }
    }
}

/// The step that makes `product` of these precursors, each of which it may take more than once, by the template of this hash; `None` where
/// the model has none that does. A precursor may stand there without the charge with which the step takes it, as it is sold.
pub fn known_step(
    expander: &Expander,
    hash: &str,
    product: &Molecule,
    precursors: &[Molecule],
) -> Option<KnownStep> {
    let template = expander.model().template_called(hash)?;
    let expansion = expander.passing_expansion(product);
    let neutral: Vec<Key> = precursors.iter().map(|precursor| precursor.neutral().key()).collect();
    let place = |taken: &Molecule| {
        let own = precursors.iter().position(|precursor| precursor.key() == taken.key());
        own.or_else(|| neutral.iter().position(|&key| key == taken.neutral().key()))
    };
    let outcomes = expander.model().template(template)?.apply(expansion.prepared());
    outcomes.into_iter().find_map(|outcome| {
        let taken = outcome.precursors.iter().map(|precursor| &precursor.molecule);
        let takes: Vec<_> = taken.map(|taken| Some((place(taken)?, taken.clone()))).collect::<Option<_>>()?;
        let all_are_taken = (0..precursors.len()).all(|which| takes.iter().any(|&(taken, _)| taken == which));
        let class = || Found::new(outcome.precursors).class(&expansion);
        all_are_taken.then(|| KnownStep { template, class: class(), takes })
    })
}

/// What the step gives of these molecules, as many as it takes; `None` where the budget is spent before that is known.
pub fn run(
    expander: &Expander,
    step: &KnownStep,
    precursors: &[Molecule],
    budget: &Budget,
) -> Option<Result<Made, NotMade>> {
    let mut made = run_by(expander, step.template, precursors, budget)?;
    if step.class == ReactionClass::default() {
        return Some(made);
    }
    let mut others = expander.model().templates_for(precursors).into_iter();
    // What its own template makes and does not stand is not to be had by another one.
    while made.as_ref().is_err_and(|why| *why == NotMade::NoReaction)
        && let Some(other) = others.next()
    {
        let by_other = run_by(expander, other, precursors, budget)?;
        if by_other.as_ref().is_ok_and(|made| made.step.class == step.class) {
            made = by_other;
        }
    }
    Some(made)
}

/// What the template makes of the molecules that stands, the most plausible of several.
fn run_by(
    expander: &Expander,
    template: u32,
    precursors: &[Molecule],
    budget: &Budget,
) -> Option<Result<Made, NotMade>> {
    let Some(compiled) = expander.model().template(template) else {
        return Some(Err(NotMade::NoReaction));
    };
    let mut wanted: Vec<Key> = precursors.iter().map(Molecule::key).collect();
    wanted.sort_unstable();
    let mut why = NotMade::NoReaction;
    let mut best: Option<Made> = None;
    for product in compiled.forward_traced(precursors) {
        let expansion = expander.passing_expansion(&product.molecule);
        let (probability, found) = expander.outcomes_of(&expansion, template, &mut || !budget.spent())?;
        let of_these = |found: &&Arc<Found>| {
            found.precursors.iter().map(|precursor| precursor.molecule.key()).eq(wanted.iter().copied())
        };
        let Some(found) = found.iter().find(of_these) else { continue };
        match written(expander.model(), &expansion, (template, probability), found) {
            Ok(made) if best.as_ref().is_none_or(|best| best.step.plausibility < made.step.plausibility) => {
                best = Some(made);
            }
            Ok(_) => {}
            Err(fault) => why = NotMade::Refused(fault),
        }
    }
    Some(best.ok_or(why))
}

fn written(
    model: &RetroModel,
    product: &Expansion,
    (template, probability): (u32, f32),
    found: &Found,
) -> Result<Made, StepFault> {
    let class = standing(model, product, (template, found), Check::Forwards)?;
    let molecule = product.molecule();
    let plausibility = found.plausibility(product, model);
    let alone = found.plausibility_alone(product, model);
    let precedent = model.nearest_precedent(template, &molecule.fingerprint());
    let step = Step {
        template,
        template_hash: model.template_hash(template).to_owned(),
        rank: product.rank_of(template),
        probability: probability * found.share,
        plausibility,
        precedent,
        records: model.records(template),
        class,
        warnings: Warning::of((alone, plausibility), precedent),
    };
    Ok(Made { product: molecule.clone(), step })
}
