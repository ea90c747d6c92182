//! Routes out of the graph, cheapest first (Huang and Chiang, "Better k-best parsing", 2005, algorithm 3).
//!
//! A state is a molecule and the number of steps that are left below the depth limit, so that no route breaks
//! the limit and none within it is missed. The k-th best way to make a state is computed only when asked for.
//! A step is validated when the first way that uses it comes out on top; a refused one is dropped there, so
//! every route that is returned has passed.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use chem::block;
use petgraph::graph::{DiGraph, NodeIndex};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::graph::{Graph, MoleculeId, ReactionId};
use crate::route::RouteGraph;
use crate::steps::validate::Validator;

/// A route as choices in the graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Choices {
    /// The molecules in the order in which they were chosen, from the target downwards.
    pub route: RouteGraph<Chosen>,
    /// Sum of step costs, a step that is needed twice counted twice.
    pub cost: f64,
}

/// A molecule of a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chosen {
    pub molecule: MoleculeId,
    /// What makes it; `None` if it is bought.
    pub reaction: Option<ReactionId>,
}

/// A route would make one molecule in two ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inconsistent;

impl Choices {
    /// The route that buys `target`.
    pub fn bought(target: MoleculeId) -> Self {
        Self { route: RouteGraph::bought(Chosen { molecule: target, reaction: None }), cost: 0.0 }
    }

    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.route.bytes()
    }

    /// The molecules that are made, each with its reaction, the target first; none for a target that is bought.
    pub fn made(&self) -> impl Iterator<Item = (MoleculeId, ReactionId)> {
        self.route.molecules().filter_map(|chosen| Some((chosen.molecule, chosen.reaction?)))
    }

    /// The reaction that makes `molecule`, `None` if it is bought.
    pub fn reaction(&self, molecule: MoleculeId) -> Option<ReactionId> {
        self.route.molecules().find(|chosen| chosen.molecule == molecule)?.reaction
    }
}

/// Lists that grow have room for up to twice their entries.
const ROOM_TO_GROW: usize = 2;

/// What the extractor works on.
pub struct Source<'a, 'b> {
    pub graph: &'a mut Graph,
    pub validator: &'a mut Validator<'b>,
    /// Candidate ways dropped because their step was refused.
    pub dropped: u64,
}

/// The lazy list of routes, cheapest first.
pub struct Extractor {
    states: Vec<State>,
    known: FxHashMap<(MoleculeId, u32), usize>,
    root: usize,
    bytes: usize,
    /// Most bytes it may take.
    room: usize,
}

struct State {
    molecule: MoleculeId,
    remaining: u32,
    started: bool,
    /// The ways found, cheapest first.
    found: Vec<Way>,
    /// For how many of `found` the next worse ways are in `heap`.
    succeeded: usize,
    heap: BinaryHeap<Candidate>,
    seen: FxHashSet<(ReactionId, Vec<usize>)>,
}

#[derive(Clone)]
struct Way {
    cost: f64,
    /// The reaction and, for each distinct precursor, which of its ways; `None` to buy.
    choice: Option<(ReactionId, Vec<usize>)>,
}

struct Candidate {
    cost: f64,
    /// The step's share of `cost`.
    step: f64,
    reaction: ReactionId,
    ranks: Vec<usize>,
}

/// One precursor of a reaction, as a state.
struct Child {
    state: usize,
    times: u32,
}

impl Extractor {
    /// Routes of at most `max_depth` steps on any branch, as far as they can be told in `room` bytes.
    pub fn new(graph: &Graph, max_depth: u32, room: usize) -> Self {
        let mut extractor = Self { states: Vec::new(), known: FxHashMap::default(), root: 0, bytes: 0, room };
        extractor.root = extractor.state(graph.target(), max_depth);
        extractor
    }

    /// About how much memory it takes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The `rank`-th cheapest validated route, from 0; `None` when there are no more or the budget or the room is spent.
    pub fn route(
        &mut self,
        source: &mut Source<'_, '_>,
        rank: usize,
    ) -> Option<Result<Choices, Inconsistent>> {
        if !self.find(source, self.root, rank) {
            return None;
        }
        let mut route = DiGraph::with_capacity(16, 16);
        let collected = self.collect(source.graph, self.root, rank, &mut route);
        let cost = self.states[self.root].found[rank].cost;
        let route = collected.and_then(|_| RouteGraph::new(route).ok_or(Inconsistent));
        Some(route.map(|route| Choices { route, cost }))
    }

