//! One search: grows the graph until the budget is spent, then extracts the routes.
//!
//! The [algorithm] chooses the molecule to expand next. Only this thread touches the graph. Where cores are free,
//! helpers only warm up the shared [expansions](crate::graph::expander) of molecules that are about to be chosen
//! anyway. What a search links does not depend on who computed it.
//!
//! This folder is the top of the crate. It holds the choice of the next molecule, the state that all searches of a
//! process share ([`planner`]), the search for the constraint that prevents a route ([`constrained`]), progress
//! events ([`publisher`]), and the search itself, which grows the graph and has [routes](crate::routes) extracted from
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
use crate::graph::constraint_filter::{ConstraintFilter, TemplateApplication};
use crate::graph::expander::{Expansion, TemplateOutcome};
use crate::graph::nodes::{MoleculeId, ReactionId, UNSOLVED, step_cost};
use crate::graph::update::{SearchBounds, propagate};
use crate::routes::choices::RouteChoices;
use crate::routes::collector::RouteCollector;
use crate::routes::extract::{ExtractionContext, Extractor};
use crate::routes::rank::RouteRanker;
use crate::search::algorithm::SelectionStrategy;
use crate::search::dead_ends::stopped_by;
use crate::search::helpers::Help;
use crate::search::planner::Planner;
use crate::search::publisher::{SearchEventPublisher, SearchSnapshot};
use crate::search_result::{Counts, Refusals, SearchResult, Timings};
use crate::steps::validate::Validator;
use crate::task::{Budget, Stop, TargetPurchase, Task};
use catalogue::{Block, Stock};

/// Fraction of the time that a search for many routes reserves for extracting them from the graph the first time. Of
/// 25 published routes, a search of 4 s has 15 in its answer with half of its time reserved, and 9 with 0.35. With all
/// the time that extraction takes after 1,500 expansions, it also has 15.
const EXTRACTION_SHARE: f64 = 0.5;
/// Upper limit of the reserved time.
const MAX_EXTRACTION: Duration = Duration::from_millis(2500);
/// Time reserved for each further extraction, as a fraction of the time that the last one took: most routes are known.
const NEXT_EXTRACTION: f64 = 0.5;
/// Maximum time reserved for a further extraction, as a fraction of the time left. An extraction that it does not
/// suffice for leaves the routes of the last one.
const MAX_NEXT_EXTRACTION: f64 = 0.5;
/// Fraction of the time that is not worth further growth.
const MIN_TIME_SHARE: f64 = 0.02;
/// Maximum number of routes that make a molecule in two ways, skipped in search of the first route.
const MAX_INCONSISTENT: usize = 100;
/// Maximum number of routes that are ranked for a first answer.
const MAX_FIRST_ROUTES: usize = 20;
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
    constraint_filter: Option<ConstraintFilter<'a>>,
    /// Number of expansions at which a route is tried again, after constraints have refused all routes so far.
    next_first_route_check: u64,
    /// Time before the deadline at which a solved graph stops growing, so that its routes can be extracted.
    reserved: Duration,
    bounds: SearchBounds,
    strategy: Box<dyn SelectionStrategy>,
    helpers: Help<'a>,
    validator: Validator<'a>,
    /// Event publisher; `None` if there is no listener.
    publisher: Option<SearchEventPublisher<'a>>,
    counts: Counts,
    timings: Timings,
}

/// Reason why the growth of the graph ended.
#[derive(PartialEq, Eq)]
enum SearchEnd {
    FirstRoute,
    /// The time for growth is over; there may be time for routes.
    OutOfTime,
    /// The limit of expansions or of memory is reached.
    Spent,
    Exhausted,
}

/// The route that a search may end with.
struct FirstRoute {
    choices: RouteChoices,
    /// Set if no step is doubtful.
    is_sound: bool,
}

