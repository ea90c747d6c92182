//! Route extraction from the graph, cheapest first (Huang and Chiang, "Better k-best parsing", 2005, algorithm 3).
//!
//! A state is a molecule and the number of steps left below the depth limit. So no route exceeds the limit, and none
//! within it is missed. The k-th best derivation of a state is computed only on demand. A step is validated when the
//! first derivation that uses it becomes the cheapest. A refused step is dropped there, so every returned route has
//! passed.
//!
//! Where a route must have something (a building block, a class of reaction), a state also holds the requirements
//! that only its own derivations can fulfil. A derivation that does not fulfil them is dropped for good, as is one
//! with more steps than a route may have: no route could repair either. Each remaining route is checked once more as
//! a whole.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::rc::Rc;

use chem::{MoleculeKey, block};
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::Graph;
use crate::graph::constraint_filter::{ConstraintFilter, Requirements};
use crate::graph::nodes::{MoleculeId, MoleculeNode, ReactionId};
use crate::route::RouteGraph;
use crate::routes::choices::{ChosenMolecule, DropReason, RouteChoices, Signature};
use crate::steps::validate::Validator;

/// Growth factor of lists: capacity for up to twice their entries.
const GROWTH_FACTOR: usize = 2;

/// Graph, validator and constraints that the extractor works on.
pub struct ExtractionContext<'a, 'b> {
    pub graph: &'a mut Graph,
    pub validator: &'a mut Validator<'b>,
    /// Constraints on routes; `None` if there are none.
    pub constraint_filter: Option<&'a mut ConstraintFilter<'b>>,
    /// Number of candidate derivations dropped because their step was refused.
    pub dropped: u64,
}

/// Lazy list of routes, cheapest first.
pub struct Extractor {
    states: Vec<State>,
    known: FxHashMap<StateKey, usize>,
    root: usize,
    bytes: usize,
    /// Memory limit in bytes.
    room: usize,
    max_depth: u32,
    /// Maximum number of derivations dropped because of constraints.
    max_attempts: usize,
    /// Signatures of the routes returned so far, where nodes have labels.
    seen: FxHashSet<Signature>,
}

/// Key of a state: a molecule and what its derivations must fulfil.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct StateKey {
    molecule: MoleculeId,
    /// Steps left below the depth limit.
    remaining: u32,
    /// Requirements that nothing else in the route can fulfil.
    must: Requirements,
}

struct State {
    demand: StateKey,
    started: bool,
    /// Derivations found, cheapest first.
    found: Vec<Derivation>,
    /// Number of entries of `found` whose next costlier derivations are in `heap`.
    succeeded: usize,
    heap: BinaryHeap<Candidate>,
    seen: FxHashSet<(ReactionId, Vec<usize>)>,
}

#[derive(Clone)]
struct Derivation {
    cost: f64,
    /// Reaction with the index of the chosen derivation for each distinct precursor; `None` to buy.
    choice: Option<(ReactionId, Vec<usize>)>,
    /// Requirements of the constraints that it may fulfil.
    met_requirements: Requirements,
    /// Keys of the molecules that it makes, ascending; empty if no constraint counts steps.
    made: Rc<[MoleculeKey]>,
}

struct Candidate {
    cost: f64,
    /// Share of the step in `cost`.
    step: f64,
    reaction: ReactionId,
    ranks: Vec<usize>,
}

/// Precursor of a reaction, as a state.
struct Child {
    state: usize,
    times: u32,
}

impl Extractor {
    /// Creates an extractor of routes with at most `max_depth` steps on any branch that fulfil all of `must`, within
    /// `room` bytes.
    pub fn new(graph: &Graph, max_depth: u32, must: Requirements, room: usize) -> Self {
        let mut extractor = Self {
            states: Vec::new(),
            known: FxHashMap::default(),
            root: 0,
            bytes: 0,
            room,
            max_depth,
            max_attempts: usize::MAX,
            seen: FxHashSet::default(),
        };
        extractor.root = extractor.state(StateKey { molecule: graph.target(), remaining: max_depth, must });
        extractor
    }

