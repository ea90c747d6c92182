//! Explanation of one step: the templates that propose it, and the outcome of each proposal.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use chem::{Molecule, MoleculeKey, Template};
use reactivity::{ReactionClass, Refusal, describe, surroundings};

use crate::graph::expander::Expansion;
use crate::model::RetroModel;
use crate::model::records::RecordedReactions;
use crate::steps::validate::{ForwardFault, fault};

/// Template that proposes a step.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposedBy {
    /// Events of the step, as text.
    pub events: String,
    /// Kinds of the precursors' atoms with their places ([`surroundings`]).
    pub surroundings: BTreeSet<String>,
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
    let mut wanted: Vec<MoleculeKey> = precursors.iter().map(Molecule::key).collect();
    wanted.sort_unstable();
    let expansion = Expansion::new(product);
    let mut found = Vec::new();
    for template in 0..model.templates() as u32 {
        let may_match = |compiled: &&Template| compiled.may_match(expansion.unlabelled().prepared());
        let Some(compiled) = model.template(template).filter(may_match) else { continue };
        for (outcome, _) in expansion.outcomes_of(compiled) {
            let keys = outcome.precursors.iter().map(|precursor| precursor.molecule.key());
            if !keys.eq(wanted.iter().copied()) {
                continue;
            }
            let fault = match outcome.soundness(&expansion) {
                Err(refusal) => Some(StepFault::Unsound(refusal)),
                Ok(soundness) => {
                    let (molecules, key) = outcome.forward_run(&expansion);
                    fault(compiled, key, &molecules, soundness.certainty).map(StepFault::from)
                }
            };
            found.push(ProposedBy {
                events: outcome.as_step(&expansion, describe),
                surroundings: outcome.as_step(&expansion, surroundings),
                class: outcome.class(&expansion),
                template,
                records: model.records(template),
                plausibility: [
                    outcome.plausibility_alone(&expansion, model),
                    outcome.plausibility(&expansion, model),
                ],
                fault,
            });
        }
    }
    found
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