/// Returns the route of the best total among those without a doubtful step, or else among all.
fn best_first_route(
    routes: Vec<RouteChoices>,
    graph: &Graph,
    mut ranker: RouteRanker<'_>,
) -> Option<FirstRoute> {
    let mut best: Option<(bool, f64, RouteChoices)> = None;
    for choices in routes {
        let total = ranker.total(graph, &choices) + ranker.competitor_penalty(graph, &choices);
        let is_doubtful = ranker.is_doubtful(graph, &choices);
        let is_better = best.as_ref().is_none_or(|(was_doubtful, least, _)| {
            is_doubtful.cmp(was_doubtful).then(total.total_cmp(least)).is_lt()
        });
        if is_better {
            best = Some((is_doubtful, total, choices));
        }
    }
    best.map(|(is_doubtful, _, choices)| FirstRoute { choices, is_sound: !is_doubtful })
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
        let strategy = planner.settings.algorithm.start();
        let graph = Graph::new(canonical.as_ref().unwrap_or(&task.target));
        let constraint_filter = ConstraintFilter::new(&task.constraints, planner.model(), &graph);
        let publisher = listener
            .map(|it| SearchEventPublisher::new(it, planner.expander.model(), stock, (task, budget), &graph));
        let max_steps = task.constraints.max_steps.unwrap_or(u32::MAX);
        let bounds = SearchBounds {
            max_depth: task.max_depth.min(max_steps),
            per_atom: COST_PER_ATOM,
            solved_penalty: 0.0,
            required: constraint_filter.as_ref().map_or(0, ConstraintFilter::required),
        };
        Self {
            planner,
            stock,
            task,
            budget,
            started,
            graph,
            constraint_filter,
            next_first_route_check: 0,
            reserved: budget
                .deadline
                .saturating_duration_since(started)
                .mul_f64(EXTRACTION_SHARE)
                .min(MAX_EXTRACTION),
            bounds,
            strategy,
            helpers: Help::new(planner.cores.core_share(&budget.priority)),
            validator: Validator::new(planner.model(), budget),
            publisher,
            counts: Counts::default(),
            timings: Timings::default(),
        }
    }

    pub fn run(mut self) -> SearchResult {
        let bought_target = self.bought_target();
        if let (Some(block), Some(publisher)) = (bought_target, &mut self.publisher) {
            publisher.publish_bought(&self.graph, block);
        }
        let (model, task, budget) = (self.planner.expander.model(), self.task, self.budget);
        let memory = self.planner.settings.memory_bytes;
        let mut collector =
            RouteCollector::new(model, self.stock, task, budget, &self.graph, memory, bought_target);
        let mut first = None;
        let end = if bought_target.is_some() && task.stop != Stop::Budget {
            SearchEnd::FirstRoute
        } else {
            self.grow_and_extract(&mut first, &mut collector)
        };
        if self.constraint_filter.is_some() && first.is_none() && self.is_solved() {
            self.final_first_route(&mut first);
        }
        self.helpers.stopped.store(true, Ordering::Relaxed);
        if bought_target.is_some() {
            self.timings.first_route = Some(Duration::ZERO);
            self.counts.validated_routes += 1;
        }
        let start = self.budget.now();
        // Keeps the first route found, even if refused candidates have used up the time.
        if let Some(choices) = first.filter(|_| collector.is_empty()) {
            collector.add(&self.graph, choices);
            self.counts.validated_routes += 1;
        }
        self.counts.memory_bytes = collector.peak_bytes().max(self.graph.bytes()) as u64;
        let groups = collector.finish(&self.graph);
        self.timings.extraction += self.budget.now() - start;
        self.timings.validation = self.validator.elapsed;
        self.timings.search =
            self.elapsed().saturating_sub(self.timings.extraction + self.timings.validation);
        let inconsistent = self.counts.refusals.inconsistent;
        self.counts.refusals = Refusals { inconsistent, ..self.validator.refusals };
        self.counts.molecules = self.graph.molecule_count() as u64;
        self.counts.reactions = self.graph.reaction_count() as u64;
        self.counts.graph_bytes = self.graph.bytes() as u64;
        let stopped_by = if groups.is_empty() { stopped_by(&self.graph) } else { Vec::new() };
        SearchResult {
            target: self.graph.molecule(self.graph.target()).molecule.canonical_smiles(),
            groups,
            counts: self.counts,
            timings: self.timings,
            exhausted: end == SearchEnd::Exhausted,
            stopped_by,
            constraints: self.constraint_filter.as_ref().map(ConstraintFilter::effects).unwrap_or_default(),
        }
    }

    /// Building block of the target, if buying it counts as a route.
    fn bought_target(&self) -> Option<Block> {
        let target = &self.graph.molecule(self.graph.target()).molecule;
        let may_buy =
            self.task.target_purchase == TargetPurchase::Allow && self.task.constraints.allow_buying(target);
        self.stock.find(target).filter(|_| may_buy)
    }

    /// Grows the graph and, in a search for many routes, extracts them. If that leaves time, grows the graph further
    /// and extracts again.
    fn grow_and_extract(
        &mut self,
        first: &mut Option<RouteChoices>,
        collector: &mut RouteCollector<'a>,
    ) -> SearchEnd {
        loop {
            let end = self.traced_growth(first);
            if self.task.stop != Stop::Budget || !self.is_solved() {
                return end;
            }
            let start = self.budget.now();
            self.extract(collector);
            let now = self.budget.now();
            let left = self.end().saturating_duration_since(now);
            self.reserved = (now - start).mul_f64(NEXT_EXTRACTION).min(left.mul_f64(MAX_NEXT_EXTRACTION));
            let is_over =
                self.budget.has_ended() || left < (self.end() - self.started).mul_f64(MIN_TIME_SHARE);
            if end != SearchEnd::OutOfTime || is_over {
                return end;
            }
            propagate(&mut self.graph, self.bounds);
        }
    }

    /// Extracts the routes of the graph as a stage of the trace.
    fn extract(&mut self, collector: &mut RouteCollector<'a>) {
        let stage = info_span!("search.extraction", groups = Empty).entered();
        self.helpers.stopped.store(true, Ordering::Relaxed);
        let start = self.budget.now();
        let validation_before = self.validator.elapsed;
        let deadline = self.end();
        let (constraint_filter, validator) = (self.constraint_filter.as_mut(), &mut self.validator);
        let mut source =
            ExtractionContext { graph: &mut self.graph, validator, constraint_filter, dropped: 0 };
        collector.extract(&mut source, deadline, &self.helpers.core_share, &mut self.counts);
        self.counts.unvalidated_routes += source.dropped;
        self.validator.end_stage();
        self.helpers.stopped.store(false, Ordering::Relaxed);
        stage.record("groups", collector.group_count());
        let validation = self.validator.elapsed - validation_before;
        self.timings.extraction += (self.budget.now() - start).saturating_sub(validation);
    }

    /// Runs [`Self::grow`] as a stage of the trace.
    fn traced_growth(&mut self, first: &mut Option<RouteChoices>) -> SearchEnd {
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
        stage.record("graph_nodes", self.graph.molecule_count() + self.graph.reaction_count());
        stage.record("graph_bytes", self.graph.bytes());
        end
    }

    /// Grows the graph until the search is over. Stores the first validated route in `first`.
    fn grow(&mut self, first: &mut Option<RouteChoices>) -> SearchEnd {
        propagate(&mut self.graph, self.bounds);
        loop {
            let may_improve = first.is_none() || self.task.stop == Stop::FirstSoundRoute;
            let is_due = self.is_solved() && self.counts.expansions >= self.next_first_route_check;
            if may_improve && is_due && self.find_first_route(first) {
                return SearchEnd::FirstRoute;
            }
            self.publish_due_events(first.is_some());
            let has_no_expansions_left = self
                .budget
                .max_expansions
                .is_some_and(|max_expansions| self.counts.expansions >= max_expansions);
            let memory = self.planner.settings.memory_bytes;
            let is_memory_full = self.graph.bytes() >= memory - memory / EXTRACTION_MEMORY_DIVISOR;
            if has_no_expansions_left || is_memory_full {
                return SearchEnd::Spent;
            }
            let deadline = self.growth_deadline();
            if self.budget.spent_at(deadline) {
                return SearchEnd::OutOfTime;
            }
            if let Some(warm) = self.take_warmed_up(Duration::ZERO) {
                self.expand(warm, deadline);
                continue;
            }
            self.dispatch_to_helpers(deadline);
            match self.next() {
                Some(molecule) => self.expand(molecule, deadline),
                None if self.helpers.running > 0 => {
                    if let Some(warm) = self.take_warmed_up(HELPER_TIMEOUT) {
                        self.expand(warm, deadline);
                    }
                }
                None => return SearchEnd::Exhausted,
            }
        }
    }

    /// End of the time for growth. A graph without a route grows to the end.
    fn growth_deadline(&self) -> Instant {
        let extracts = self.task.stop == Stop::Budget && self.is_solved();
        if extracts { self.end() - self.reserved } else { self.end() }
    }

    /// End of the search's time, which depends on whether it has a route.
    fn end(&self) -> Instant {
        let Budget { deadline, unsolved_deadline, .. } = *self.budget;
        let is_unsolved = self.timings.first_route.is_none();
        unsolved_deadline.filter(|_| is_unsolved).map_or(deadline, |earlier| earlier.min(deadline))
    }

    /// Looks for the first route, or for a better one; returns true if the search ends with it.
    fn find_first_route(&mut self, first: &mut Option<RouteChoices>) -> bool {
        let found = self.first_consistent_route(MAX_CONSTRAINT_REFUSALS);
        let Some(FirstRoute { choices, is_sound }) = found else {
            if self.constraint_filter.is_some() {
                self.redirect_to_unsolved();
            }
            return false;
        };
        if let Some(publisher) = &mut self.publisher
            && first.as_ref() != Some(&choices)
        {
            publisher.publish_found(&self.graph, &choices);
        }
        if first.replace(choices).is_none() {
            self.timings.first_route = Some(self.elapsed());
        }
        let ends = match self.task.stop {
            Stop::FirstRoute => true,
            Stop::FirstSoundRoute => is_sound,
            Stop::Budget => false,
        };
        if !ends {
            self.redirect_to_unsolved();
        }
        ends
    }

    /// Publishes the events that are due.
    fn publish_due_events(&mut self, has_route: bool) {
        let Some(publisher) = &mut self.publisher else { return };
        let room = self.planner.settings.memory_bytes.saturating_sub(self.graph.bytes()) / 2;
        publisher.publish_due(SearchSnapshot {
            graph: &mut self.graph,
            constraint_filter: self.constraint_filter.as_mut(),
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

    fn is_solved(&self) -> bool {
        let target = self.graph.molecule(self.graph.target());
        target.height <= self.bounds.max_depth
            && target.satisfiable & self.bounds.required == self.bounds.required
    }

    /// Tries at the end of the search to extract the first route, if an earlier attempt was postponed.
    fn final_first_route(&mut self, first: &mut Option<RouteChoices>) {
        *first = self.first_consistent_route(usize::MAX).map(|found| found.choices);
        self.timings.first_route = first.as_ref().map(|_| self.elapsed());
    }

    /// Directs the search to unsolved molecules, since the solved ones give no route or none that ends the search, and
    /// schedules the next attempt at a route.
    fn redirect_to_unsolved(&mut self) {
        if self.next_first_route_check == 0 {
            self.diversify();
        }
        self.next_first_route_check = self.counts.expansions + 1 + self.counts.expansions / RETRY_DIVISOR;
    }

    /// Returns the cheapest route that passes validation, or, for a sound route, the best of the cheapest ones. Removes
    /// refused steps from the graph's solutions.
    ///
    /// Gives up when constraints have refused `max_attempts` derivations.
    fn first_consistent_route(&mut self, max_attempts: usize) -> Option<FirstRoute> {
        let _stage = info_span!("search.first_route").entered();
        let start = self.budget.now();
        let validation_before = self.validator.elapsed;
        let room = self.planner.settings.memory_bytes.saturating_sub(self.graph.bytes());
        let SearchBounds { max_depth, required, .. } = self.bounds;
        let mut extractor =
            Extractor::new(&self.graph, max_depth, required, room).with_max_attempts(max_attempts);
        self.validator.deadline = self.end();
        let (constraint_filter, validator) = (self.constraint_filter.as_mut(), &mut self.validator);
        let mut source =
            ExtractionContext { graph: &mut self.graph, validator, constraint_filter, dropped: 0 };
        let max_candidates = if source.constraint_filter.is_some() { max_attempts } else { MAX_INCONSISTENT };
        let ranks_routes = self.task.stop == Stop::FirstSoundRoute;
        let routes: Vec<RouteChoices> = (0..max_candidates)
            .map_while(|rank| extractor.route(&mut source, rank))
            .filter_map(Result::ok)
            .take(if ranks_routes { MAX_FIRST_ROUTES } else { 1 })
            .collect();
        self.counts.unvalidated_routes += source.dropped;
        propagate(&mut self.graph, self.bounds);
        self.validator.end_stage();
        let elapsed = self.budget.now() - start;
        self.timings.extraction += elapsed.saturating_sub(self.validator.elapsed - validation_before);
        if ranks_routes {
            best_first_route(routes, &self.graph, RouteRanker::new(self.planner.model(), self.stock))
        } else {
            routes.into_iter().next().map(|choices| FirstRoute { choices, is_sound: true })
        }
    }

    /// Directs the search to unsolved molecules and to probable steps.
    fn diversify(&mut self) {
        self.bounds.solved_penalty = SOLVED_PENALTY;
        self.bounds.per_atom = COST_PER_ATOM_AFTER_FIRST;
        for molecule in self.graph.all_molecules() {
            self.graph.mark_molecule_stale(molecule);
        }
        for reaction in self.graph.all_reactions() {
            self.graph.mark_reaction_stale(reaction);
        }
        propagate(&mut self.graph, self.bounds);
    }

    /// Returns the molecule to expand next. Assesses the step that needs it first, which may make another molecule
    /// the better choice.
    fn next(&mut self) -> Option<MoleculeId> {
        loop {
            let id = self.strategy.next(&self.graph)?;
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

    /// Returns a molecule whose expansion a helper has warmed up, if there is one within `timeout`.
    fn take_warmed_up(&mut self, timeout: Duration) -> Option<MoleculeId> {
        let warm = self.helpers.result_within(timeout)?;
        self.graph.molecule_mut(warm).pending = false;
        Some(warm)
    }

    /// Passes the next molecules to the helpers that this search may use.
    fn dispatch_to_helpers(&mut self, deadline: Instant) {
        while self.helpers.running < self.helpers.core_share.helpers() {
            let Some(id) = self.next() else { return };
            let expansion = self.expansion(id);
            let node = self.graph.molecule_mut(id);
            node.pending = true;
            let tried = node.tried;
            let end = tried.saturating_add(self.strategy.batch(tried));
            self.graph.mark_molecule_stale(id);
            propagate(&mut self.graph, self.bounds);

            let expander = Arc::clone(&self.planner.expander);
            let (stopped, done) = (Arc::clone(&self.helpers.stopped), self.helpers.report(id));
            let budget = self.budget.clone();
            self.helpers.core_share.submit(move || {
                let _done = done;
                let mut should_continue =
                    || !stopped.load(Ordering::Relaxed) && !budget.needs_no_help(deadline);
                if !should_continue() {
                    return;
                }
                for at in tried..end.min(expander.list(&expansion).len()) {
                    if !should_continue() || expander.outcomes(&expansion, at, &mut should_continue).is_none()
                    {
                        break;
                    }
                }
                expander.cache(&expansion);
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
        if let Some(publisher) = &mut self.publisher {
            publisher.record_depth(node.depth);
        }
        let end = node.tried.saturating_add(self.strategy.batch(node.tried));
        self.apply(id, end, deadline);
        self.graph.mark_molecule_stale(id);
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
        let was_unsolved = node.height == UNSOLVED;
        let mut tried = node.tried;
        let expansion = self.expansion(id);
        let list = self.planner.expander.list(&expansion);
        let end = end.min(list.len());
        while tried < end && !budget.spent_at(deadline) {
            let mut should_continue = || !budget.spent_at(deadline);
            let Some(outcomes) = self.planner.expander.outcomes(&expansion, tried, &mut should_continue)
            else {
                break;
            };
            self.counts.template_applications += 1;
            match &mut self.constraint_filter {
                None => self.graph.link(id, list[tried], &outcomes, block_of),
                Some(constraint_filter) => {
                    let applied = TemplateApplication {
                        product: id,
                        expansion: &expansion,
                        ranked: list[tried],
                        outcomes: &outcomes,
                        block_of: &block_of,
                        should_continue: &|| !budget.spent_at(deadline),
                        apart: OnceCell::new(),
                    };
                    constraint_filter.link(&mut self.graph, &applied);
                }
            }
            tried += 1;
            // The rest of the batch may not be needed. The molecule stays open at the cost of its next template.
            let can_be_bought = |found: &Arc<TemplateOutcome>| {
                found.precursors.iter().all(|precursor| block_of(&precursor.molecule).is_some())
            };
            if was_unsolved && self.task.stop != Stop::Budget && outcomes.iter().any(can_be_bought) {
                break;
            }
        }
        let node = self.graph.molecule_mut(id);
        node.expanded = true;
        node.tried = tried;
        node.untried_cost = list.get(tried).map_or(f64::INFINITY, |next| step_cost(next.probability));
        self.planner.expander.cache(&expansion);
        self.graph.update_expansion_bytes(id);
    }
}
