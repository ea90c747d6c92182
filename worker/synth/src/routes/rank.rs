//! The ranking of routes: penalties beside the cost of their steps.
//!
//! The total of a route is the sum of
//! - the costs of its steps: −ln of the template's probability and of the step's plausibility by itself, 0.2 a step;
//! - the loss of plausibility to competing products in the reaction mixtures of its steps, −ln as well;
//! - [`DOUBT_COST`] times the square of ln of the confidence in each step ([`TemplateEvidence`]): a route is no better than
//!   its weakest step;
//! - [`LENGTH_COST`] for each of its steps: the joint probability of many likely steps is overestimated;
//! - [`BRANCH_COST`] for each step of its longest branch: of two routes with as many steps the convergent one is better;
//! - [`MULTICOMPONENT_COST`] for each precursor of a step beyond two: several reactions at once seldom work as proposed;
//! - [`PRECEDENT_COST`] for each step times the dissimilarity of its product to the recorded products of its template;
//! - [`PRICE_COST`] times ln(1 + USD per mole of target / 2,000), over the building blocks.
//!
//! Lower is better. All terms but the first are at least 0. So routes that arrive in order of cost can be re-sorted
//! by total as they come. Competing products cost a millisecond per reaction mixture, so they are computed last, for
//! the routes that all other terms rank first.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use crate::graph::Graph;
use crate::graph::nodes::{Assessment, MoleculeId, Proposal, ReactionId};
use crate::model::RetroModel;
use crate::routes::choices::RouteChoices;
use crate::routes::price::{needs, usd_per_mol};
use crate::search_result::is_doubtful;
use crate::steps::confidence::TemplateEvidence;
use catalogue::Stock;

// The weights of steps, depth and precedents come from a conditional logit on 196 published routes (of the public
// sets of `./ops/bench routes`), with a weight of one for the steps' own costs.
const LENGTH_COST: f64 = 0.3;
const BRANCH_COST: f64 = 0.4;
const PRECEDENT_COST: f64 = 0.8;
// As much as a step and its branch. On 200 published routes, values of 0 and 1 find as many routes among the first
// ten.
const MULTICOMPONENT_COST: f64 = 1.0;
// A chemist rejects a route for one wrong step, however sure the others are. Of the up to three routes that readers judged to each of
// 139 targets, the first by these squares alone is signed for 80, by a total with a weight of 2 for 72. Of 120 published routes (150
// expansions) 42 are among the first ten with a weight of 2, and 40 with 6.
const DOUBT_COST: f64 = 4.0;
const PRICE_COST: f64 = 0.15;
/// USD per mole of target at which price starts to matter: a building block of 200 daltons at 10 USD a gram.
const TYPICAL_PRICE: f64 = 2000.0;
/// Assumed price of a building block of unknown price, USD per gram.
const UNKNOWN_PRICE: f64 = 100.0;

/// Computes the totals of routes.
pub struct RouteRanker<'a> {
    model: &'a RetroModel,
    stock: &'a dyn Stock,
    evidence: FxHashMap<ReactionId, TemplateEvidence>,
}

impl<'a> RouteRanker<'a> {
    pub fn new(model: &'a RetroModel, stock: &'a dyn Stock) -> Self {
        Self { model, stock, evidence: FxHashMap::default() }
    }

    /// Returns the total of a route without competing products; at least its cost.
    pub fn total(&mut self, graph: &Graph, choices: &RouteChoices) -> f64 {
        let steps: f64 = choices
            .made()
            .map(|(product, step)| {
                let evidence = self.evidence(graph, product, step);
                let assessment = graph.reaction(step).assessment;
                let doubt = assessment.map_or(0.0, |it| doubt(evidence, it.plausibility));
                PRECEDENT_COST * f64::from(1.0 - evidence.nearest) + doubt
            })
            .sum();
        let needs = needs(graph, choices);
        let price = usd_per_mol(self.stock, &needs, Some(UNKNOWN_PRICE));
        choices.cost
            + LENGTH_COST * choices.made().count() as f64
            + MULTICOMPONENT_COST * excess_precursors(graph, choices) as f64
            + BRANCH_COST * f64::from(choices.route.longest_branch())
            + steps
            + PRICE_COST * (price.unwrap_or(0.0) / TYPICAL_PRICE).ln_1p()
    }

    /// Returns the penalty for competing products that the total still lacks.
    pub fn competitor_penalty(&mut self, graph: &Graph, choices: &RouteChoices) -> f64 {
        let mut penalty = 0.0;
        for (product, step) in choices.made() {
            let evidence = self.evidence(graph, product, step);
            let Some(product) = &graph.molecule(product).expansion else { continue };
            let found = &graph.reaction(step).proposal().outcome;
            let doubts = |plausibility| Assessment::of(plausibility).doubt() + doubt(evidence, plausibility);
            penalty += doubts(found.plausibility(product, self.model))
                - doubts(found.plausibility_alone(product, self.model));
        }
        penalty
    }

    /// Returns true if a route is doubtful, with competing products.
    pub fn is_doubtful(&mut self, graph: &Graph, choices: &RouteChoices) -> bool {
        let confidence = |(product, step): (MoleculeId, ReactionId)| {
            let evidence = self.evidence(graph, product, step);
            let product = graph.molecule(product).expansion.as_ref()?;
            let plausibility = graph.reaction(step).proposal().outcome.plausibility(product, self.model);
            Some(evidence.confidence(plausibility))
        };
        is_doubtful(choices.made().filter_map(confidence))
    }

