//! One search: grows the graph until the budget is spent, then extracts the routes.
//!
//! The [algorithm] chooses the molecule to expand next. Only this thread touches the graph. Where cores are free,
//! helpers only warm up the shared [expansions](crate::graph::expander) of molecules that are about to be chosen
//! anyway. What a search links does not depend on who computed it.
//!
//! This folder is the top of the crate. It holds the choice of the next molecule, the state that all searches of a
//! process share ([`planner`]), the search for the constraint that prevents a route ([`constrained`]), progress
//! events ([`telling`]), and the search itself, which grows the graph and has [routes](crate::routes) extracted from
//! it.

pub mod algorithm;
pub mod batch;
mod constrained;
mod dead_ends;
pub mod entry;
mod helpers;
pub mod planner;
mod publisher;

use std::cell::OnceCell;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use chem::Molecule;
use tracing::{field::Empty, info_span};

use crate::events::Listener;
use crate::graph::Graph;
use crate::graph::constraint_filter::{Application, ConstraintFilter};
use crate::graph::expander::{Expansion, TemplateOutcome};
use crate::graph::nodes::{MoleculeId, ReactionId, UNSOLVED, step_cost};
use crate::graph::update::{SearchBounds, propagate};
use crate::routes::choices::RouteChoices;
use crate::routes::collector::RouteCollector;
use crate::routes::extract::{ExtractionContext, Extractor};
use crate::search::algorithm::SelectionStrategy;
use crate::search::dead_ends::stopped_by;
use crate::search::helpers::Help;
use crate::search::planner::Planner;
use crate::search::publisher::{EventPublisher, SearchState};
use crate::search_result::{Counts, Refusals, SearchResult, Timings};
use crate::steps::validate::Validator;
use crate::task::{Budget, Stop, TargetPurchase, Task};
use catalogue::{Block, Stock};

/// Fraction of the time that a search for many routes reserves for extracting them from the graph. Of 25 published
/// routes, a search of 4 s has 15 in its answer with half of its time reserved, and 9 with 0.35. With all the time
/// that extraction takes after 1,500 expansions, it also has 15.
const EXTRACTION_SHARE: f64 = 0.5;
/// Upper limit of the reserved time.
const MAX_EXTRACTION: Duration = Duration::from_millis(2500);
/// Maximum number of routes that make a molecule in two ways, skipped in search of the first route.
const MAX_INCONSISTENT: usize = 100;
/// Maximum number of derivations refused by constraints, skipped in search of the first route while the search
/// continues.
const MAX_CONSTRAINT_REFUSALS: usize = 1000;
/// Fraction of the expansions so far, as a divisor, that a search waits for before it tries again to extract a route
/// that constraints allow.
const RETRY_DIVISOR: u64 = 8;
/// Penalty that a search for many routes adds to the frontier of every solved reaction once it has a route. It equals
/// a template being a twentieth as probable. Measured on the benchmark kit's targets, 150 expansions each: 627
/// backbones and 190 first disconnections, against 587 and 173 without.
const SOLVED_PENALTY: f64 = 3.0;
/// Estimated cost of a molecule per heavy atom, in the unit of a step's cost, until the search has a route. Surveys
/// of 1,500 searches suggest 0.3, but a higher value finds a first route soonest (README, "Cost to go").
const COST_PER_ATOM: f64 = 0.8;
/// Estimated cost per heavy atom once the search has a route and looks for others. Probable steps count for more
/// then.
const COST_PER_ATOM_AFTER_FIRST: f64 = 0.5;
/// Divisor of a search's memory: the part that the graph leaves for extracting routes.
const EXTRACTION_MEMORY_DIVISOR: usize = 4;
/// Longest wait for a helper before the search checks the clock again.
const HELPER_TIMEOUT: Duration = Duration::from_millis(2);

