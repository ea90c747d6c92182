//! Explanation of one step: the templates that propose it, and the outcome of each proposal.

use std::fmt;
use std::sync::Arc;

use chem::{Molecule, MoleculeKey, Outcome, PreparedMolecule};
use reactivity::{Facts, ReactionClass, Refusal, Step, check, classify, describe};

use crate::model::RetroModel;
use crate::model::plausibility::change;
use crate::model::records::RecordedReactions;
use crate::steps::validate::{ForwardFault, fault};

/// Template that proposes a step.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposedBy {
    /// Events of the step, as text.
    pub events: String,
    /// Reaction class of the step.
    pub class: ReactionClass,
    /// Row of the template in the model's files.
    pub template: u32,
    /// Recorded reactions of the template.
    pub records: Arc<RecordedReactions>,
    /// Probability that the precursors give the product, first regardless of competing products, then beside them; 1
    /// for a model without a plausibility model.
    pub plausibility: [f32; 2],
    /// Fault of the step as the template proposes it; `None` if it is valid.
    pub fault: Option<StepFault>,
}

/// Reason why a proposed step is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepFault {
    /// Refused by the selectivity rules.
    Unsound(Refusal),
    /// The step run forwards does not give its product.
    ProductNotRegained,
    /// The step run forwards gives other products as well.
    CompetingSite,
}

/// Returns every template that makes `product` from exactly these precursors, in the order of the model's rows.
///
/// Tries every matching template, which takes some ten milliseconds.
#[must_use]
pub fn explain(model: &RetroModel, product: &Molecule, precursors: &[Molecule]) -> Vec<ProposedBy> {
    let Ok(canonical) = Molecule::trusted(&product.canonical_smiles()) else { return Vec::new() };
    let mut wanted: Vec<MoleculeKey> = precursors.iter().map(Molecule::key).collect();
    wanted.sort_unstable();
    let prepared = PreparedMolecule::new(&canonical);
    let facts = Facts::of(&canonical);
    let mut found = Vec::new();
    for template in 0..model.templates() as u32 {
        let Some(compiled) = model.template(template).filter(|compiled| compiled.may_match(&prepared)) else {
            continue;
        };
        for outcome in compiled.apply(&prepared) {
            let keys = outcome.precursors.iter().map(|precursor| precursor.molecule.key());
            if !keys.eq(wanted.iter().copied()) {
                continue;
            }
            let mixture: Vec<Facts> =
                outcome.precursors.iter().map(|precursor| Facts::of(&precursor.molecule)).collect();
            let sources = outcome.precursors.iter().map(|precursor| &*precursor.sources);
            let molecules: Vec<Molecule> =
                outcome.precursors.iter().map(|precursor| precursor.molecule.clone()).collect();
            let prochiral = !outcome.made_centres.is_empty();
            let step = Step::new(mixture.iter().zip(sources), &facts).with_prochiral(prochiral);
            let (events, class) = (describe(&step), classify(&step));
            let fault = match check(&step) {
                Err(refusal) => Some(StepFault::Unsound(refusal)),
                Ok(soundness) => {
                    let flat = prochiral.then(|| canonical.without_centres(&outcome.made_centres)).flatten();
                    let key = flat.unwrap_or_else(|| canonical.clone()).key();
                    fault(compiled, key, &molecules, soundness.certainty).map(StepFault::from)
                }
            };
            found.push(ProposedBy {
                events,
                class,
                template,
                records: model.records(template),
                plausibility: plausibility(model, &canonical, &outcome),
                fault,
            });
        }
    }
    found
}

fn plausibility(model: &RetroModel, product: &Molecule, outcome: &Outcome) -> [f32; 2] {
    let change = model.plausibility_model().and_then(|_| change(product, &outcome.precursors));
    change.map_or([1.0; 2], |(mixture, change)| {
        [model.plausibility_alone(&change), model.plausibility(&mixture, &change)]
    })
}

impl From<ForwardFault> for StepFault {
    fn from(fault: ForwardFault) -> Self {
        match fault {
            ForwardFault::ProductNotRegained => Self::ProductNotRegained,
            ForwardFault::CompetingSite => Self::CompetingSite,
        }
    }
}

impl fmt::Display for StepFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsound(refusal) => refusal.fmt(formatter),
            Self::ProductNotRegained => formatter.write_str("run forwards, it does not give its product"),
            Self::CompetingSite => formatter.write_str("run forwards, it gives other products as well"),
        }
    }
}
