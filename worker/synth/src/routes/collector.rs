//! The best routes of a grown graph: extracted cheapest first, ranked, grouped and written.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::cores::CoreShare;
use crate::graph::Graph;
use crate::graph::expander::{Expansion, TemplateOutcome};
use crate::graph::nodes::ReactionId;
use crate::model::RetroModel;
use crate::routes::choices::{DropReason, RouteChoices};
use crate::routes::extract::{ExtractionContext, Extractor};
use crate::routes::group::{GroupCollector, RouteWriter};
use crate::routes::rank::{RankedRoute, Ranker, ReorderQueue};
use crate::search_result::{BackboneGroup, Counts};
use crate::task::{Budget, Task};
use catalogue::{Block, Stock};

/// Number of routes extracted from the graph for each that may be returned.
const CANDIDATES_PER_PLACE: usize = 20;
/// Fraction of the extraction time in which routes are extracted. The rest is for ranking and writing them.
const TAKING_OUT: f64 = 0.5;

/// Collector of the routes of a search's answer.
pub struct RouteCollector<'a> {
    task: &'a Task,
    memory: usize,
    /// Peak memory in bytes.
    taken: usize,
    budget: &'a Budget,
    ranker: Ranker<'a>,
    groups: GroupCollector<'a>,
    writer: RouteWriter<'a>,
    ahead: CompetitorPrefetch<'a>,
}

impl<'a> RouteCollector<'a> {
    /// Starts with only the route that buys the target, if `target_block` is given. Graph, routes and extraction
    /// together have `memory` bytes. The answer has as many once the graph is dropped.
    pub fn new(
        model: &'a Arc<RetroModel>,
        stock: &'a dyn Stock,
        task: &'a Task,
        budget: &'a Budget,
        graph: &Graph,
        memory: usize,
        target_block: Option<Block>,
    ) -> Self {
        Self {
            task,
            memory,
            taken: graph.bytes(),
            budget,
            ranker: Ranker::new(model, stock),
            groups: GroupCollector::new(graph, task),
            writer: RouteWriter::new(model, stock, target_block),
            ahead: CompetitorPrefetch::new(model, budget),
        }
    }

    /// Extracts routes until no more fit into the answer or the time is over. Helper threads compute competing
    /// products.
    pub fn all(&mut self, source: &mut ExtractionContext<'_, '_>, seat: &CoreShare<'_>, counts: &mut Counts) {
        let now = self.budget.now();
        let time = self.budget.deadline.saturating_duration_since(now);
        source.validator.deadline = now + time.mul_f64(TAKING_OUT);
        let places = self.task.max_groups.saturating_mul(self.task.max_group_size);
        let most = places.saturating_mul(CANDIDATES_PER_PLACE).clamp(100, 20_000);
        let room = self.memory.saturating_sub(source.graph.bytes());
        let must = source.gate.as_ref().map_or(0, |gate| gate.required());
        let mut extractor = Extractor::new(source.graph, self.task.max_depth, must, room / 2);
        let mut queue = ReorderQueue::default();
        let mut places_left = true;
        for rank in 0..most {
            let taken = source.graph.bytes() + extractor.bytes() + queue.bytes() + self.groups.bytes();
            self.taken = self.taken.max(taken);
            if taken >= self.memory {
                break;
            }
            let Some(route) = extractor.route(source, rank) else { break };
            let choices = match route {
                Ok(choices) => choices,
                Err(DropReason::Inconsistent) => {
                    counts.unvalidated_routes += 1;
                    counts.refusals.inconsistent += 1;
                    continue;
                }
                Err(DropReason::Unwanted | DropReason::Known) => continue,
            };
            counts.validated_routes += 1;
            let cost = choices.cost;
            let total = self.ranker.total(source.graph, &choices);
            self.ahead.look(source.graph, &choices, seat);
            queue.push(choices, total);
            places_left = self.sort_in(source.graph, &mut queue, cost);
            if !places_left {
                break;
            }
        }
        if places_left {
            drop(extractor);
            self.sort_in(source.graph, &mut queue, f64::INFINITY);
        }
    }

    /// Adds the queued routes that no route of cost at least `cost` can beat, while there is time. The first route is
    /// added even without time. Returns false once no further route can be added.
    fn sort_in(&mut self, graph: &Graph, queue: &mut ReorderQueue, cost: f64) -> bool {
        let Self { budget, ranker, groups, writer, memory, .. } = self;
        let rivals =
            |choices: &RouteChoices| if budget.spent() { 0.0 } else { ranker.rivals(graph, choices) };
        while (groups.is_empty() || !budget.spent() && groups.answer_bytes() < *memory)
            && let Some(route) = queue.next(cost, rivals)
        {
            if !groups.push(graph, &route, writer) {
                return false;
            }
        }
        true
    }

    /// Adds this route.
    pub fn one(&mut self, graph: &Graph, choices: RouteChoices) {
        let total = self.ranker.total(graph, &choices) + self.ranker.rivals(graph, &choices);
        self.groups.push(graph, &RankedRoute::only(choices, total), &mut self.writer);
    }

    /// Returns true if no route has been added.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Approximate peak memory of the extraction and the graph, in bytes.
    pub fn bytes(&self) -> usize {
        self.taken
    }

    /// Returns the groups; that of the bought target comes first.
    pub fn finish(mut self, graph: &Graph) -> Vec<BackboneGroup> {
        let mut written: Vec<_> = self.writer.trivial(graph).into_iter().collect();
        written.extend(self.groups.finish());
        written.truncate(self.task.max_groups);
        written
    }
}

/// Precomputes, on helper threads, the competing products of candidate routes' steps. The result depends only on the
/// step, whichever thread computes it.
struct CompetitorPrefetch<'a> {
    model: &'a Arc<RetroModel>,
    budget: &'a Budget,
    known: FxHashSet<ReactionId>,
    waiting: VecDeque<(Arc<Expansion>, Arc<TemplateOutcome>)>,
    /// Counter by reference count: every busy helper holds a clone.
    at_work: Arc<()>,
}

impl<'a> CompetitorPrefetch<'a> {
    fn new(model: &'a Arc<RetroModel>, budget: &'a Budget) -> Self {
        Self { model, budget, known: FxHashSet::default(), waiting: VecDeque::new(), at_work: Arc::default() }
    }

    fn look(&mut self, graph: &Graph, choices: &RouteChoices, seat: &CoreShare<'_>) {
        let helpers = seat.helpers();
        if helpers == 0 {
            return;
        }
        for (product, step) in choices.made() {
            if self.known.insert(step)
                && let Some(product) = &graph.molecule(product).expansion
            {
                self.waiting
                    .push_back((Arc::clone(product), Arc::clone(&graph.reaction(step).proposal().found)));
            }
        }
        while Arc::strong_count(&self.at_work) <= helpers
            && let Some((product, found)) = self.waiting.pop_front()
        {
            let (model, budget, at_work) =
                (Arc::clone(self.model), self.budget.clone(), Arc::clone(&self.at_work));
            seat.help(move || {
                if !budget.needs_no_help(budget.deadline) {
                    found.plausibility(&product, &model);
                }
                drop(at_work);
            });
        }
    }
}
