//! Double bonds with a stated configuration.

use chematic::core::ez_markers::{self, EzFact};
use chematic::core::{BondOrder, Molecule as Graph};

use super::rings;

/// Returns the double bonds whose configuration a graph states. `None` if marks contradict each other, or are in
/// places where only the canonical form defines their meaning (aromatic bonds, small rings).
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
    // RDKit has no configuration in rings of fewer than eight atoms.
    let in_small_ring = |fact: &EzFact| (1..8).contains(&rings[fact.double.0 as usize]);
    (!conflict && !facts.iter().any(in_small_ring) && !share_an_end(graph, &facts)).then_some(facts)
}

/// Returns true if two of the double bonds are attached to one end of another. Depending on where their marks are
/// written, these may describe that bond too (`C\C=C\C(=O)/C=C/C`).
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