    /// Sets the number of derivations refused by constraints after which the extractor gives up.
    pub fn with_max_attempts(self, max_attempts: usize) -> Self {
        Self { max_attempts, ..self }
    }

    /// Approximate memory in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the `rank`-th cheapest validated route, from 0; `None` when there are no more, or when the budget or
    /// the memory is spent.
    pub fn route(
        &mut self,
        source: &mut ExtractionContext<'_, '_>,
        rank: usize,
    ) -> Option<Result<RouteChoices, DropReason>> {
        if !self.derive_up_to(source, self.root, rank) {
            return None;
        }
        let mut route = DiGraph::with_capacity(16, 16);
        let collected = self.collect(source.graph, self.root, rank, &mut route);
        let cost = self.states[self.root].found[rank].cost;
        let route = collected.and_then(|_| RouteGraph::new(route).ok_or(DropReason::Inconsistent));
        let route = route.and_then(|route| match makes_two_forms(source.graph, &route) {
            true => Err(DropReason::Inconsistent),
            false => Ok(route),
        });
        Some(route.and_then(|route| self.meeting_constraints(source, RouteChoices { route, cost })))
    }

    /// Returns the route if it is new and meets the constraints as a whole.
    fn meeting_constraints(
        &mut self,
        source: &mut ExtractionContext<'_, '_>,
        choices: RouteChoices,
    ) -> Result<RouteChoices, DropReason> {
        let Some(constraint_filter) = &mut source.constraint_filter else { return Ok(choices) };
        let graph = &*source.graph;
        let given = choices.route.molecules().fold(0, |things, chosen| match chosen.reaction {
            Some(reaction) => things | graph.reaction(reaction).proposal().met_requirements,
            None => things | graph.molecule(chosen.molecule).met_requirements,
        });
        let missing = constraint_filter.required() & !given;
        if missing != 0 {
            constraint_filter.refuse_unmet(missing);
            return Err(DropReason::Unwanted);
        }
        if choices.made().count() > constraint_filter.max_steps() {
            constraint_filter.refuse_for_length();
            return Err(DropReason::Unwanted);
        }
        if constraint_filter.follows_bonds() && !self.seen.insert(choices.signature(graph)) {
            return Err(DropReason::Known);
        }
        Ok(choices)
    }

    /// Adds this derivation of a state to the route and returns the node of its molecule.
    fn collect(
        &self,
        graph: &Graph,
        state: usize,
        rank: usize,
        route: &mut DiGraph<ChosenMolecule, u32>,
    ) -> Result<NodeIndex, DropReason> {
        let State { demand, found, .. } = &self.states[state];
        let choice = found[rank].choice.as_ref();
        let chosen =
            ChosenMolecule { molecule: demand.molecule, reaction: choice.map(|(reaction, _)| *reaction) };
        let known = route
            .node_indices()
            .find(|&place| graph.are_same_molecule(route[place].molecule, demand.molecule));
        if known.is_some_and(|place| !route[place].has_same_source(chosen, graph)) {
            return Err(DropReason::Inconsistent);
        }
        let product = known.unwrap_or_else(|| route.add_node(chosen));
        // Walks on below a known molecule, because the route may continue differently there.
        if let Some((reaction, ranks)) = choice {
            let mut edges: Vec<(NodeIndex, u32)> = Vec::with_capacity(ranks.len());
            for ((child, times), &rank) in demands(graph, *demand, *reaction).zip(ranks) {
                let precursor = self.collect(graph, self.known[&child], rank, route)?;
                // Two nodes with different labels may be the same molecule.
                match edges.iter_mut().find(|edge| edge.0 == precursor) {
                    Some(edge) => edge.1 += times,
                    None => edges.push((precursor, times)),
                }
            }
            for (precursor, times) in edges {
                route.update_edge(product, precursor, times);
            }
        }
        Ok(product)
    }

    fn state(&mut self, demand: StateKey) -> usize {
        *self.known.entry(demand).or_insert_with(|| {
            self.bytes += GROWTH_FACTOR * (size_of::<State>() + size_of::<(StateKey, usize)>());
            self.states.push(State {
                demand,
                started: false,
                found: Vec::new(),
                succeeded: 0,
                heap: BinaryHeap::new(),
                seen: FxHashSet::default(),
            });
            self.states.len() - 1
        })
    }

