//! Sanitising of a parsed graph, as in RDKit.
//!
//! A port of `MolOps::sanitizeMol` (RDKit's `MolOps.cpp`, `ConjugHybrid.cpp`) for graphs without hydrogen atoms,
//! dummies and metals. Molecules that RDKit's clean-up would rewrite or refuse are left to the general path.

use super::aromatic;
use super::elements::outer_electrons;
use super::graph::{Atom, BondKind, ChiralTag, Direction, Graph, Strictness, bit, members};
use super::kekule::Kekuliser;
use super::rings::Rings;
use super::valence::valences;

/// Atom properties that stereo perception needs.
#[derive(Debug, Default)]
pub(super) struct AtomGeometry {
    /// Atoms with four single bonds, lone pairs counted.
    pub tetrahedral: u128,
    /// Atoms with a conjugated bond.
    pub conjugated: u128,
}

/// Sanitises a graph; `None` if RDKit refuses it or would change what was written.
pub(super) fn sanitise(
    graph: &mut Graph,
    rings: &mut Rings,
    kekuliser: &mut Kekuliser,
    shapes: &mut AtomGeometry,
) -> Option<()> {
    for at in 0..graph.atoms.len() {
        graph.update(at, Strictness::Strict)?;
        if is_cleaned_up(&graph.atoms[at]) {
            return None;
        }
    }
    let written = aromatic_parts(graph);
    rings.find(graph)?;
    kekuliser.kekulise(graph, rings, written.0)?;
    graph.assign_radicals()?;
    aromatic::perceive(graph, rings)?;
    if has_stereo(graph) {
        conjugate(graph, shapes)?;
        hybridise(graph, shapes)?;
        for at in 0..graph.atoms.len() {
            if shapes.tetrahedral & bit(at) == 0 {
                graph.atoms[at].chirality = ChiralTag::None;
            }
        }
    }
    let perceived = aromatic_parts(graph);
    // If everything is as written, it has been counted already.
    let changed = if perceived == written { kekuliser.opened } else { written.0 | perceived.0 };
    for at in members(changed) {
        adjust_hydrogens(graph, at)?;
        graph.update(at, Strictness::Strict)?;
    }
    Some(())
}

/// Returns the aromatic atoms and bonds.
fn aromatic_parts(graph: &Graph) -> (u128, u128) {
    let atoms = graph.atoms.iter().enumerate().filter(|(_, atom)| atom.aromatic);
    let bonds = graph.bonds.iter().enumerate().filter(|(_, bond)| bond.kind == BondKind::Aromatic);
    (atoms.fold(0, |set, (at, _)| set | bit(at)), bonds.fold(0, |set, (at, _)| set | bit(at)))
}

/// Returns true if the graph states any stereo.
pub(super) fn has_stereo(graph: &Graph) -> bool {
    graph.atoms.iter().any(|atom| atom.chirality != ChiralTag::None)
        || graph.bonds.iter().any(|bond| bond.direction != Direction::None)
}

/// Returns true if `cleanUp` could rewrite the atom: nitro groups with five bonds, P(=O)=C, halogen oxides.
fn is_cleaned_up(atom: &Atom) -> bool {
    atom.charge == 0
        && match atom.number {
            7 => atom.explicit == 5,
            15 => atom.explicit == 5 && atom.degree == 3,
            17 | 35 | 53 => matches!(atom.explicit, 3 | 5 | 7),
            _ => false,
        }
}

/// Port of `setConjugation`.
fn conjugate(graph: &mut Graph, shapes: &mut AtomGeometry) -> Option<()> {
    let (mut candidates, mut fit, mut slim) = (0_u128, 0_u128, 0_u128);
    for (at, atom) in graph.atoms.iter().enumerate() {
        if is_conjugation_candidate(graph, at)? {
            candidates |= bit(at);
            let degree = atom.total_degree();
            if matches!(degree, 2 | 3) {
                fit |= bit(at);
            }
            if degree <= 3 {
                slim |= bit(at);
            }
        }
    }
    for bond in &mut graph.bonds {
        bond.conjugated = bond.aromatic;
    }
    for at in members(fit) {
        let Atom { around, degree, .. } = graph.atoms[at];
        let edges = &around[..usize::from(degree)];
        for one in edges {
            if graph.kind(*one) == BondKind::Single || candidates & bit(one.to) == 0 {
                continue;
            }
            for other in edges {
                if one.bond != other.bond && slim & bit(other.to) != 0 {
                    graph.bonds[usize::from(one.bond)].conjugated = true;
                    graph.bonds[usize::from(other.bond)].conjugated = true;
                }
            }
        }
    }
    shapes.conjugated = 0;
    for bond in graph.bonds.iter().filter(|bond| bond.conjugated) {
        shapes.conjugated |= bit(bond.begin) | bit(bond.end);
    }
    Some(())
}

/// Port of `isAtomConjugCand`.
fn is_conjugation_candidate(graph: &Graph, at: usize) -> Option<bool> {
    let atom = &graph.atoms[at];
    if atom.charge == 0 && atom.total_valence() > valences(atom.number)?[0] {
        return Some(false);
    }
    let outer = outer_electrons(atom.number)?;
    let kind = atom.number <= 10 || !matches!(outer, 5 | 6) || (outer == 6 && atom.total_degree() < 2);
    Some(kind && aromatic::electrons(graph, at)? > 0)
}

/// Port of `setHybridization`, limited to finding SP3 atoms.
fn hybridise(graph: &Graph, shapes: &mut AtomGeometry) -> Option<()> {
    shapes.tetrahedral = 0;
    for (at, atom) in graph.atoms.iter().enumerate() {
        let degree = atom.total_degree();
        let tetrahedral = (atom.chirality != ChiralTag::None && degree == 4)
            || (orbitals(atom)? == 4 && (degree > 3 || shapes.conjugated & bit(at) == 0));
        if tetrahedral {
            shapes.tetrahedral |= bit(at);
        }
    }
    Some(())
}

/// Port of `numBondsPlusLonePairs`.
fn orbitals(atom: &Atom) -> Option<i16> {
    let degree = i16::from(atom.total_degree());
    let outer = i16::from(outer_electrons(atom.number)?);
    let (valence, charge) = (i16::from(atom.total_valence()), i16::from(atom.charge));
    let free = outer - (valence + charge);
    Some(if valence + outer - charge < 8 {
        let radicals = i16::from(atom.radicals);
        degree + (free - radicals) / 2 + radicals
    } else {
        degree + free / 2
    })
}

/// Makes hydrogens explicit that the atom no longer implies (`adjustHs`).
fn adjust_hydrogens(graph: &mut Graph, at: usize) -> Option<()> {
    let before = graph.atoms[at].implied();
    graph.update(at, Strictness::Lenient)?;
    let after = graph.atoms[at].implicit;
    if after < before {
        graph.atoms[at].hydrogens += before - after;
        graph.update_explicit(at)?;
    }
    Some(())
}