/// A running search.
pub struct Search<'a> {
    planner: &'a Planner,
    stock: &'a dyn Stock,
    task: &'a Task,
    budget: &'a Budget,
    started: Instant,
    graph: Graph,
    /// Filter for what constraints let into the graph; `None` if there are no constraints.
    gate: Option<ConstraintFilter<'a>>,
    /// Number of expansions at which a route is tried again, after constraints have refused all routes so far.
    look_again: u64,
    bounds: SearchBounds,
    choice: Box<dyn SelectionStrategy>,
    help: Help<'a>,
    validator: Validator<'a>,
    /// Event publisher; `None` if there is no listener.
    telling: Option<EventPublisher<'a>>,
    counts: Counts,
    timings: Timings,
}

/// Reason why the growth of the graph ended.
#[derive(PartialEq, Eq)]
enum EndReason {
    FirstRoute,
    Spent,
    Exhausted,
}

impl<'a> Search<'a> {
    pub fn new(
        planner: &'a Planner,
        stock: &'a dyn Stock,
        task: &'a Task,
        budget: &'a Budget,
        listener: Option<&'a dyn Listener>,
    ) -> Self {
        let started = budget.now();
        // Backbone keys need the target's atoms numbered in the order of its canonical SMILES.
        let canonical = Molecule::trusted(&task.target.canonical_smiles());
        let choice = planner.settings.algorithm.start();
        let graph = Graph::new(canonical.as_ref().unwrap_or(&task.target));
        let gate = ConstraintFilter::new(&task.constraints, planner.model(), &graph);
        let telling = listener
            .map(|it| EventPublisher::new(it, planner.expander.model(), stock, (task, budget), &graph));
        let longest = task.constraints.max_steps.unwrap_or(u32::MAX);
        let bounds = SearchBounds {
            max_depth: task.max_depth.min(longest),
            per_atom: COST_PER_ATOM,
            solved_penalty: 0.0,
            required: gate.as_ref().map_or(0, ConstraintFilter::required),
        };
        Self {
            planner,
            stock,
            task,
            budget,
            started,
            graph,
            gate,
            look_again: 0,
            bounds,
            choice,
            help: Help::new(planner.cores.seat(&budget.turn)),
            validator: Validator::new(planner.model(), budget),
            telling,
            counts: Counts::default(),
            timings: Timings::default(),
        }
    }

    pub fn run(mut self) -> SearchResult {
        let trivial = self.trivial();
        if let (Some(block), Some(telling)) = (trivial, &mut self.telling) {
            telling.bought(&self.graph, block);
        }
        let mut first = None;
        let end = if trivial.is_some() && self.task.stop == Stop::FirstRoute {
            EndReason::FirstRoute
        } else {
            self.traced_growth(&mut first)
        };
        if self.gate.is_some() && first.is_none() && self.solved() {
            self.final_first_route(&mut first);
        }
        self.help.over.store(true, Ordering::Relaxed);
        if trivial.is_some() {
            self.timings.first_route = Some(Duration::ZERO);
            self.counts.validated_routes += 1;
        }
        let in_search = self.timings.extraction + self.validator.elapsed;
        self.timings.search = self.elapsed().saturating_sub(in_search);

        let stage = info_span!("search.extraction", groups = Empty).entered();
        let start = self.budget.now();
        let validated = self.validator.elapsed;
        let (model, task, budget) = (self.planner.expander.model(), self.task, self.budget);
        let memory = self.planner.settings.memory_bytes;
        let mut reading = RouteCollector::new(model, self.stock, task, budget, &self.graph, memory, trivial);
        if task.stop == Stop::Budget && self.solved() {
            let (gate, validator) = (self.gate.as_mut(), &mut self.validator);
            let mut source = ExtractionContext { graph: &mut self.graph, validator, gate, dropped: 0 };
            reading.all(&mut source, &self.help.seat, &mut self.counts);
            self.counts.unvalidated_routes += source.dropped;
        }
        // Keeps the first route found, even if refused candidates have used up the time.
        if let Some(choices) = first.filter(|_| reading.is_empty()) {
            reading.one(&self.graph, choices);
            self.counts.validated_routes += 1;
        }
        self.counts.memory_bytes = reading.bytes() as u64;
        let written = reading.finish(&self.graph);
        self.validator.end_stage();
        stage.record("groups", written.len());
        drop(stage);
        let validation = self.validator.elapsed;
        self.timings.extraction += (self.budget.now() - start).saturating_sub(validation - validated);
        self.timings.validation = validation;
        let inconsistent = self.counts.refusals.inconsistent;
        self.counts.refusals = Refusals { inconsistent, ..self.validator.refusals };
        self.counts.molecules = self.graph.molecules() as u64;
        self.counts.reactions = self.graph.reactions() as u64;
        self.counts.graph_bytes = self.graph.bytes() as u64;
        let stopped_by = if written.is_empty() { stopped_by(&self.graph) } else { Vec::new() };
        SearchResult {
            target: self.graph.molecule(self.graph.target()).molecule.canonical_smiles(),
            groups: written,
            counts: self.counts,
            timings: self.timings,
            exhausted: end == EndReason::Exhausted,
            stopped_by,
            constraints: self.gate.as_ref().map(ConstraintFilter::verdicts).unwrap_or_default(),
        }
    }

