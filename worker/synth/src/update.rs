//! What the search knows of every node, kept true from the leaves up.
//!
//! Two costs are kept. `best` is Retro*'s reaction number: a lower bound of the cost of making the molecule.
//! `frontier` is the same over the partial routes in which something is left to try; at the target it is the
//! least Retro* value of any open leaf, and following its minimum downwards finds that leaf, so values need not
//! be pushed down to every descendant. `height` tells whether the node is solved, and in how many steps.

use crate::graph::{Graph, MoleculeId, ReactionId, StaleNode, UNSOLVED, Verdict, step_cost};

/// What bounds the search's openings.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Molecules this deep are not expanded.
    pub max_depth: u32,
    /// The current width of the search; molecules expanded at a lesser one are open again.
    pub width: usize,
}

/// Computes the fields of all stale nodes and of everything above them that changes.
pub fn propagate(graph: &mut Graph, bounds: Bounds) {
    while let Some(stale) = graph.take_stale() {
        match stale {
            StaleNode::Molecule(id) => {
                if update_molecule(graph, id, bounds) {
                    let above: Vec<ReactionId> = graph.needed_by(id).collect();
                    above.into_iter().for_each(|reaction| graph.mark_reaction(reaction));
                }
            }
            StaleNode::Reaction(id) => {
                if update_reaction(graph, id) {
                    graph.mark_molecule(graph.reaction(id).product);
                }
            }
        }
    }
}

/// Whether something changed that the reactions above see.
fn update_molecule(graph: &mut Graph, id: MoleculeId, bounds: Bounds) -> bool {
    let (open, best, frontier, height) = if graph.molecule(id).block.is_some() {
        (f64::INFINITY, 0.0, f64::INFINITY, 0)
    } else {
        let open = open_cost(graph, id, bounds);
        let (mut best, mut frontier, mut height) = (open, open, UNSOLVED);
        for reaction in graph.reactions_of(id) {
            let reaction = graph.reaction(reaction);
            best = best.min(reaction.best);
            frontier = frontier.min(reaction.frontier);
            height = height.min(reaction.height);
        }
        (open, best, frontier, height)
    };
    let node = graph.molecule_mut(id);
    let changed = (node.best, node.frontier, node.height) != (best, frontier, height);
    (node.open, node.best, node.frontier, node.height) = (open, best, frontier, height);
    changed
}

/// Lower bound of the cost of what has not been tried on the molecule.
fn open_cost(graph: &Graph, id: MoleculeId, bounds: Bounds) -> f64 {
    let node = graph.molecule(id);
    if node.depth >= bounds.max_depth {
        return f64::INFINITY;
    }
    let Some(expansion) = node.expansion.as_ref().filter(|_| node.is_expanded()) else { return 0.0 };
    match (expansion.ranked.get(expansion.tried), expansion.ranked.last()) {
        (Some(next), _) => step_cost(next.probability),
        // What a greater width adds is no more probable than the last template of this one.
        (None, Some(last)) if expansion.width < bounds.width => step_cost(last.probability),
        (None, _) => f64::INFINITY,
    }
}

/// Whether something changed that the product sees.
fn update_reaction(graph: &mut Graph, id: ReactionId) -> bool {
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
    let frontier = best + extra;
    let height = match node.verdict {
        Verdict::Refused => UNSOLVED,
        Verdict::Unchecked | Verdict::Valid => height.saturating_add(1),
    };
    let node = graph.reaction_mut(id);
    let changed = (node.best, node.frontier, node.height) != (best, frontier, height);
    (node.best, node.frontier, node.height) = (best, frontier, height);
    changed
}
