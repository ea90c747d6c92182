//! What a running search tells while somebody listens: how far it is, and each validated route soon after it can be read.
//!
//! Routes are read out of the graph as it stands, by the code that reads those of the answer, in looks that take a small part of
//! the search's time at most ([`Pace`]). A look changes nothing that the search or its answer hang on: what it finds out of steps is taken back
//! at its end ([`Trial`]). So a search that is listened to answers what it would have answered after as many expansions.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;

use crate::graph::Graph;
use crate::graph::gate::Gate;
use crate::graph::update::Bounds;
use crate::model::RetroModel;
use crate::news::{FoundRoute, Listener, News, Pace, Progress};
use crate::plan::Route;
use crate::routes::backbone::{Keys, Orders, Tree};
use crate::routes::choices::{Choices, Signature};
use crate::routes::extract::{Extractor, Source};
use crate::routes::group::Writer;
use crate::routes::rank::Ranker;
use crate::steps::trial::Trial;
use crate::steps::validate::Validator;
use crate::task::{Budget, Task};
use catalogue::{Block, Stock};

/// A look takes no more than this, but for what it is in the middle of.
const LONGEST: Duration = Duration::from_millis(250);
/// Routes told of one search.
const MOST_TOLD: usize = 200;
/// Routes read in one look, those among them that were told before.
const MOST_READ: usize = 1000;

/// The search's side of somebody who listens.
pub struct Telling<'a> {
    listener: &'a dyn Listener,
    pace: Pace,
    model: &'a Arc<RetroModel>,
    stock: &'a dyn Stock,
    task: &'a Task,
    budget: &'a Budget,
    started: Instant,
    ranker: Ranker<'a>,
    writer: Writer<'a>,
    keys: Keys,
    orders: Orders,
    trial: Trial,
    told: FxHashSet<Signature>,
    /// Totals of the routes told, ascending.
    totals: Vec<f64>,
    best_cost: Option<f64>,
    deepest: u32,
    /// Time that looks took.
    spent: Duration,
    next_look: Instant,
    next_progress: Instant,
    /// Reactions of the graph when all routes of it had been read.
    read: usize,
}

/// A search as it stands.
pub struct Standing<'s, 'a> {
    pub graph: &'s mut Graph,
    pub gate: Option<&'s mut Gate<'a>>,
    pub bounds: Bounds,
    pub expansions: u64,
    /// Bytes that a look may take.
    pub room: usize,
    /// Whether the search has a route, so that there may be more.
    pub has_route: bool,
}

impl<'a> Telling<'a> {
    /// Of a search that begins now on `graph`.
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
            ranker: Ranker::new(model, stock),
            writer: Writer::new(model, stock, None),
            keys: Keys::new(&graph.molecule(graph.target()).molecule.canonical_smiles()),
            orders: Orders::default(),
            trial: Trial::default(),
            told: FxHashSet::default(),
            totals: Vec::new(),
            best_cost: None,
            deepest: 0,
            spent: Duration::ZERO,
            next_look: now,
            next_progress: now,
            read: 0,
        }
    }

    /// Templates are tried on a molecule of this depth.
    pub fn deepen(&mut self, depth: u32) {
        self.deepest = self.deepest.max(depth);
    }

    /// Tells the route that buys the target.
    pub fn bought(&mut self, graph: &Graph, block: Block) {
        let group = Writer::new(self.model, self.stock, Some(block)).trivial(graph);
        let Some(mut group) = group.filter(|_| self.listener.is_there()) else { return };
        if let Some(route) = group.variations.pop().and_then(|mut routes| routes.pop()) {
            self.hear(route, group.steps, group.key, group.skeleton);
        }
    }

    /// Tells a route that the search has found.
    pub fn found(&mut self, graph: &Graph, choices: &Choices) {
        if self.listener.is_there() {
            self.tell(graph, choices);
        }
    }

    /// Tells how far the search is, and what routes there are, when it is time for either.
    pub fn tell_more(&mut self, search: Standing<'_, 'a>) {
        let now = self.budget.now();
        if now >= self.next_progress && self.listener.is_there() {
            self.next_progress = now + self.pace.pause;
            self.listener.hear(News::Progress(Progress {
                elapsed: now - self.started,
                expansions: search.expansions,
                molecules: search.graph.molecules() as u64,
                depth: self.deepest,
                routes: self.totals.len() as u64,
                best_cost: self.best_cost,
            }));
        }
        let is_due = now >= self.next_look && search.has_route && search.graph.reactions() > self.read;
        let allowed = (now - self.started).mul_f64(self.pace.share).saturating_sub(self.spent);
        if is_due
            && allowed >= self.pace.shortest_look
            && self.told.len() < MOST_TOLD
            && self.listener.is_there()
        {
            self.look(search, now + allowed.min(LONGEST));
            let end = self.budget.now();
            self.spent += end - now;
            self.next_look = end + self.pace.pause;
        }
    }

    /// Reads routes out of the graph until `deadline`, and tells those that are new.
    fn look(&mut self, search: Standing<'_, 'a>, deadline: Instant) {
        let Standing { graph, mut gate, bounds, room, .. } = search;
        let counted = gate.as_ref().map(|gate| gate.counted());
        let mut trial = std::mem::take(&mut self.trial);
        trial.begin(graph);
        let mut validator = Validator::new(self.model, self.budget);
        validator.deadline = deadline.min(self.budget.deadline);
        validator.trial = Some(trial);
        let mut extractor = Extractor::new(graph, self.task.max_depth, bounds.required, room);
        let mut source = Source { graph, validator: &mut validator, gate: gate.as_deref_mut(), dropped: 0 };
        for rank in 0..MOST_READ {
            let Some(route) = extractor.route(&mut source, rank) else { break };
            if let Ok(choices) = route {
                self.tell(source.graph, &choices);
            }
            if self.told.len() >= MOST_TOLD {
                break;
            }
        }
        if !validator.interrupted() {
            self.read = graph.reactions();
        }
        validator.end_stage();
        self.trial = validator.trial.take().unwrap_or_default();
        self.trial.end(graph);
        if let (Some(gate), Some(counted)) = (gate, counted) {
            gate.count_as(counted);
        }
    }

    /// Tells a route unless it was told before.
    fn tell(&mut self, graph: &Graph, choices: &Choices) {
        if !self.told.insert(choices.signature(graph)) {
            return;
        }
        let total = self.ranker.total(graph, choices) + self.ranker.rivals(graph, choices);
        let tree = Tree::of(graph, choices, self.keys.atoms(), &mut self.orders);
        let (key, skeleton) = (self.keys.key(&tree), self.keys.skeleton(&tree));
        let route = self.writer.route(graph, choices, total);
        self.hear(route, choices.route.longest_branch(), key, skeleton);
    }

    fn hear(&mut self, route: Route, steps: u32, key: String, skeleton: String) {
        self.best_cost = Some(self.best_cost.map_or(route.cost, |best| best.min(route.cost)));
        let better = self.totals.partition_point(|&total| total < route.total);
        self.totals.insert(better, route.total);
        let rank = u32::try_from(better + 1).unwrap_or(u32::MAX);
        self.listener.hear(News::Route(Box::new(FoundRoute { route, steps, key, skeleton, rank })));
    }
}
