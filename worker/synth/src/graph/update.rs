//! The search values of every node, kept correct from the leaves up.
//!
//! Two costs are kept. `best` is Retro*'s reaction number: the estimated cost of making the molecule, with its size
//! standing for what has not been tried yet. `frontier` is the same over the partial routes in which something is
//! left to try. At the target it is the least Retro* value of any open leaf, and following its minimum downwards
//! finds that leaf, so values need not be pushed down to every descendant. `height` holds the number of steps in
//! which the node is solved, if it is.

use crate::graph::nodes::{MoleculeId, ReactionId, UNSOLVED, ValidationState};
use crate::graph::{Graph, StaleNode};

/// Number of heavy atoms up to which a molecule is estimated to cost nothing.
const FREE_HEAVY_ATOMS: u32 = 9;

/// Limits and penalties of the search's expansion.
#[derive(Debug, Clone, Copy)]
pub struct SearchBounds {
    /// Depth from which molecules are not expanded.
    pub max_depth: u32,
    /// Estimated cost of an unsolved molecule for each of its heavy atoms beyond [`FREE_HEAVY_ATOMS`].
    pub per_atom: f64,
    /// Added to the frontier of solved reactions, so that the search turns to others.
    pub solved_penalty: f64,
    /// Requirements of every route, as counted by [`constraint_filter`](crate::graph::constraint_filter); 0 for none.
    pub required: u32,
}

/// Recomputes the fields of all stale nodes and of everything above them that changes.
pub fn propagate(graph: &mut Graph, bounds: SearchBounds) {
    let mut above: Vec<ReactionId> = Vec::new();
    while let Some(stale) = graph.take_stale() {
        match stale {
            StaleNode::Molecule(id) => {
                if update_molecule(graph, id, bounds) {
                    above.clone_from(&graph.molecule(id).needed_by);
                    above.drain(..).for_each(|reaction| graph.mark_reaction_stale(reaction));
                }
            }
            StaleNode::Reaction(id) => {
                if update_reaction(graph, id, bounds) {
                    graph.mark_molecule_stale(graph.reaction(id).product);
                }
            }
        }
    }
}

/// Recomputes a molecule. Returns true if something changed that the reactions above depend on.
fn update_molecule(graph: &mut Graph, id: MoleculeId, bounds: SearchBounds) -> bool {
    let node = graph.molecule(id);
    let (open, best, frontier, height) = if node.block.is_some() {
        (f64::INFINITY, 0.0, f64::INFINITY, 0)
    } else {
        let open = open_cost(graph, id, bounds);
        let mut best = open;
        let mut frontier = if node.pending { f64::INFINITY } else { open };
        let mut height = UNSOLVED;
        for &reaction in &node.reactions {
            let reaction = graph.reaction(reaction);
            best = best.min(reaction.best);
            frontier = frontier.min(reaction.frontier);
            height = height.min(reaction.height);
        }
        (open, best, frontier, height)
    };
    let satisfiable = if bounds.required == 0 { 0 } else { molecule_requirements(graph, id) };
    let node = graph.molecule_mut(id);
    let changed =
        (node.best, node.frontier, node.height, node.satisfiable) != (best, frontier, height, satisfiable);
    (node.open, node.best, node.frontier, node.height, node.satisfiable) =
        (open, best, frontier, height, satisfiable);
    changed
}

/// Returns the requirements that buying the molecule, or any way to make it, may meet.
fn molecule_requirements(graph: &Graph, id: MoleculeId) -> u32 {
    let node = graph.molecule(id);
    let made = node
        .reactions
        .iter()
        .fold(0, |satisfiable, &reaction| satisfiable | graph.reaction(reaction).satisfiable);
    if node.block.is_some() { node.met_requirements } else { made }
}

/// Returns the requirements that the step and those that make its precursors may meet.
fn reaction_requirements(graph: &Graph, id: ReactionId) -> u32 {
    let node = graph.reaction(id);
    node.precursors.iter().fold(node.met_requirements, |satisfiable, &precursor| {
        satisfiable | graph.molecule(precursor).satisfiable
    })
}

/// Estimates the cost of what has not been tried on the molecule: its next template, and its size.
fn open_cost(graph: &Graph, id: MoleculeId, bounds: SearchBounds) -> f64 {
    let node = graph.molecule(id);
    if node.depth >= bounds.max_depth {
        return f64::INFINITY;
    }
    node.untried_cost + bounds.per_atom * f64::from(node.heavy_atoms.saturating_sub(FREE_HEAVY_ATOMS))
}

/// Recomputes a reaction. Returns true if something changed that the product depends on.
fn update_reaction(graph: &mut Graph, id: ReactionId, bounds: SearchBounds) -> bool {
    let node = graph.reaction(id);
    let (mut best, mut extra, mut height) = (node.cost(), f64::INFINITY, 0_u32);
    for (precursor, times) in node.distinct_precursors() {
        let precursor = graph.molecule(precursor);
        best += precursor.best * f64::from(times);
        if precursor.best.is_finite() {
            extra = f64::min(extra, precursor.frontier - precursor.best);
        }
        height = height.max(precursor.height);
    }
    // A height beyond the limit counts as unsolved. This also ends a loop: when the last way to make either of two
    // molecules has been refused, they could otherwise keep each other solved, one step higher every time.
    let height = match node.validation {
        ValidationState::Unchecked | ValidationState::Valid if height < bounds.max_depth => height + 1,
        ValidationState::Unchecked | ValidationState::Valid | ValidationState::Refused => UNSOLVED,
    };
    if node.leads_back {
        (best, extra) = (f64::INFINITY, f64::INFINITY);
    }
    let penalty = if height == UNSOLVED { 0.0 } else { bounds.solved_penalty };
    let frontier = best + extra + penalty;
    let satisfiable =
        if bounds.required == 0 || height == UNSOLVED { 0 } else { reaction_requirements(graph, id) };
    let node = graph.reaction_mut(id);
    let changed =
        (node.best, node.frontier, node.height, node.satisfiable) != (best, frontier, height, satisfiable);
    (node.best, node.frontier, node.height, node.satisfiable) = (best, frontier, height, satisfiable);
    changed
}