    /// Computes the derivations of `state` up to number `rank`. Returns false if there are fewer, or if the budget or
    /// the memory is spent.
    fn derive_up_to(&mut self, source: &mut ExtractionContext<'_, '_>, state: usize, rank: usize) -> bool {
        if !self.states[state].started {
            self.start(source, state);
        }
        while self.states[state].found.len() <= rank {
            if source.validator.should_stop() || self.bytes >= self.room || self.max_attempts == 0 {
                return false;
            }
            while let Some(way) = self.states[state].found.get(self.states[state].succeeded).cloned() {
                self.states[state].succeeded += 1;
                self.push_successors(source, state, &way);
            }
            let Some(candidate) = self.states[state].heap.pop() else { return false };
            match source.validator.validate(source.graph, candidate.reaction) {
                None => return false,
                Some(false) => source.dropped += 1,
                Some(true) => self.accept(source, state, candidate),
            }
        }
        true
    }

    /// Accepts a derivation whose step is valid, or puts it back if validation settled on a costlier template.
    fn accept(&mut self, source: &mut ExtractionContext<'_, '_>, state: usize, mut candidate: Candidate) {
        let step = source.graph.reaction(candidate.reaction).cost();
        if step > candidate.step {
            candidate.cost += step - candidate.step;
            candidate.step = step;
            self.states[state].heap.push(candidate);
            return;
        }
        let Candidate { cost, reaction, ranks, .. } = candidate;
        let mut way =
            Derivation { cost, choice: Some((reaction, ranks)), met_requirements: 0, made: Rc::default() };
        if source.constraint_filter.is_some() && !self.may_meet_constraints(source, state, &mut way) {
            // This derivation is useless, but costlier ones derived from it may be useful.
            self.max_attempts = self.max_attempts.saturating_sub(1);
            self.push_successors(source, state, &way);
        } else {
            self.states[state].found.push(way);
        }
    }

    /// Returns true if constraints may allow a route with this derivation. Sets what the derivation fulfils and
    /// makes.
    fn may_meet_constraints(
        &self,
        source: &mut ExtractionContext<'_, '_>,
        state: usize,
        way: &mut Derivation,
    ) -> bool {
        let (Some(constraint_filter), Some((reaction, ranks))) = (&mut source.constraint_filter, &way.choice)
        else {
            return true;
        };
        let graph = &*source.graph;
        let demand = self.states[state].demand;
        let children: Vec<&Derivation> = demands(graph, demand, *reaction)
            .zip(ranks)
            .map(|((child, _), &rank)| &self.states[self.known[&child]].found[rank])
            .collect();
        way.met_requirements =
            children.iter().fold(graph.reaction(*reaction).met_requirements, |met_requirements, child| {
                met_requirements | child.met_requirements
            });
        let missing = demand.must & !way.met_requirements;
        if missing != 0 {
            constraint_filter.refuse_unmet(missing);
            return false;
        }
        if constraint_filter.max_steps() == usize::MAX {
            return true;
        }
        let mut made: Vec<MoleculeKey> =
            children.iter().flat_map(|child| child.made.iter().copied()).collect();
        made.push(graph.molecule(demand.molecule).key);
        made.sort_unstable();
        made.dedup();
        way.made = made.into();
        // No molecule above is also made below, or the route would be a cycle.
        let above = (self.max_depth - demand.remaining) as usize;
        let fits = way.made.len() + above <= constraint_filter.max_steps();
        if !fits {
            constraint_filter.refuse_for_length();
        }
        fits
    }