    /// Building block of the target, if buying it counts as a route.
    fn trivial(&self) -> Option<Block> {
        let target = &self.graph.molecule(self.graph.target()).molecule;
        let may_be = self.task.trivial == TargetPurchase::Allow && self.task.constraints.allow_buying(target);
        self.stock.find(target).filter(|_| may_be)
    }

    /// Runs [`Self::grow`] as a stage of the trace.
    fn traced_growth(&mut self, first: &mut Option<RouteChoices>) -> EndReason {
        let stage = info_span!(
            "search.expansion",
            expansions = Empty,
            template_applications = Empty,
            graph_nodes = Empty,
            graph_bytes = Empty,
        );
        let end = stage.in_scope(|| self.grow(first));
        stage.record("expansions", self.counts.expansions);
        stage.record("template_applications", self.counts.template_applications);
        stage.record("graph_nodes", self.graph.molecules() + self.graph.reactions());
        stage.record("graph_bytes", self.graph.bytes());
        end
    }

    /// Grows the graph until the search is over. Stores the first validated route in `first`.
    fn grow(&mut self, first: &mut Option<RouteChoices>) -> EndReason {
        let deadline = match self.task.stop {
            Stop::FirstRoute => self.budget.deadline,
            Stop::Budget => {
                let time = self.budget.deadline.saturating_duration_since(self.started);
                self.budget.deadline - time.mul_f64(EXTRACTION_SHARE).min(MAX_EXTRACTION)
            }
        };
        propagate(&mut self.graph, self.bounds);
        loop {
            if first.is_none() && self.solved() && self.counts.expansions >= self.look_again {
                *first = self.first_route(MAX_CONSTRAINT_REFUSALS);
                if let Some(choices) = first {
                    if let Some(telling) = &mut self.telling {
                        telling.found(&self.graph, choices);
                    }
                    self.timings.first_route = Some(self.elapsed());
                    if self.task.stop == Stop::FirstRoute {
                        return EndReason::FirstRoute;
                    }
                    self.diversify();
                } else if self.gate.is_some() {
                    self.redirect_to_unsolved();
                }
            }
            self.publish_due_events(first.is_some());
            let spent = self.budget.max_expansions.is_some_and(|most| self.counts.expansions >= most);
            let memory = self.planner.settings.memory_bytes;
            let full = self.graph.bytes() >= memory - memory / EXTRACTION_MEMORY_DIVISOR;
            if spent || full || self.budget.spent_at(deadline) {
                return EndReason::Spent;
            }
            if let Some(warm) = self.take_warmed_up(Duration::ZERO) {
                self.expand(warm, deadline);
                continue;
            }
            self.dispatch_to_helpers(deadline);
            match self.next() {
                Some(molecule) => self.expand(molecule, deadline),
                None if self.help.at_work > 0 => {
                    if let Some(warm) = self.take_warmed_up(HELPER_TIMEOUT) {
                        self.expand(warm, deadline);
                    }
                }
                None => return EndReason::Exhausted,
            }
        }
    }

