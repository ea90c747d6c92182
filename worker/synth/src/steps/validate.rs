//! Whether a step would give its product, and nothing else.
//!
//! The other rungs of the ladder hold by construction: a leaf is only solved by an allowed building block, the
//! graph has no cycles, and extraction counts the steps of every branch. What is left is the step itself: a chemist
//! would sign it (the crate `reactivity`), and run forwards on its precursors, its template gives the product again,
//! stereo included. Where the template gives another product as well, which means that it hits another site, that
//! reaction is held against the same rules, unless those have compared the sites already: what a chemist would not expect
//! competes with nothing. Nor do sites that are equivalent by symmetry: they give the same product.

use std::time::{Duration, Instant};

use chem::{Key, Molecule, Precursor, TautomerKey, Template};
use reactivity::{Certainty, Facts, Step, judge};
use tracing::{Span, field::Empty, info_span};

use crate::graph::Graph;
use crate::graph::nodes::{ReactionId, Verdict};
use crate::model::RetroModel;
use crate::plan::Refusals;
use crate::steps::assess::{assess, skip_unsound};
use crate::steps::trial::Trial;
use crate::task::Budget;

/// Runs steps forwards, each reaction once; the verdicts live in the graph.
pub struct Validator<'a> {
    model: &'a RetroModel,
    budget: &'a Budget,
    /// Nothing is looked at after this.
    pub deadline: Instant,
    pub refusals: Refusals,
    pub elapsed: Duration,
    /// Where what is found out is to be taken back.
    pub trial: Option<Trial>,
    /// The span of the validations of the stage that is under way.
    stage: Option<Span>,
}

/// What running a step forwards finds wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
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

    /// Ends the span of the validations so far: from the first to here, its `busy_ns` what they took.
    pub fn end_stage(&mut self) {
        let Some(stage) = self.stage.take() else { return };
        stage.record("refused_unsound", self.refusals.unsound);
        stage.record("refused_product_not_regained", self.refusals.product_not_regained);
        stage.record("refused_competing_site", self.refusals.competing_site);
    }

    /// Assesses a step, if nobody has: true if nobody had.
    pub fn assess(&mut self, graph: &mut Graph, id: ReactionId) -> bool {
        let is_new = graph.reaction(id).assessment.is_none();
        if is_new {
            self.touch(graph, id);
            self.refusals.unsound += assess(self.model, graph, id);
        }
        is_new
    }

    /// Whether the time for looking at steps is over.
    pub fn interrupted(&self) -> bool {
        self.budget.spent_at(self.deadline)
    }

    /// Settles the reaction on its most probable proposal that stands, and says whether there is one. `None`
    /// when the budget is spent before that is known.
    pub fn settle(&mut self, graph: &mut Graph, id: ReactionId) -> Option<bool> {
        if graph.reaction(id).verdict == Verdict::Unchecked {
            self.touch(graph, id);
            let start = self.budget.now();
            let stage = self.stage.get_or_insert_with(stage).clone();
            let settled = stage.in_scope(|| self.check(graph, id));
            self.elapsed += self.budget.now() - start;
            settled?;
            graph.mark_reaction(id);
        }
        Some(graph.reaction(id).verdict == Verdict::Valid)
    }

    fn touch(&mut self, graph: &Graph, id: ReactionId) {
        if let Some(trial) = &mut self.trial {
            trial.touch(graph, id);
        }
    }

    fn check(&mut self, graph: &mut Graph, id: ReactionId) -> Option<()> {
        self.assess(graph, id);
        self.refusals.unsound += skip_unsound(graph, id);
        let node = graph.reaction(id);
        let product = graph.molecule(node.product).molecule.key();
        let precursors: Vec<Molecule> =
            node.precursors.iter().map(|&precursor| graph.molecule(precursor).molecule.clone()).collect();
        let templates: Vec<u32> = node.proposals.iter().map(|proposal| proposal.template).collect();
        let first = node.current;
        for (at, &template) in templates.iter().enumerate().skip(first) {
            if self.interrupted() {
                return None;
            }
            if graph.reaction(id).current < at {
                self.refusals.unsound += skip_unsound(graph, id);
            }
            if graph.reaction(id).current > at {
                continue;
            }
            let certainty = soundness(graph, id);
            let compiled = self.model.template(template);
            let fault = compiled.and_then(|template| fault(template, product, &precursors, certainty));
            let node = graph.reaction_mut(id);
            match fault {
                None => {
                    (node.current, node.verdict) = (at, Verdict::Valid);
                    assess(self.model, graph, id);
                    return Some(());
                }
                Some(Fault::ProductNotRegained) => self.refusals.product_not_regained += 1,
                Some(Fault::CompetingSite) => self.refusals.competing_site += 1,
            }
            node.current = at + 1;
        }
        graph.reaction_mut(id).verdict = Verdict::Refused;
        Some(())
    }
}

/// The span of a stage's validations, which take turns with the rest of the stage.
fn stage() -> Span {
    info_span!(
        "search.validation",
        refused_unsound = Empty,
        refused_product_not_regained = Empty,
        refused_competing_site = Empty,
    )
}

/// What the rules know of the proposal that stands for a reaction.
fn soundness(graph: &Graph, id: ReactionId) -> Certainty {
    let reaction = graph.reaction(id);
    let product = graph.molecule(reaction.product).expansion.as_ref();
    product.and_then(|product| reaction.proposal().found.soundness(product).ok()).unwrap_or(Certainty::Open)
}

/// What is wrong with the step that `template` proposes to make `product`, run forwards.
pub fn fault(
    template: &Template,
    product: Key,
    precursors: &[Molecule],
    certainty: Certainty,
) -> Option<Fault> {
    if certainty == Certainty::Decided {
        return (!template.gives(precursors, product)).then_some(Fault::ProductNotRegained);
    }
    let products = template.forward_traced(precursors);
    let Some(regained) = products.iter().find(|other| other.molecule.key() == product) else {
        return Some(Fault::ProductNotRegained);
    };
    // A tautomer of the product is the product.
    let tautomer = tautomer_key(regained);
    let is_other = |other: &&Precursor| other.molecule.key() != product && tautomer_key(other) != tautomer;
    let mut others = products.iter().filter(is_other).peekable();
    others.peek()?;
    let flask: Vec<Facts> = precursors.iter().map(Facts::of).collect();
    others.any(|other| competes(&flask, other)).then_some(Fault::CompetingSite)
}

fn tautomer_key(product: &Precursor) -> TautomerKey {
    product.molecule.tautomer_key()
}

/// Whether a chemist would expect this product of the flask as well.
fn competes(flask: &[Facts], other: &Precursor) -> bool {
    let atoms: usize = flask.iter().map(Facts::atoms).sum();
    let mut images = vec![None; atoms];
    for (atom, source) in (0_u32..).zip(other.sources.iter()) {
        if let Some(image) = source.and_then(|source| images.get_mut(source as usize)) {
            *image = Some(atom);
        }
    }
    let mut rest = &images[..];
    let parts = flask.iter().map(|facts| {
        let (images, after) = rest.split_at(facts.atoms());
        rest = after;
        (facts, images)
    });
    let product = Facts::of(&other.molecule);
    judge(&Step::new(parts, &product)).is_ok()
}
