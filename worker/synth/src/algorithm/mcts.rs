//! Monte Carlo tree search with a policy prior (Segler, Preuss and Waller, Nature 2018).
//!
//! A walk goes down from the target: at a molecule by PUCT over its reactions, with the untried templates as one
//! more choice, at a reaction to the unsolved precursor that was visited least. It ends at a molecule with
//! something left to try, which is expanded in place. The reward of a walk is the part of the leaves of its
//! partial route that are solved once its end is expanded; there is no rollout, which Segler's own successors
//! found to be worth less than the time it takes. The paper's states are sets of molecules; here they are the
//! nodes of the shared graph, so what is learned about a molecule holds wherever it is needed.

use rustc_hash::FxHashMap;

use super::Choice;
use crate::graph::{Graph, MoleculeId, ReactionId, UNSOLVED};

/// Weight of the prior against the mean reward.
const EXPLORATION: f64 = 1.0;
/// Added to the reward of a partial route for each step: of two solved ones the shorter is better.
const STEP_REWARD: f64 = -0.02;

#[derive(Default)]
pub struct Mcts {
    reactions: Vec<Visits>,
    /// Visits of molecules, and of these the times that untried templates were chosen.
    molecules: Vec<(f64, f64)>,
    /// The walks whose ends are being expanded.
    walks: FxHashMap<MoleculeId, Vec<ReactionId>>,
}

#[derive(Clone, Copy, Default)]
struct Visits {
    count: f64,
    reward: f64,
}

impl Choice for Mcts {
    fn next(&mut self, graph: &Graph) -> Option<MoleculeId> {
        if graph.molecule(graph.target()).frontier.is_infinite() {
            return None;
        }
        self.reactions.resize(graph.reactions(), Visits::default());
        self.molecules.resize(graph.molecules(), (0.0, 0.0));
        let mut walk = Vec::new();
        let mut next = graph.target();
        loop {
            self.molecules[next.index()].0 += 1.0;
            let Some(reaction) = self.best_reaction(graph, next) else {
                self.molecules[next.index()].1 += 1.0;
                self.walks.insert(next, walk);
                return Some(next);
            };
            // Counted now, without a reward, so that walks that start before this one ends go elsewhere.
            self.reactions[reaction.index()].count += 1.0;
            walk.push(reaction);
            next = self.least_visited(graph, reaction);
        }
    }

    fn learn(&mut self, graph: &Graph, expanded: MoleculeId) {
        let Some(walk) = self.walks.remove(&expanded) else { return };
        let reward = reward(graph, &walk, expanded);
        for reaction in walk {
            self.reactions[reaction.index()].reward += reward;
        }
    }
}

impl Mcts {
    /// The reaction to follow; `None` to expand the molecule itself.
    fn best_reaction(&self, graph: &Graph, id: MoleculeId) -> Option<ReactionId> {
        let node = graph.molecule(id);
        let (visits, own) = self.molecules[id.index()];
        let score = |mean: f64, cost: f64, count: f64| {
            mean + EXPLORATION * (-cost).exp() * visits.sqrt() / (1.0 + count)
        };
        let own = node.is_open().then(|| score(0.0, node.open, own));
        let reactions =
            node.reactions.iter().filter(|&&reaction| graph.reaction(reaction).frontier.is_finite());
        let best = reactions
            .map(|&id| {
                let known = self.reactions[id.index()];
                let mean = if known.count > 0.0 { known.reward / known.count } else { 0.0 };
                (id, score(mean, graph.reaction(id).cost(), known.count))
            })
            .max_by(|(a, a_score), (b, b_score)| a_score.total_cmp(b_score).then(b.cmp(a)));
        best.filter(|(_, score)| own.is_none_or(|own| own < *score)).map(|(reaction, _)| reaction)
    }

    /// The precursor with something left to try below it: one that is not solved before one that is.
    fn least_visited(&self, graph: &Graph, reaction: ReactionId) -> MoleculeId {
        graph
            .reaction(reaction)
            .precursors
            .iter()
            .copied()
            .filter(|&id| graph.molecule(id).frontier.is_finite())
            .min_by(|&a, &b| {
                let rank = |id: MoleculeId| (graph.molecule(id).height != UNSOLVED, id);
                let visits = |id: MoleculeId| self.molecules[id.index()].0;
                rank(a).0.cmp(&rank(b).0).then(visits(a).total_cmp(&visits(b))).then(a.cmp(&b))
            })
            .expect("mcts: a reaction's frontier comes from a precursor")
    }
}

/// The part of the leaves of the walk's partial route that are solved: the precursors that it passed by, and
/// the best that the end of the walk has become.
fn reward(graph: &Graph, walk: &[ReactionId], end: MoleculeId) -> f64 {
    let is_solved = |id: MoleculeId| graph.molecule(id).height != UNSOLVED;
    let part = |reaction: ReactionId| {
        let precursors = &graph.reaction(reaction).precursors;
        let solved = precursors.iter().filter(|&&precursor| is_solved(precursor)).count();
        solved as f64 / precursors.len() as f64
    };
    let of_end = if is_solved(end) {
        1.0
    } else {
        graph.molecule(end).reactions.iter().map(|&reaction| part(reaction)).fold(0.0, f64::max)
    };
    let (mut solved, mut leaves) = (of_end, 1.0);
    for &reaction in walk {
        let precursors = &graph.reaction(reaction).precursors;
        leaves += (precursors.len() - 1) as f64;
        let by = precursors.iter().filter(|&&precursor| is_solved(precursor)).count();
        solved += by.min(precursors.len() - 1) as f64;
    }
    (solved / leaves + STEP_REWARD * walk.len() as f64).max(0.0)
}