    fn start(&mut self, source: &mut ExtractionContext<'_, '_>, state: usize) {
        let StateKey { molecule, remaining, must } = self.states[state].demand;
        self.states[state].started = true;
        let node = source.graph.molecule(molecule);
        if node.block.is_some() {
            if node.met_requirements & must == must {
                let bought = Derivation {
                    cost: 0.0,
                    choice: None,
                    met_requirements: node.met_requirements,
                    made: Rc::default(),
                };
                self.states[state].found.push(bought);
                self.states[state].succeeded = 1;
            }
            return;
        }
        let may_do = |&reaction: &ReactionId| {
            let reaction = source.graph.reaction(reaction);
            reaction.height <= remaining && reaction.satisfiable & must == must
        };
        let reactions: Vec<ReactionId> = node.reactions.iter().copied().filter(may_do).collect();
        for reaction in reactions {
            let ranks = vec![0; source.graph.reaction(reaction).distinct_precursors().count()];
            self.push(source, state, reaction, ranks);
        }
    }

    fn push_successors(&mut self, source: &mut ExtractionContext<'_, '_>, state: usize, way: &Derivation) {
        let Some((reaction, ranks)) = &way.choice else { return };
        for at in 0..ranks.len() {
            let mut next = ranks.clone();
            next[at] += 1;
            self.push(source, state, *reaction, next);
        }
    }

    /// Puts the derivation that makes `state` by `reaction` from these derivations of its precursors on the heap, if
    /// it is new and they exist.
    fn push(
        &mut self,
        source: &mut ExtractionContext<'_, '_>,
        state: usize,
        reaction: ReactionId,
        ranks: Vec<usize>,
    ) {
        if !self.states[state].seen.insert((reaction, ranks.clone())) {
            return;
        }
        // Counted twice: it is in `seen`, and will be in `heap` or `found`.
        self.bytes += 2 * block(size_of_val(&*ranks))
            + GROWTH_FACTOR * (size_of::<(ReactionId, Vec<usize>)>() + size_of::<Candidate>());
        let demands: Vec<_> = demands(source.graph, self.states[state].demand, reaction).collect();
        let children: Vec<Child> =
            demands.into_iter().map(|(child, times)| Child { state: self.state(child), times }).collect();
        let step = source.graph.reaction(reaction).cost();
        let mut cost = step;
        for (child, &rank) in children.iter().zip(&ranks) {
            if !self.derive_up_to(source, child.state, rank) {
                return;
            }
            cost += self.states[child.state].found[rank].cost * f64::from(child.times);
        }
        self.states[state].heap.push(Candidate { cost, step, reaction, ranks });
    }
}

/// Returns true if a route makes two tautomers or charged forms of one molecule: what lies between them is a detour.
fn makes_two_forms(graph: &Graph, route: &RouteGraph<ChosenMolecule>) -> bool {
    let made = route.molecules().filter(|chosen| chosen.reaction.is_some());
    let made: Vec<&MoleculeNode> = made.map(|chosen| graph.molecule(chosen.molecule)).collect();
    made.iter().enumerate().any(|(at, a)| {
        made[..at].iter().any(|b| {
            a.heavy_atoms == b.heavy_atoms
                && a.key != b.key
                && a.molecule.tautomer_key() == b.molecule.tautomer_key()
        })
    })
}

/// Demands of a reaction on each of its distinct precursors when it has to meet `demand`, with the number of each
/// that it takes.
fn demands(graph: &Graph, demand: StateKey, reaction: ReactionId) -> impl Iterator<Item = (StateKey, u32)> {
    let node = graph.reaction(reaction);
    node.distinct_precursors().map(move |(molecule, times)| {
        let others = node.precursors.iter().filter(move |&&other| other != molecule);
        let elsewhere =
            others.fold(node.met_requirements, |things, &other| things | graph.molecule(other).satisfiable);
        (StateKey { molecule, remaining: demand.remaining - 1, must: demand.must & !elsewhere }, times)
    })
}

impl Ord for Candidate {
    /// Orders the cheapest candidate as the greatest, because the heap pops the greatest first; ties go to the
    /// candidate found first.
    fn cmp(&self, other: &Self) -> Ordering {
        let rising = |a: &Self, b: &Self| {
            a.cost.total_cmp(&b.cost).then(a.reaction.cmp(&b.reaction)).then_with(|| a.ranks.cmp(&b.ranks))
        };
        rising(other, self)
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Candidate {}

#[cfg(test)]
mod tests;