    /// Adds this way of a state to the route, and says where its molecule stands.
    fn collect(
        &self,
        graph: &Graph,
        state: usize,
        rank: usize,
        route: &mut DiGraph<Chosen, u32>,
    ) -> Result<NodeIndex, Inconsistent> {
        let State { molecule, remaining, found, .. } = &self.states[state];
        let choice = found[rank].choice.as_ref();
        let chosen = Chosen { molecule: *molecule, reaction: choice.map(|(reaction, _)| *reaction) };
        let known = route.node_indices().find(|&place| route[place].molecule == *molecule);
        if known.is_some_and(|place| route[place] != chosen) {
            return Err(Inconsistent);
        }
        let product = known.unwrap_or_else(|| route.add_node(chosen));
        // What is known may still be continued differently below, so the walk goes on.
        if let Some((reaction, ranks)) = choice {
            for ((precursor, times), &rank) in graph.reaction(*reaction).distinct_precursors().zip(ranks) {
                let child = self.known[&(precursor, remaining - 1)];
                let precursor = self.collect(graph, child, rank, route)?;
                route.update_edge(product, precursor, times);
            }
        }
        Ok(product)
    }

    fn state(&mut self, molecule: MoleculeId, remaining: u32) -> usize {
        *self.known.entry((molecule, remaining)).or_insert_with(|| {
            self.bytes += ROOM_TO_GROW * (size_of::<State>() + size_of::<((MoleculeId, u32), usize)>());
            self.states.push(State {
                molecule,
                remaining,
                started: false,
                found: Vec::new(),
                succeeded: 0,
                heap: BinaryHeap::new(),
                seen: FxHashSet::default(),
            });
            self.states.len() - 1
        })
    }

    /// Computes the ways of `state` up to number `rank`; false if there are fewer or the budget or the room is spent.
    fn find(&mut self, source: &mut Source<'_, '_>, state: usize, rank: usize) -> bool {
        if !self.states[state].started {
            self.start(source, state);
        }
        while self.states[state].found.len() <= rank {
            if source.validator.interrupted() || self.bytes >= self.room {
                return false;
            }
            while let Some(way) = self.states[state].found.get(self.states[state].succeeded).cloned() {
                self.states[state].succeeded += 1;
                self.push_successors(source, state, &way);
            }
            let Some(candidate) = self.states[state].heap.pop() else { return false };
            match source.validator.settle(source.graph, candidate.reaction) {
                None => return false,
                Some(false) => source.dropped += 1,
                Some(true) => self.admit(source.graph, state, candidate),
            }
        }
        true
    }

    /// Takes a way whose step is valid, or puts it back if validation settled on a costlier template.
    fn admit(&mut self, graph: &Graph, state: usize, mut candidate: Candidate) {
        let step = graph.reaction(candidate.reaction).cost();
        let state = &mut self.states[state];
        if step > candidate.step {
            candidate.cost += step - candidate.step;
            candidate.step = step;
            state.heap.push(candidate);
        } else {
            let choice = Some((candidate.reaction, candidate.ranks));
            state.found.push(Way { cost: candidate.cost, choice });
        }
    }

    fn start(&mut self, source: &mut Source<'_, '_>, state: usize) {
        let State { molecule, remaining, .. } = self.states[state];
        self.states[state].started = true;
        if source.graph.molecule(molecule).block.is_some() {
            self.states[state].found.push(Way { cost: 0.0, choice: None });
            self.states[state].succeeded = 1;
            return;
        }
        let in_time = |&reaction: &ReactionId| source.graph.reaction(reaction).height <= remaining;
        let reactions: Vec<ReactionId> =
            source.graph.molecule(molecule).reactions.iter().copied().filter(in_time).collect();
        for reaction in reactions {
            let ranks = vec![0; source.graph.reaction(reaction).distinct_precursors().count()];
            self.push(source, state, reaction, ranks);
        }
    }

