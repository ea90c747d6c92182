//! Progress events and early routes of a running search, for its listener.
//!
//! Routes are extracted from the current graph by the code that extracts those of the answer. Each extraction takes a
//! small share of the search's time ([`EventPacing`]) and changes nothing that the search or its answer depends on:
//! what it assesses is taken back at its end ([`TemporaryAssessment`]). So a search with a listener gives the answer
//! that it would have given without one after as many expansions.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;

use crate::events::{EventPacing, Listener, Progress, PublishedRoute, SearchEvent};
use crate::graph::Graph;
use crate::graph::constraint_filter::ConstraintFilter;
use crate::graph::update::SearchBounds;
use crate::model::RetroModel;
use crate::routes::backbone::{BackboneKeys, BackboneTree, PrecursorAtomOrders};
use crate::routes::choices::{RouteChoices, Signature};
use crate::routes::extract::{ExtractionContext, Extractor};
use crate::routes::group::RouteWriter;
use crate::routes::rank::RouteRanker;
use crate::search_result::Route;
use crate::steps::temporary::TemporaryAssessment;
use crate::steps::validate::Validator;
use crate::task::{Budget, Task};
use catalogue::{Block, Stock};

/// Time limit of an extraction pass. A step in progress is finished.
const MAX_EXTRACTION_TIME: Duration = Duration::from_millis(250);
/// Maximum number of routes published per search.
const MAX_PUBLISHED: usize = 200;
/// Maximum number of routes extracted in one pass, including those published before.
const MAX_EXTRACTED: usize = 1000;

/// Publisher of a search's events to its listener.
pub struct SearchEventPublisher<'a> {
    listener: &'a dyn Listener,
    pace: EventPacing,
    model: &'a Arc<RetroModel>,
    stock: &'a dyn Stock,
    task: &'a Task,
    budget: &'a Budget,
    started: Instant,
    ranker: RouteRanker<'a>,
    writer: RouteWriter<'a>,
    keys: BackboneKeys,
    orders: PrecursorAtomOrders,
    trial: TemporaryAssessment,
    published: FxHashSet<Signature>,
    /// Totals of the published routes, ascending.
    totals: Vec<f64>,
    best_cost: Option<f64>,
    deepest: u32,
    /// Time spent in extraction passes.
    spent: Duration,
    next_extraction: Instant,
    next_progress: Instant,
    /// Number of reactions in the graph when all of its routes had last been extracted.
    read: usize,
}

/// Current state of a search.
pub struct SearchSnapshot<'s, 'a> {
    pub graph: &'s mut Graph,
    pub constraint_filter: Option<&'s mut ConstraintFilter<'a>>,
    pub bounds: SearchBounds,
    pub expansions: u64,
    /// Memory limit of an extraction pass in bytes.
    pub room: usize,
    /// True if the search has a route, so that there may be more.
    pub has_route: bool,
}

impl<'a> SearchEventPublisher<'a> {
    /// Creates the publisher of a search that begins now on `graph`.
    pub fn new(
        listener: &'a dyn Listener,
        model: &'a Arc<RetroModel>,
        stock: &'a dyn Stock,
        (task, budget): (&'a Task, &'a Budget),
        graph: &Graph,
    ) -> Self {
        let now = budget.now();
        Self {
            listener,
            pace: listener.pace(),
            model,
            stock,
            task,
            budget,
            started: now,
            ranker: RouteRanker::new(model, stock),
            writer: RouteWriter::new(model, stock, None),
            keys: BackboneKeys::new(&graph.molecule(graph.target()).molecule.canonical_smiles()),
            orders: PrecursorAtomOrders::default(),
            trial: TemporaryAssessment::default(),
            published: FxHashSet::default(),
            totals: Vec::new(),
            best_cost: None,
            deepest: 0,
            spent: Duration::ZERO,
            next_extraction: now,
            next_progress: now,
            read: 0,
        }
    }

    /// Records the depth of a molecule that templates are tried on.
    pub fn record_depth(&mut self, depth: u32) {
        self.deepest = self.deepest.max(depth);
    }

    /// Publishes the route that buys the target.
    pub fn publish_bought(&mut self, graph: &Graph, block: Block) {
        let group = RouteWriter::new(self.model, self.stock, Some(block)).bought_target_group(graph);
        let Some(mut group) = group.filter(|_| self.listener.is_wanted()) else { return };
        if let Some(route) = group.variations.pop().and_then(|mut routes| routes.pop()) {
            self.publish_route(route, group.steps, group.key, group.skeleton);
        }
    }

