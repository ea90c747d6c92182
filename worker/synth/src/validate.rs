//! Whether a step would give its product, and nothing else.
//!
//! The other rungs of the ladder hold by construction: a leaf is only solved by an allowed building block, the
//! graph has no cycles, and extraction counts the steps of every branch. What is left is the step itself: run
//! forwards on its precursors, its template must give the product again, stereo included, and must not give
//! another product, which would mean that it hits a competing site that nothing in the template tells apart.
//! Sites that are equivalent by symmetry give the same product and compete with nothing. Before that the
//! [feasibility filter](crate::feasibility) refuses what it holds for impossible.

use std::time::{Duration, Instant};

use chem::{Key, Molecule};

use crate::assess::Assessor;
use crate::graph::{Graph, ReactionId, Verdict};
use crate::model::RetroModel;
use crate::plan::Refusals;
use crate::task::Budget;

/// Runs steps forwards, each reaction once; the verdicts live in the graph.
pub struct Validator<'a> {
    model: &'a RetroModel,
    budget: &'a Budget,
    pub refusals: Refusals,
    pub elapsed: Duration,
    assessor: Assessor<'a>,
}

/// Why a proposal is refused.
enum Refusal {
    ProductNotRegained,
    CompetingSite,
}

impl<'a> Validator<'a> {
    pub fn new(model: &'a RetroModel, budget: &'a Budget) -> Self {
        Self {
            model,
            budget,
            refusals: Refusals::default(),
            elapsed: Duration::ZERO,
            assessor: Assessor::new(model),
        }
    }

    /// Assesses a step, if nobody has: true if nobody had.
    pub fn assess(&mut self, graph: &mut Graph, id: ReactionId) -> bool {
        let is_new = graph.reaction(id).assessment.is_none();
        if is_new {
            self.assessor.assess(graph, id);
        }
        is_new
    }

    /// Whether the search's time is over.
    pub fn interrupted(&self) -> bool {
        self.budget.spent()
    }

    /// Settles the reaction on its most probable proposal that stands, and says whether there is one. `None`
    /// when the budget is spent before that is known.
    pub fn settle(&mut self, graph: &mut Graph, id: ReactionId) -> Option<bool> {
        if graph.reaction(id).verdict == Verdict::Unchecked {
            let start = Instant::now();
            let settled = self.check(graph, id);
            self.elapsed += start.elapsed();
            settled?;
            graph.mark_reaction(id);
        }
        Some(graph.reaction(id).verdict == Verdict::Valid)
    }

    fn check(&mut self, graph: &mut Graph, id: ReactionId) -> Option<()> {
        self.assess(graph, id);
        let node = graph.reaction(id);
        if node.assessment.is_some_and(|assessment| self.model.refuses(assessment.feasibility)) {
            self.refusals.infeasible += (node.proposals.len() - node.current) as u64;
            let node = graph.reaction_mut(id);
            (node.current, node.verdict) = (node.proposals.len(), Verdict::Refused);
            return Some(());
        }
        let product = graph.molecule(node.product).molecule.key();
        let precursors: Vec<Molecule> =
            node.precursors.iter().map(|&precursor| graph.molecule(precursor).molecule.clone()).collect();
        let templates: Vec<u32> = node.proposals.iter().map(|proposal| proposal.template).collect();
        for (at, &template) in templates.iter().enumerate().skip(node.current) {
            if self.budget.spent() {
                return None;
            }
            let fault = self.fault(template, product, &precursors);
            let node = graph.reaction_mut(id);
            match fault {
                None => {
                    (node.current, node.verdict) = (at, Verdict::Valid);
                    return Some(());
                }
                Some(Refusal::ProductNotRegained) => self.refusals.product_not_regained += 1,
                Some(Refusal::CompetingSite) => self.refusals.competing_site += 1,
            }
            node.current = at + 1;
        }
        graph.reaction_mut(id).verdict = Verdict::Refused;
        Some(())
    }

    fn fault(&self, template: u32, product: Key, precursors: &[Molecule]) -> Option<Refusal> {
        let products = self.model.template(template)?.forward_molecules(precursors);
        if !products.iter().any(|other| other.key() == product) {
            Some(Refusal::ProductNotRegained)
        } else if products.len() > 1 {
            Some(Refusal::CompetingSite)
        } else {
            None
        }
    }
}