    fn push_successors(&mut self, source: &mut Source<'_, '_>, state: usize, way: &Way) {
        let Some((reaction, ranks)) = &way.choice else { return };
        for at in 0..ranks.len() {
            let mut next = ranks.clone();
            next[at] += 1;
            self.push(source, state, *reaction, next);
        }
    }

    /// Puts the way that makes `state` by `reaction` from these ways of its precursors on the heap, if it is
    /// new and they exist.
    fn push(&mut self, source: &mut Source<'_, '_>, state: usize, reaction: ReactionId, ranks: Vec<usize>) {
        if !self.states[state].seen.insert((reaction, ranks.clone())) {
            return;
        }
        // It is among the seen, and will be on the heap or among the found.
        self.bytes += 2 * block(size_of_val(&*ranks))
            + ROOM_TO_GROW * (size_of::<(ReactionId, Vec<usize>)>() + size_of::<Candidate>());
        let remaining = self.states[state].remaining - 1;
        let precursors: Vec<_> = source.graph.reaction(reaction).distinct_precursors().collect();
        let children: Vec<Child> = precursors
            .into_iter()
            .map(|(molecule, times)| Child { state: self.state(molecule, remaining), times })
            .collect();
        let step = source.graph.reaction(reaction).cost();
        let mut cost = step;
        for (child, &rank) in children.iter().zip(&ranks) {
            if !self.find(source, child.state, rank) {
                return;
            }
            cost += self.states[child.state].found[rank].cost * f64::from(child.times);
        }
        self.states[state].heap.push(Candidate { cost, step, reaction, ranks });
    }
}

impl Ord for Candidate {
    /// The greatest candidate, which the heap gives first, is the cheapest; ties go to what was found first.
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
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::time::{Duration, Instant};

    use chem::{Key, Molecule, Precursor};
    use proptest::prelude::*;

    use super::*;
    use crate::graph::expander::Found;
    use crate::graph::update::{Bounds, propagate};
    use crate::graph::{Verdict, step_cost};
    use crate::model::RetroModel;
    use crate::model::policy::Ranked;
    use crate::task::Budget;
    use catalogue::Block;

    /// For each molecule its reactions: a probability in hundredths and the numbers of the precursors. Molecules
    /// without reactions are building blocks.
    type Chemistry = Vec<Vec<(u32, Vec<usize>)>>;

    const MOLECULES: usize = 7;

    fn chemistry() -> impl Strategy<Value = Chemistry> {
        let reactions = |product: usize| {
            // Mostly downwards, so that routes end.
            let precursor = prop_oneof![4 => product + 1..MOLECULES, 1 => 1..MOLECULES];
            let precursors = prop::collection::btree_set(precursor, 1..=2);
            let precursors = precursors.prop_map(move |mut set| {
                set.remove(&product);
                set.into_iter().collect::<Vec<_>>()
            });
            let reaction =
                (1_u32..=100, precursors).prop_filter("needs a precursor", |(_, set)| !set.is_empty());
            prop::collection::vec(reaction, 0..=2)
        };
        let mut all: Vec<_> = (0..MOLECULES - 1).map(|product| reactions(product).boxed()).collect();
        all.push(Just(Vec::new()).boxed());
        all
    }

    /// Molecule `number` is an alkane of one carbon more.
    fn molecule(number: usize) -> Molecule {
        "C".repeat(number + 1).parse().unwrap()
    }

