//! Best-first search (Retro*, Chen et al., ICML 2020).
//!
//! The next molecule is the open leaf of the cheapest partial route. Templates are tried in small batches. After a
//! batch the molecule is open again at the cost of its next template, so a probable step deep in the tree is tried
//! before an improbable one at the top. The untried templates of a molecule cost the molecule's estimate
//! (`graph/update.rs`) plus the next template's cost.

use super::SelectionStrategy;
use crate::graph::Graph;
use crate::graph::nodes::MoleculeId;

pub struct RetroStar;

impl SelectionStrategy for RetroStar {
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
            // Chooses the largest precursor: it is the likeliest dead end, so the rest may not be needed.
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use chem::{Molecule, Precursor};

    use super::*;
    use crate::graph::expander::TemplateOutcome;
    use crate::graph::update::{SearchBounds, propagate};
    use crate::model::policy::Ranked;

    fn alkane(atoms: usize) -> Molecule {
        "C".repeat(atoms).parse().unwrap()
    }

    /// Size of the molecule expanded next, of 32 atoms with probability 0.6 and 12 with 0.4.
    fn next(per_atom: f64) -> u32 {
        let mut graph = Graph::new(&alkane(40));
        let target = graph.target();
        for (template, (probability, atoms)) in [(0.6, 32), (0.4, 12)].into_iter().enumerate() {
            let precursor = Precursor { molecule: alkane(atoms), sources: Arc::default() };
            let ranked = Ranked { template: template as u32, probability };
            graph.link(target, ranked, &[Arc::new(TemplateOutcome::new(vec![precursor]))], |_| None);
        }
        let tried = graph.molecule_mut(target);
        (tried.expanded, tried.untried_cost) = (true, f64::INFINITY);
        graph.mark_molecule_stale(target);
        propagate(&mut graph, SearchBounds { max_depth: 5, per_atom, solved_penalty: 0.0, required: 0 });
        graph.molecule(RetroStar.next(&graph).unwrap()).heavy_atoms
    }

    #[test]
    fn a_smaller_molecule_is_worth_a_less_probable_step() {
        assert_eq!((next(0.0), next(0.8)), (32, 12));
    }
}
