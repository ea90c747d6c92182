//! Step validation: checks that a step gives its product and no competing one.
//!
//! The other conditions of a valid route hold by construction: a leaf is only solved by an allowed building block,
//! the graph has no cycles, and extraction counts the steps of every branch. That leaves the step itself. The
//! selectivity rules (the crate `reactivity`) must accept it. Run forwards on its precursors, its template must give
//! the product again, stereo included. If the template gives another product as well, it matches another site. That
//! reaction is checked against the same rules, unless they have compared the sites already; a product that the rules
//! refuse does not compete. Sites that are equivalent by symmetry do not compete either: they give the same product.

use std::time::{Duration, Instant};

use chem::{Molecule, MoleculeKey, Precursor, TautomerKey, Template};
use reactivity::{Certainty, Facts, Step, check};
use tracing::{Span, field::Empty, info_span};

use crate::graph::Graph;
use crate::graph::nodes::{ReactionId, ValidationState};
use crate::model::RetroModel;
use crate::search_result::Refusals;
use crate::steps::assess::{assess, skip_refused};
use crate::steps::temporary::TemporaryAssessment;
use crate::task::Budget;

/// Runs steps forwards, each reaction once. The results are stored in the graph.
pub struct Validator<'a> {
    model: &'a RetroModel,
    budget: &'a Budget,
    /// Deadline after which no step is checked.
    pub deadline: Instant,
    pub refusals: Refusals,
    pub elapsed: Duration,
    /// Trial that reverts the results, if they are temporary.
    pub trial: Option<TemporaryAssessment>,
    /// Tracing span of the validations in the current stage.
    stage: Option<Span>,
}

/// Fault found by running a step forwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForwardFault {
    ProductNotRegained,
    CompetingSite,
}

impl<'a> Validator<'a> {
    pub fn new(model: &'a RetroModel, budget: &'a Budget) -> Self {
        Self {
            model,
            budget,
            deadline: budget.deadline,
            refusals: Refusals::default(),
            elapsed: Duration::ZERO,
            trial: None,
            stage: None,
        }
    }

    /// Ends the span of the validations so far. It lasts from the first validation to this call; its `busy_ns` is the
    /// time that they took.
    pub fn end_stage(&mut self) {
        let Some(stage) = self.stage.take() else { return };
        stage.record("refused_unsound", self.refusals.unsound);
        stage.record("refused_product_not_regained", self.refusals.product_not_regained);
        stage.record("refused_competing_site", self.refusals.competing_site);
    }

    /// Assesses a step that has no assessment yet; returns true if it did so.
    pub fn assess(&mut self, graph: &mut Graph, id: ReactionId) -> bool {
        let is_new = graph.reaction(id).assessment.is_none();
        if is_new {
            self.save_state(graph, id);
            self.refusals.unsound += assess(self.model, graph, id);
        }
        is_new
    }

    /// Returns true if the time for checking steps is over.
    pub fn should_stop(&self) -> bool {
        self.budget.spent_at(self.deadline)
    }

    /// Settles the reaction on its most probable valid proposal and returns true if there is one; `None` if the
    /// budget is spent first.
    pub fn validate(&mut self, graph: &mut Graph, id: ReactionId) -> Option<bool> {
        if graph.reaction(id).validation == ValidationState::Unchecked {
            self.save_state(graph, id);
            let start = self.budget.now();
            let stage = self.stage.get_or_insert_with(stage).clone();
            let checked = stage.in_scope(|| self.check(graph, id));
            self.elapsed += self.budget.now() - start;
            checked?;
            graph.mark_reaction_stale(id);
        }
        Some(graph.reaction(id).validation == ValidationState::Valid)
    }

    fn save_state(&mut self, graph: &Graph, id: ReactionId) {
        if let Some(trial) = &mut self.trial {
            trial.touch(graph, id);
        }
    }

