//! Breadth-first search: expands every molecule with all its templates, in the order of discovery.
//!
//! Molecules are numbered as they are discovered, so that order is the order of their ids.

use super::SelectionStrategy;
use crate::graph::Graph;
use crate::graph::nodes::MoleculeId;

#[derive(Default)]
pub struct BreadthFirst {
    /// Search start: no earlier molecule was open when this one was chosen.
    from: usize,
}

impl SelectionStrategy for BreadthFirst {
    fn next(&mut self, graph: &Graph) -> Option<MoleculeId> {
        let is_open = |&id: &MoleculeId| graph.molecule(id).is_open();
        // A molecule may open again when a shorter path to it is found or more templates are allowed.
        let next = graph
            .all_molecules()
            .skip(self.from)
            .find(is_open)
            .or_else(|| graph.all_molecules().take(self.from).find(is_open))?;
        self.from = next.index();
        Some(next)
    }

    fn batch(&self, _tried: usize) -> usize {
        usize::MAX
    }
}
