//! InChIKeys of structures, from the IUPAC's own library (InChI 1.07, MIT), which `chematic-inchi` builds from its
//! source.
//!
//! The keys equal those of RDKit 2026.09.1 (the same library). A structure gets no key where RDKit gives none: wildcard
//! atoms, dative and other unusual bonds. Neither does one with a configuration that chematic 1.2.1 does not pass to the
//! library, because a key that omits it belongs to another molecule: at sulfur and selenium, at phosphorus, arsenic and
//! the nitrogen of a three-membered ring with a lone pair, at an atom with two hydrogens of different isotopes, and at a
//! double bond with such hydrogens at one end.

use chematic::core::{
    AtomIdx, BondOrder, Chirality, Molecule as Graph,
    ez_markers::{self, EzFact, EzFactEnd},
};
use parking_lot::Mutex;

/// The library keeps global tables while it works.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Standard InChIKey of a canonical SMILES; `None` for an invalid molecule or one without a key here.
#[must_use]
pub fn inchi_key(smiles: &str) -> Option<String> {
    if smiles.contains("[S@") || smiles.contains("[Se@") {
        return None;
    }
    let mut graph = chematic::smiles::parse(smiles).ok()?;
    if !has_key(&graph) || !mark_by_heavy_atoms(&mut graph) {
        return None;
    }
    let _alone = ONE_AT_A_TIME.lock();
    let inchi = chematic_inchi::standard_inchi(&graph).ok()?;
    chematic_inchi::standard_inchi_key(&inchi).ok()
}

fn is_hydrogen(graph: &Graph, atom: AtomIdx) -> bool {
    graph.atom(atom).element.atomic_number() == 1
}

/// Returns true if the library gets all of a structure but its double bonds.
fn has_key(graph: &Graph) -> bool {
    let is_usual = |order| {
        use BondOrder::{Aromatic, Double, Down, Single, Triple, Up};
        matches!(order, Single | Up | Down | Double | Triple | Aromatic)
    };
    let is_passed_on = |at: AtomIdx| {
        let hydrogens = graph.neighbors(at).filter(|&(next, _)| is_hydrogen(graph, next)).count();
        graph.atom(at).chirality == Chirality::None
            || hydrogens + usize::from(graph.implicit_hydrogen_count(at)) < 2 && !has_lone_pair(graph, at)
    };
    graph.bonds().all(|(_, bond)| is_usual(bond.order))
        && graph.atoms().all(|(at, atom)| !atom.wildcard && is_passed_on(at))
}

/// Returns true if a centre has three neighbours and a lone pair that the library takes for the fourth.
fn has_lone_pair(graph: &Graph, at: AtomIdx) -> bool {
    let around: Vec<AtomIdx> = graph.neighbors(at).map(|(next, _)| next).collect();
    let has_bond = |a, b| graph.bond_between(a, b).is_some();
    let in_small_ring =
        around.iter().enumerate().any(|(at, &a)| around[..at].iter().any(|&b| has_bond(a, b)));
    let element = graph.atom(at).element.atomic_number();
    around.len() == 3
        && graph.implicit_hydrogen_count(at) == 0
        && (matches!(element, 15 | 33) || element == 7 && in_small_ring)
}

/// Marks double bonds by neighbours other than hydrogen atoms, which the library does not get; false if one has none.
fn mark_by_heavy_atoms(graph: &mut Graph) -> bool {
    let is_marked = |order| matches!(order, BondOrder::Up | BondOrder::Down);
    let hides = |graph: &Graph| {
        graph.bonds().any(|(_, bond)| {
            is_marked(bond.order) && (is_hydrogen(graph, bond.atom1) || is_hydrogen(graph, bond.atom2))
        })
    };
    if !hides(graph) {
        return true;
    }
    let heavy = |end: EzFactEnd, double| {
        let side = graph.bond(end.reference).other(end.atom)?;
        if !is_hydrogen(graph, side) {
            return Some(end);
        }
        let mut others =
            graph.neighbors(end.atom).filter(|&(_, bond)| bond != double && bond != end.reference);
        let (_, reference) = others.find(|&(next, _)| !is_hydrogen(graph, next))?;
        Some(EzFactEnd { reference, up: !end.up, ..end })
    };
    let Some((facts, false)) = ez_markers::read_ez_facts(graph) else { return false };
    let facts = facts.into_iter().map(|EzFact { double, ends: [a, b] }| {
        Some(EzFact { double, ends: [heavy(a, double)?, heavy(b, double)?] })
    });
    let Some(facts) = facts.collect::<Option<Vec<_>>>() else { return false };
    ez_markers::write_ez_facts(graph, &facts) && !hides(graph)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected keys are those that RDKit 2026.09.1 wrote for the structures of a file that other tests also
    /// read.
    #[test]
    fn keys_are_those_that_rdkit_gives() {
        let records = include_str!("../tests/data/structures.sdf");
        let data = |record: &str, name: &str| {
            record
                .split_once(&format!("<{name}>\n"))
                .and_then(|(_, rest)| rest.lines().next())
                .unwrap()
                .to_owned()
        };
        let mut known = 0;
        for record in records.split("$$$$\n").filter(|record| !record.is_empty()) {
            let smiles = data(record, "canonical");
            match inchi_key(&smiles) {
                Some(key) => {
                    assert_eq!(key, data(record, "inchi_key"), "{smiles}");
                    known += 1;
                }
                None => assert_eq!(smiles, "C[S@](=O)c1ccccc1"),
            }
        }
        assert_eq!(known, 29);
        assert_eq!((inchi_key("C1CC"), inchi_key("")), (None, None));
    }
}