    fn check(&mut self, graph: &mut Graph, id: ReactionId) -> Option<()> {
        self.assess(graph, id);
        let node = graph.reaction(id);
        let product = graph.molecule(node.product);
        let (product_key, expansion) = (product.molecule.key(), product.expansion.clone());
        let molecules = node.precursors.iter().map(|&precursor| graph.molecule(precursor).molecule.clone());
        let written = (molecules.collect::<Vec<_>>(), product_key);
        let templates: Vec<u32> = node.proposals.iter().map(|proposal| proposal.template).collect();
        let first = node.current;
        for (at, &template) in templates.iter().enumerate().skip(first) {
            if self.should_stop() {
                return None;
            }
            self.refusals.unsound += skip_refused(self.model, graph, id);
            if graph.reaction(id).current > at {
                continue;
            }
            let outcome = &graph.reaction(id).proposal().outcome;
            let soundness = expansion.as_ref().and_then(|product| outcome.soundness(product).ok());
            let certainty = soundness.map_or(Certainty::Open, |soundness| soundness.certainty);
            let run = expansion.as_ref().map(|product| outcome.forward_run(product));
            let (precursors, key) = run.as_ref().unwrap_or(&written);
            let compiled = self.model.template(template);
            let fault = compiled.and_then(|template| fault(template, *key, precursors, certainty));
            let node = graph.reaction_mut(id);
            match fault {
                None => {
                    (node.current, node.validation) = (at, ValidationState::Valid);
                    assess(self.model, graph, id);
                    return Some(());
                }
                Some(ForwardFault::ProductNotRegained) => self.refusals.product_not_regained += 1,
                Some(ForwardFault::CompetingSite) => self.refusals.competing_site += 1,
            }
            node.current = at + 1;
        }
        graph.reaction_mut(id).validation = ValidationState::Refused;
        Some(())
    }
}

/// Creates the span of a stage's validations, which alternate with the rest of the stage.
fn stage() -> Span {
    info_span!(
        "search.validation",
        refused_unsound = Empty,
        refused_product_not_regained = Empty,
        refused_competing_site = Empty,
    )
}

/// Returns the fault, if any, of the step that `template` proposes to make the molecule with the key `product`, run
/// forwards.
pub fn fault(
    template: &Template,
    product: MoleculeKey,
    precursors: &[Molecule],
    certainty: Certainty,
) -> Option<ForwardFault> {
    if certainty == Certainty::Decided {
        return (!template.gives(precursors, product)).then_some(ForwardFault::ProductNotRegained);
    }
    let products = template.forward_traced(precursors);
    let Some(regained) = products.iter().find(|other| other.molecule.key() == product) else {
        return Some(ForwardFault::ProductNotRegained);
    };
    // Tautomers of the product count as the product.
    let tautomer = tautomer_key(regained);
    let is_other = |other: &&Precursor| other.molecule.key() != product && tautomer_key(other) != tautomer;
    let mut others = products.iter().filter(is_other).peekable();
    others.peek()?;
    let mixture: Vec<Facts> = precursors.iter().map(Facts::of).collect();
    others.any(|other| is_competing_product(&mixture, other)).then_some(ForwardFault::CompetingSite)
}

fn tautomer_key(product: &Precursor) -> TautomerKey {
    product.molecule.tautomer_key()
}

/// Returns true if the selectivity rules also accept this product of the reaction mixture.
fn is_competing_product(mixture: &[Facts], other: &Precursor) -> bool {
    let atoms: usize = mixture.iter().map(Facts::atoms).sum();
    let mut images = vec![None; atoms];
    for (atom, source) in (0_u32..).zip(other.sources.iter()) {
        if let Some(image) = source.and_then(|source| images.get_mut(source as usize)) {
            *image = Some(atom);
        }
    }
    let mut rest = &images[..];
    let parts = mixture.iter().map(|facts| {
        let (images, after) = rest.split_at(facts.atoms());
        rest = after;
        (facts, images)
    });
    let product = Facts::of(&other.molecule);
    check(&Step::new(parts, &product)).is_ok()
}