    /// Publishes a route that the search has found.
    pub fn publish_found(&mut self, graph: &Graph, choices: &RouteChoices) {
        if self.listener.is_wanted() {
            self.publish_choices(graph, choices);
        }
    }

    /// Publishes the progress and the new routes, each when it is due.
    pub fn publish_due(&mut self, search: SearchSnapshot<'_, 'a>) {
        let now = self.budget.now();
        if now >= self.next_progress && self.listener.is_wanted() {
            self.next_progress = now + self.pace.pause;
            self.listener.on_event(SearchEvent::Progress(Progress {
                elapsed: now - self.started,
                expansions: search.expansions,
                molecules: search.graph.molecule_count() as u64,
                depth: self.deepest,
                routes: self.totals.len() as u64,
                best_cost: self.best_cost,
            }));
        }
        let is_due =
            now >= self.next_extraction && search.has_route && search.graph.reaction_count() > self.read;
        let allowed = (now - self.started).mul_f64(self.pace.share).saturating_sub(self.spent);
        if is_due
            && allowed >= self.pace.min_extraction_time
            && self.published.len() < MAX_PUBLISHED
            && self.listener.is_wanted()
        {
            self.publish_new_routes(search, now + allowed.min(MAX_EXTRACTION_TIME));
            let end = self.budget.now();
            self.spent += end - now;
            self.next_extraction = end + self.pace.pause;
        }
    }

    /// Extracts routes from the graph until `deadline` and publishes the new ones.
    fn publish_new_routes(&mut self, search: SearchSnapshot<'_, 'a>, deadline: Instant) {
        let SearchSnapshot { graph, mut constraint_filter, bounds, room, .. } = search;
        let counted = constraint_filter.as_ref().map(|constraint_filter| constraint_filter.counted());
        let mut trial = std::mem::take(&mut self.trial);
        trial.begin(graph);
        let mut validator = Validator::new(self.model, self.budget);
        validator.deadline = deadline.min(self.budget.deadline);
        validator.trial = Some(trial);
        let mut extractor = Extractor::new(graph, self.task.max_depth, bounds.required, room);
        let mut source = ExtractionContext {
            graph,
            validator: &mut validator,
            constraint_filter: constraint_filter.as_deref_mut(),
            dropped: 0,
        };
        for rank in 0..MAX_EXTRACTED {
            let Some(route) = extractor.route(&mut source, rank) else { break };
            if let Ok(choices) = route {
                self.publish_choices(source.graph, &choices);
            }
            if self.published.len() >= MAX_PUBLISHED {
                break;
            }
        }
        if !validator.should_stop() {
            self.read = graph.reaction_count();
        }
        validator.end_stage();
        self.trial = validator.trial.take().unwrap_or_default();
        self.trial.end(graph);
        if let (Some(constraint_filter), Some(counted)) = (constraint_filter, counted) {
            constraint_filter.count_as(counted);
        }
    }

    /// Publishes a route unless it was published before.
    fn publish_choices(&mut self, graph: &Graph, choices: &RouteChoices) {
        if !self.published.insert(choices.signature(graph)) {
            return;
        }
        let total = self.ranker.total(graph, choices) + self.ranker.competitor_penalty(graph, choices);
        let tree = BackboneTree::of(graph, choices, self.keys.atoms(), &mut self.orders);
        let (key, skeleton) = (self.keys.key(&tree), self.keys.skeleton(&tree));
        let route = self.writer.route(graph, choices, total);
        self.publish_route(route, choices.route.longest_branch(), key, skeleton);
    }

    fn publish_route(&mut self, route: Route, steps: u32, key: String, skeleton: String) {
        self.best_cost = Some(self.best_cost.map_or(route.cost, |best| best.min(route.cost)));
        let better = self.totals.partition_point(|&total| total < route.total);
        self.totals.insert(better, route.total);
        let rank = u32::try_from(better + 1).unwrap_or(u32::MAX);
        self.listener.on_event(SearchEvent::Route(Box::new(PublishedRoute {
            route,
            steps,
            key,
            skeleton,
            rank,
        })));
    }
}