    fn evidence(&mut self, graph: &Graph, product: MoleculeId, step: ReactionId) -> TemplateEvidence {
        *self.evidence.entry(step).or_insert_with(|| {
            let (reaction, product) = (graph.reaction(step), graph.molecule(product));
            let Proposal { template, outcome, .. } = reaction.proposal();
            let precedent = self.model.nearest_precedent(*template, &product.unlabelled().fingerprint());
            let surroundings = product.expansion.as_ref().map_or(0.0, |it| outcome.surroundings(it));
            TemplateEvidence::new(self.model, (*template, reaction.probability()), precedent, surroundings)
        })
    }
}

/// Penalty for the doubt of a step of this plausibility.
fn doubt(evidence: TemplateEvidence, plausibility: f32) -> f64 {
    DOUBT_COST * f64::from(evidence.confidence(plausibility)).ln().powi(2)
}

/// Number of precursors beyond two, summed over all steps.
fn excess_precursors(graph: &Graph, choices: &RouteChoices) -> usize {
    let kinds = |step: ReactionId| graph.reaction(step).distinct_precursors().count();
    choices.made().map(|(_, step)| kinds(step).saturating_sub(2)).sum()
}

/// Reordering queue: routes enter in the order of their costs and leave in the order of their totals.
#[derive(Default)]
pub struct ReorderQueue {
    waiting: BinaryHeap<Reverse<RankedRoute>>,
    sequence: usize,
    bytes: usize,
}

/// Route with its total.
#[derive(Debug)]
pub struct RankedRoute {
    pub choices: RouteChoices,
    pub total: f64,
    /// Position among routes of the same total.
    pub place: usize,
    /// True if the total includes competing products.
    is_complete: bool,
}

impl ReorderQueue {
    /// Adds the next route.
    pub fn push(&mut self, choices: RouteChoices, total: f64) {
        self.bytes += choices.bytes();
        self.waiting.push(Reverse(RankedRoute { choices, total, place: self.sequence, is_complete: false }));
        self.sequence += 1;
    }

    /// Returns the queued routes in no order.
    pub fn into_choices(self) -> impl Iterator<Item = RouteChoices> {
        self.waiting.into_iter().map(|Reverse(route)| route.choices)
    }

    /// Approximate memory of the queued routes in bytes.
    pub fn bytes(&self) -> usize {
        self.waiting.capacity() * size_of::<RankedRoute>() + self.bytes
    }

    /// Returns the best route, if no route of cost at least `cost` can be better. `rest` gives the part that is still
    /// missing from a total. It is called once for each route that would be best without it.
    pub fn next(&mut self, cost: f64, mut rest: impl FnMut(&RouteChoices) -> f64) -> Option<RankedRoute> {
        while self.waiting.peek()?.0.total <= cost {
            let Reverse(mut best) = self.waiting.pop()?;
            if best.is_complete {
                self.bytes -= best.choices.bytes();
                return Some(best);
            }
            best.total += rest(&best.choices);
            best.is_complete = true;
            self.waiting.push(Reverse(best));
        }
        None
    }
}

impl RankedRoute {
    /// Wraps a route that is not queued.
    pub fn only(choices: RouteChoices, total: f64) -> Self {
        Self { choices, total, place: 0, is_complete: true }
    }
}

impl Ord for RankedRoute {
    /// Orders by total; of the same total, the earlier route is less.
    fn cmp(&self, other: &Self) -> Ordering {
        self.total.total_cmp(&other.total).then(self.place.cmp(&other.place))
    }
}

impl PartialOrd for RankedRoute {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RankedRoute {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for RankedRoute {}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(cost: f64) -> RouteChoices {
        let target = Graph::new(&"C".parse().unwrap()).target();
        RouteChoices { cost, ..RouteChoices::bought(target) }
    }

    /// Total of the route that leaves the queue, without a penalty for competing products.
    fn next(queue: &mut ReorderQueue, cost: f64) -> Option<f64> {
        queue.next(cost, |_| 0.0).map(|route| route.total)
    }

    #[test]
    fn routes_leave_in_the_order_of_their_totals_and_none_before_it_is_safe() {
        let mut queue = ReorderQueue::default();
        queue.push(choices(1.0), 5.0);
        assert!(next(&mut queue, 1.0).is_none());
        queue.push(choices(2.0), 2.5);
        assert!(next(&mut queue, 2.0).is_none());
        queue.push(choices(3.0), 5.0);
        assert_eq!(next(&mut queue, 3.0), Some(2.5));
        assert!(next(&mut queue, 3.0).is_none());
        let rest: Vec<f64> = std::iter::from_fn(|| queue.next(f64::INFINITY, |_| 0.0))
            .map(|route| route.choices.cost)
            .collect();
        assert_eq!(rest, [1.0, 3.0]);
    }

    #[test]
    fn what_is_added_late_counts_and_is_asked_for_only_at_the_top() {
        let mut queue = ReorderQueue::default();
        for (cost, total) in [(1.0, 1.0), (2.0, 2.0), (3.0, 9.0)] {
            queue.push(choices(cost), total);
        }
        let mut asked = Vec::new();
        let mut next = |bound| {
            queue.next(bound, |choices| {
                asked.push(choices.cost);
                if choices.cost < 1.5 { 4.0 } else { 0.5 }
            })
        };

        let left = [next(3.0), next(3.0), next(6.0)].map(|route| route.map(|route| route.total));

        assert_eq!(left, [Some(2.5), None, Some(5.0)]);
        assert_eq!(asked, [1.0, 2.0]);
    }
}