    fn graph_of(chemistry: &Chemistry, max_depth: u32) -> Graph {
        let mut graph = Graph::new(&molecule(0));
        let numbers: FxHashMap<Key, usize> =
            (0..MOLECULES).map(|number| (molecule(number).key(), number)).collect();
        // A molecule without reactions is for sale, but for the target.
        let block =
            |molecule: &Molecule| chemistry[numbers[&molecule.key()]].is_empty().then_some(Block::new(0));
        let mut next = 0;
        while let Some(id) = graph.all_molecules().nth(next) {
            next += 1;
            let product = numbers[&graph.molecule(id).key];
            for (at, (percent, precursors)) in chemistry[product].iter().enumerate() {
                let precursor =
                    |&number: &usize| Precursor { molecule: molecule(number), sources: Arc::default() };
                let mut precursors: Vec<_> = precursors.iter().map(precursor).collect();
                precursors.sort_by_key(|precursor| precursor.molecule.key());
                let found = Arc::new(Found::new(precursors));
                let ranked = Ranked { template: at as u32, probability: *percent as f32 / 100.0 };
                graph.link(id, ranked, &[found], block);
            }
            for reaction in graph.molecule(id).reactions.clone() {
                graph.reaction_mut(reaction).verdict = Verdict::Valid;
            }
        }
        propagate(&mut graph, Bounds { max_depth, per_atom: 0.0, solved_penalty: 0.0 });
        graph
    }

    /// Every consistent route as its choices, found by trying everything.
    fn routes(chemistry: &Chemistry, max_depth: u32) -> Vec<f64> {
        let ways = all_ways(chemistry, 0, max_depth);
        let mut seen: Vec<_> = ways
            .into_iter()
            .filter(|(_, choices)| {
                choices.iter().all(|(product, at)| choices.iter().all(|(p, a)| p != product || a == at))
            })
            .map(|(cost, mut choices)| {
                choices.sort_unstable();
                choices.dedup();
                (choices, cost)
            })
            .collect();
        seen.sort_by(|a, b| a.0.cmp(&b.0));
        seen.dedup_by(|a, b| a.0 == b.0);
        let mut costs: Vec<f64> = seen.into_iter().map(|(_, cost)| cost).collect();
        costs.sort_by(f64::total_cmp);
        costs
    }

    fn all_ways(chemistry: &Chemistry, molecule: usize, left: u32) -> Vec<(f64, Vec<(usize, usize)>)> {
        if chemistry[molecule].is_empty() && molecule > 0 {
            return vec![(0.0, Vec::new())];
        }
        if left == 0 {
            return Vec::new();
        }
        // The graph keeps one reaction per set of precursors, as probable as all templates that propose it.
        let mut distinct: Vec<(f32, Vec<usize>)> = Vec::new();
        for (percent, precursors) in &chemistry[molecule] {
            let probability = *percent as f32 / 100.0;
            match distinct.iter_mut().find(|(_, known)| known == precursors) {
                Some((sum, _)) => *sum += probability,
                None => distinct.push((probability, precursors.clone())),
            }
        }
        let mut all = Vec::new();
        for (at, (probability, precursors)) in distinct.iter().enumerate() {
            let mut ways = vec![(step_cost(probability.min(1.0)), vec![(molecule, at)])];
            for &precursor in precursors {
                let below = all_ways(chemistry, precursor, left - 1);
                ways = ways
                    .iter()
                    .flat_map(|(cost, choices)| {
                        below.iter().map(move |(more, added)| (cost + more, [&choices[..], added].concat()))
                    })
                    .collect();
            }
            all.extend(ways);
        }
        all
    }

    fn extracted(chemistry: &Chemistry, max_depth: u32) -> Vec<f64> {
        let model = RetroModel::of_one_template("[C:1]-[O:2]>>[C:1].[O:2]");
        let deadline = Instant::now() + Duration::from_secs(600);
        let budget = Budget::until(deadline, Arc::new(AtomicBool::new(false)));
        let mut graph = graph_of(chemistry, max_depth);
        let mut validator = Validator::new(&model, &budget);
        let mut extractor = Extractor::new(&graph, max_depth, usize::MAX);
        let mut source = Source { graph: &mut graph, validator: &mut validator, dropped: 0 };
        (0..)
            .map_while(|rank| extractor.route(&mut source, rank))
            .filter_map(Result::ok)
            .map(|choices| choices.cost)
            .collect()
    }

    proptest! {
        #[test]
        fn routes_are_those_of_a_full_enumeration_in_order(chemistry in chemistry(), max_depth in 1_u32..5) {
            let found = extracted(&chemistry, max_depth);

            let expected = routes(&chemistry, max_depth);
            prop_assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                prop_assert!((found - expected).abs() < 1e-9, "{} is not {}", found, expected);
            }
        }
    }
}
