//! The double bonds whose configuration a graph states.

use chematic::core::ez_markers::{self, EzFact};
use chematic::core::{BondOrder, Molecule as Graph};

use super::rings;

/// The double bonds whose configuration a graph states; `None` where its marks contradict each other or are in
/// places where only the canonical form can tell what they mean (aromatic bonds, small rings).
pub(crate) fn stated(graph: &Graph) -> Option<Vec<EzFact>> {
    let is_mark = |order| matches!(order, BondOrder::Up | BondOrder::Down);
    if graph.has_bond_directions() {
        return None;
    }
    if !graph.bonds().any(|(_, bond)| is_mark(bond.order)) {
        return Some(Vec::new());
    }
    let (facts, conflict) = ez_markers::read_ez_facts(graph)?;
    let rings = rings::smallest_rings(graph);
    // RDKit knows no configuration in a ring of fewer than eight.
    let in_small_ring = |fact: &EzFact| (1..8).contains(&rings[fact.double.0 as usize]);
    (!conflict && !facts.iter().any(in_small_ring) && !share_an_end(graph, &facts)).then_some(facts)
}

/// Whether two of the double bonds hang on one end of another: their marks, depending on where they are written, may
/// say something of that one too (`C\C=C\C(=O)/C=C/C`).
fn share_an_end(graph: &Graph, facts: &[EzFact]) -> bool {
    let is_end = |atom| facts.iter().any(|fact| fact.ends.iter().any(|end| end.atom == atom));
    facts.len() > 1
        && graph.bonds().any(|(at, bond)| {
            let hangs =
                |atom| graph.neighbor_slice(atom).iter().filter(|&&(next, _)| is_end(next)).count() > 1;
            bond.order == BondOrder::Double
                && facts.iter().all(|fact| fact.double != at)
                && (hangs(bond.atom1) || hangs(bond.atom2))
        })
}