    /// Publishes the events that are due.
    fn publish_due_events(&mut self, has_route: bool) {
        let Some(telling) = &mut self.telling else { return };
        let room = self.planner.settings.memory_bytes.saturating_sub(self.graph.bytes()) / 2;
        telling.tell_more(SearchState {
            graph: &mut self.graph,
            gate: self.gate.as_mut(),
            bounds: self.bounds,
            expansions: self.counts.expansions,
            room,
            has_route,
        });
    }

    /// Time since the search began, by its own clock.
    fn elapsed(&self) -> Duration {
        self.budget.now() - self.started
    }

    fn solved(&self) -> bool {
        let target = self.graph.molecule(self.graph.target());
        target.height <= self.bounds.max_depth && target.supply & self.bounds.required == self.bounds.required
    }

    /// Tries at the end of the search to extract the first route, if an earlier attempt was postponed.
    fn final_first_route(&mut self, first: &mut Option<RouteChoices>) {
        *first = self.first_route(usize::MAX);
        self.timings.first_route = first.as_ref().map(|_| self.elapsed());
    }

    /// Directs the search to unsolved molecules, since constraints refuse the solved ones, and schedules the next
    /// attempt at a route.
    fn redirect_to_unsolved(&mut self) {
        if self.look_again == 0 {
            self.diversify();
        }
        self.look_again = self.counts.expansions + 1 + self.counts.expansions / RETRY_DIVISOR;
    }

    /// Returns the cheapest route that passes validation. Removes refused steps from the graph's solutions.
    ///
    /// Gives up when constraints have refused `patience` derivations.
    fn first_route(&mut self, patience: usize) -> Option<RouteChoices> {
        let _stage = info_span!("search.first_route").entered();
        let start = self.budget.now();
        let validated = self.validator.elapsed;
        let room = self.planner.settings.memory_bytes.saturating_sub(self.graph.bytes());
        let SearchBounds { max_depth, required, .. } = self.bounds;
        let mut extractor = Extractor::new(&self.graph, max_depth, required, room).patient(patience);
        let (gate, validator) = (self.gate.as_mut(), &mut self.validator);
        let mut source = ExtractionContext { graph: &mut self.graph, validator, gate, dropped: 0 };
        let mut found = None;
        let most = if source.gate.is_some() { patience } else { MAX_INCONSISTENT };
        for rank in 0..most {
            match extractor.route(&mut source, rank) {
                Some(Ok(choices)) => {
                    found = Some(choices);
                    break;
                }
                Some(Err(_)) => {}
                None => break,
            }
        }
        self.counts.unvalidated_routes += source.dropped;
        propagate(&mut self.graph, self.bounds);
        self.validator.end_stage();
        let elapsed = self.budget.now() - start;
        self.timings.extraction += elapsed.saturating_sub(self.validator.elapsed - validated);
        found
    }

    /// Directs the search to unsolved molecules and to probable steps.
    fn diversify(&mut self) {
        self.bounds.solved_penalty = SOLVED_PENALTY;
        self.bounds.per_atom = COST_PER_ATOM_AFTER_FIRST;
        for molecule in self.graph.all_molecules() {
            self.graph.mark_molecule(molecule);
        }
        for reaction in self.graph.all_reactions() {
            self.graph.mark_reaction(reaction);
        }
        propagate(&mut self.graph, self.bounds);
    }

    /// Returns the molecule to expand next. Assesses the step that needs it first, which may make another molecule
    /// the better choice.
    fn next(&mut self) -> Option<MoleculeId> {
        loop {
            let id = self.choice.next(&self.graph)?;
            let frontier = |&reaction: &ReactionId| self.graph.reaction(reaction).frontier;
            let best = self
                .graph
                .molecule(id)
                .needed_by
                .iter()
                .copied()
                .min_by(|a, b| frontier(a).total_cmp(&frontier(b)).then(a.cmp(b)));
            if !best.is_some_and(|reaction| self.validator.assess(&mut self.graph, reaction)) {
                return Some(id);
            }
            propagate(&mut self.graph, self.bounds);
        }
    }

