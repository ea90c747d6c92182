//! Best-first search (Retro*, Chen et al., ICML 2020).
//!
//! The next molecule is the open leaf of the cheapest partial route. Templates are tried in small batches: once
//! a batch is tried, the molecule is open again at the cost of its next template, so a sure step deep in the
//! tree is tried before an unlikely one at the top. The value of a molecule nobody has turned to is 0.

use super::Choice;
use crate::graph::{Graph, MoleculeId};

pub struct RetroStar;

impl Choice for RetroStar {
    /// All: an improbable template of a molecule that is needed is tried in the order of its cost, before the
    /// probable ones of a molecule behind several improbable steps.
    fn templates(&self) -> usize {
        usize::MAX
    }

    fn next(&mut self, graph: &Graph) -> Option<MoleculeId> {
        let mut next = graph.target();
        if graph.molecule(next).frontier.is_infinite() {
            return None;
        }
        loop {
            let node = graph.molecule(next);
            if node.is_open() && node.open <= node.frontier {
                return Some(next);
            }
            let reaction = node
                .reactions
                .iter()
                .map(|&id| graph.reaction(id))
                .min_by(|a, b| {
                    a.frontier.total_cmp(&b.frontier).then_with(|| a.precursors.cmp(&b.precursors))
                })
                .expect("retro star: a frontier comes from the molecule or from a reaction");
            // Of several, the largest: it is the likeliest dead end, so the rest may not be needed.
            next = reaction
                .precursors
                .iter()
                .copied()
                .filter(|&id| graph.molecule(id).frontier.is_finite())
                .min_by(|&a, &b| {
                    let (a, b) = (graph.molecule(a), graph.molecule(b));
                    (a.frontier - a.best)
                        .total_cmp(&(b.frontier - b.best))
                        .then(b.heavy_atoms.cmp(&a.heavy_atoms))
                        .then(a.key.cmp(&b.key))
                })
                .expect("retro star: a reaction's frontier comes from a precursor");
        }
    }
}
