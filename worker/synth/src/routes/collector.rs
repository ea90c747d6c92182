//! The best routes of a grown graph: extracted cheapest first, ranked, grouped and written.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;
use std::time::Instant;

use rustc_hash::FxHashSet;

use crate::cores::CoreShare;
use crate::graph::Graph;
use crate::graph::expander::{Expansion, TemplateOutcome};
use crate::graph::nodes::ReactionId;
use crate::model::RetroModel;
use crate::routes::choices::{DropReason, RouteChoices, Signature};
use crate::routes::extract::{ExtractionContext, Extractor};
use crate::routes::group::{GroupCollector, RouteWriter};
use crate::routes::rank::{RankedRoute, ReorderQueue, RouteRanker};
use crate::search_result::{BackboneGroup, Counts};
use crate::task::{Budget, Task};
use catalogue::{Block, Stock};

/// Number of routes extracted from the graph for each that may be returned.
const CANDIDATES_PER_ROUTE: usize = 20;
/// Fraction of the extraction time in which routes are extracted. The rest is for ranking and writing them.
const EXTRACTION_TIME_FRACTION: f64 = 0.5;

/// Collector of the routes of a search's answer.
pub struct RouteCollector<'a> {
    task: &'a Task,
    memory: usize,
    /// Peak memory of the graph, the extraction and the routes.
    peak_bytes: usize,
    budget: &'a Budget,
    ranker: RouteRanker<'a>,
    groups: GroupCollector<'a>,
    writer: RouteWriter<'a>,
    prefetch: CompetitorPrefetch<'a>,
    /// Routes of earlier extractions. They stay valid while the graph grows.
    known: Vec<RouteChoices>,
    /// Approximate memory of `known`.
    known_bytes: usize,
    /// Number of inconsistent candidates of the last extraction.
    inconsistent: u64,
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
            peak_bytes: 0,
            budget,
            ranker: RouteRanker::new(model, stock),
            groups: GroupCollector::new(graph, task),
            writer: RouteWriter::new(model, stock, target_block),
            prefetch: CompetitorPrefetch::new(model, budget),
            known: Vec::new(),
            known_bytes: 0,
            inconsistent: 0,
        }
    }

    /// Extracts routes until no more fit into the answer or `deadline` is near, and ranks them with those of earlier
    /// extractions from the same graph. Helper threads compute competing products.
    pub fn extract(
        &mut self,
        source: &mut ExtractionContext<'_, '_>,
        deadline: Instant,
        core_share: &CoreShare<'_>,
        counts: &mut Counts,
    ) {
        let now = self.budget.now();
        let time = deadline.saturating_duration_since(now);
        source.validator.deadline = now + time.mul_f64(EXTRACTION_TIME_FRACTION);
        let max_routes = self.task.max_groups.saturating_mul(self.task.max_group_size);
        let max_candidates = max_routes.saturating_mul(CANDIDATES_PER_ROUTE).clamp(100, 20_000);
        let free_bytes = self.memory.saturating_sub(source.graph.bytes());
        let required =
            source.constraint_filter.as_ref().map_or(0, |constraint_filter| constraint_filter.required());
        let mut extractor = Extractor::new(source.graph, self.task.max_depth, required, free_bytes / 2);
        let mut queue = ReorderQueue::default();
        let earlier = mem::replace(&mut self.groups, GroupCollector::new(source.graph, self.task));
        let known: FxHashSet<Signature> =
            self.known.iter().map(|choices| choices.signature(source.graph)).collect();
        self.known_bytes = 0;
        for choices in self.known.drain(..) {
            let total = self.ranker.total(source.graph, &choices);
            queue.push(choices, total);
        }
        let mut inconsistent: u64 = 0;
        let mut can_add_more = true;
        for rank in 0..max_candidates {
            let bytes_in_use = source.graph.bytes()
                + extractor.bytes()
                + queue.bytes()
                + self.known_bytes
                + self.groups.bytes();
            self.peak_bytes = self.peak_bytes.max(bytes_in_use);
            if bytes_in_use >= self.memory {
                break;
            }
            let Some(route) = extractor.route(source, rank) else { break };
            let choices = match route {
                Ok(choices) => choices,
                Err(DropReason::Inconsistent) => {
                    inconsistent += 1;
                    continue;
                }
                Err(DropReason::Unwanted | DropReason::Known) => continue,
            };
            if !known.is_empty() && known.contains(&choices.signature(source.graph)) {
                continue;
            }
            counts.validated_routes += 1;
            let cost = choices.cost;
            let total = self.ranker.total(source.graph, &choices);
            self.prefetch.prefetch(source.graph, &choices, core_share);
            queue.push(choices, total);
            can_add_more = self.add_ranked(source.graph, &mut queue, cost);
            if !can_add_more {
                break;
            }
        }
        if can_add_more {
            drop(extractor);
            self.add_ranked(source.graph, &mut queue, f64::INFINITY);
        }
        self.known.extend(queue.into_choices());
        if self.budget.spent() && earlier.answer_bytes() > self.groups.answer_bytes() {
            self.groups = earlier;
        }
        // A later extraction meets the same inconsistent candidates again.
        let new = inconsistent.saturating_sub(self.inconsistent);
        counts.unvalidated_routes += new;
        counts.refusals.inconsistent += new;
        self.inconsistent += new;
    }

    /// Adds the queued routes that no route of cost at least `cost` can beat, while there is time. The first route is
    /// added even without time. Returns false once no further route can be added.
    fn add_ranked(&mut self, graph: &Graph, queue: &mut ReorderQueue, cost: f64) -> bool {
        let Self { budget, ranker, groups, writer, memory, known, known_bytes, .. } = self;
        let mut competitor_penalty = |choices: &RouteChoices| {
            if budget.spent() { 0.0 } else { ranker.competitor_penalty(graph, choices) }
        };
        while (groups.is_empty() || !budget.spent() && groups.answer_bytes() < *memory)
            && let Some(route) = queue.next(cost, &mut competitor_penalty)
        {
            let has_room = groups.push(graph, &route, writer);
            *known_bytes += route.choices.bytes();
            known.push(route.choices);
            if !has_room {
                return false;
            }
        }
        true
    }

    /// Adds this route.
    pub fn add(&mut self, graph: &Graph, choices: RouteChoices) {
        let total = self.ranker.total(graph, &choices) + self.ranker.competitor_penalty(graph, &choices);
        self.groups.push(graph, &RankedRoute::only(choices, total), &mut self.writer);
    }

    /// Number of groups so far.
    pub fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// Returns true if no route has been added.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Approximate peak memory of the extraction and the graph, in bytes.
    pub fn peak_bytes(&self) -> usize {
        self.peak_bytes
    }

    /// Returns the groups; that of the bought target comes first.
    pub fn finish(mut self, graph: &Graph) -> Vec<BackboneGroup> {
        let mut written: Vec<_> = self.writer.bought_target_group(graph).into_iter().collect();
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
    enqueued: FxHashSet<ReactionId>,
    pending: VecDeque<(Arc<Expansion>, Arc<TemplateOutcome>)>,
    /// Counter by reference count: every busy helper holds a clone.
    active_helpers: Arc<()>,
}

impl<'a> CompetitorPrefetch<'a> {
    fn new(model: &'a Arc<RetroModel>, budget: &'a Budget) -> Self {
        Self {
            model,
            budget,
            enqueued: FxHashSet::default(),
            pending: VecDeque::new(),
            active_helpers: Arc::default(),
        }
    }

    fn prefetch(&mut self, graph: &Graph, choices: &RouteChoices, core_share: &CoreShare<'_>) {
        let helpers = core_share.helpers();
        if helpers == 0 {
            return;
        }
        for (product, step) in choices.made() {
            if self.enqueued.insert(step)
                && let Some(product) = &graph.molecule(product).expansion
            {
                self.pending
                    .push_back((Arc::clone(product), Arc::clone(&graph.reaction(step).proposal().outcome)));
            }
        }
        while Arc::strong_count(&self.active_helpers) <= helpers
            && let Some((product, outcome)) = self.pending.pop_front()
        {
            let (model, budget, helper_guard) =
                (Arc::clone(self.model), self.budget.clone(), Arc::clone(&self.active_helpers));
            core_share.submit(move || {
                if !budget.needs_no_help(budget.deadline) {
                    outcome.plausibility(&product, &model);
                }
                drop(helper_guard);
            });
        }
    }
}