    /// Returns a molecule whose expansion a helper has warmed up, if there is one within `patience`.
    fn take_warmed_up(&mut self, patience: Duration) -> Option<MoleculeId> {
        let warm = self.help.done_within(patience)?;
        self.graph.molecule_mut(warm).pending = false;
        Some(warm)
    }

    /// Passes the next molecules to the helpers that this search may use.
    fn dispatch_to_helpers(&mut self, deadline: Instant) {
        while self.help.at_work < self.help.seat.helpers() {
            let Some(id) = self.next() else { return };
            let expansion = self.expansion(id);
            let node = self.graph.molecule_mut(id);
            node.pending = true;
            let tried = node.tried;
            let end = tried.saturating_add(self.choice.batch(tried));
            self.graph.mark_molecule(id);
            propagate(&mut self.graph, self.bounds);

            let expander = Arc::clone(&self.planner.expander);
            let (over, done) = (Arc::clone(&self.help.over), self.help.report(id));
            let budget = self.budget.clone();
            self.help.seat.help(move || {
                let _done = done;
                let mut go_on = || !over.load(Ordering::Relaxed) && !budget.needs_no_help(deadline);
                if !go_on() {
                    return;
                }
                for at in tried..end.min(expander.list(&expansion).len()) {
                    if !go_on() || expander.outcomes(&expansion, at, &mut go_on).is_none() {
                        break;
                    }
                }
                expander.keep(&expansion);
            });
        }
    }

    /// Tries the next batch of templates on `id`.
    fn expand(&mut self, id: MoleculeId, deadline: Instant) {
        self.counts.expansions += 1;
        let node = self.graph.molecule(id);
        if !node.expanded {
            self.counts.expanded_molecules += 1;
        }
        if let Some(telling) = &mut self.telling {
            telling.deepen(node.depth);
        }
        let end = node.tried.saturating_add(self.choice.batch(node.tried));
        self.apply(id, end, deadline);
        self.graph.mark_molecule(id);
        propagate(&mut self.graph, self.bounds);
    }

    fn expansion(&mut self, id: MoleculeId) -> Arc<Expansion> {
        let expander = &self.planner.expander;
        let node = self.graph.molecule_mut(id);
        Arc::clone(node.expansion.get_or_insert_with(|| expander.expansion(&node.molecule)))
    }

    /// Tries the templates of `id`'s list up to number `end`.
    fn apply(&mut self, id: MoleculeId, end: usize, deadline: Instant) {
        let stock = self.stock;
        let block_of = |molecule: &Molecule| stock.find(molecule);
        let budget = self.budget;
        let node = self.graph.molecule(id);
        let first_way = node.height == UNSOLVED;
        let mut tried = node.tried;
        let expansion = self.expansion(id);
        let list = self.planner.expander.list(&expansion);
        let end = end.min(list.len());
        while tried < end && !budget.spent_at(deadline) {
            let mut go_on = || !budget.spent_at(deadline);
            let Some(found) = self.planner.expander.outcomes(&expansion, tried, &mut go_on) else { break };
            self.counts.template_applications += 1;
            match &mut self.gate {
                None => self.graph.link(id, list[tried], &found, block_of),
                Some(gate) => {
                    let applied = Application {
                        product: id,
                        expansion: &expansion,
                        ranked: list[tried],
                        found: &found,
                        block_of: &block_of,
                        go_on: &|| !budget.spent_at(deadline),
                        apart: OnceCell::new(),
                    };
                    gate.link(&mut self.graph, &applied);
                }
            }
            tried += 1;
            // The rest of the batch may not be needed. The molecule stays open at the cost of its next template.
            let can_be_bought = |found: &Arc<TemplateOutcome>| {
                found.precursors.iter().all(|precursor| block_of(&precursor.molecule).is_some())
            };
            if first_way && self.task.stop == Stop::FirstRoute && found.iter().any(can_be_bought) {
                break;
            }
        }
        let node = self.graph.molecule_mut(id);
        node.expanded = true;
        node.tried = tried;
        node.untried = list.get(tried).map_or(f64::INFINITY, |next| step_cost(next.probability));
        self.planner.expander.keep(&expansion);
        self.graph.charge(id);
    }
}
