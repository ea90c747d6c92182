//! Dead ends of a search without a route.

use rustc_hash::FxHashSet;

use crate::graph::Graph;
use crate::graph::nodes::UNSOLVED;

/// Returns the molecules that the cheapest attempt at the target can neither make nor buy, each once.
pub fn stopped_by(graph: &Graph) -> Vec<String> {
    let mut seen = FxHashSet::default();
    let mut stopped = Vec::new();
    let mut open = vec![graph.target()];
    while let Some(id) = open.pop() {
        let molecule = graph.molecule(id);
        if molecule.height != UNSOLVED && id != graph.target() || !seen.insert(id) {
            continue;
        }
        let reactions = molecule.reactions.iter().map(|&reaction| graph.reaction(reaction));
        let cheapest = reactions
            .filter(|reaction| reaction.best.is_finite())
            .min_by(|a, b| a.best.total_cmp(&b.best).then_with(|| a.precursors.cmp(&b.precursors)));
        match cheapest {
            Some(reaction) => open.extend(reaction.precursors.iter().rev()),
            None => stopped.push(molecule.molecule.canonical_smiles()),
        }
    }
    stopped
}
