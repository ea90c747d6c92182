//! Recombination of charges: a shift of bonds cancels them or moves them to an atom that can lose a proton.
//!
//! The rules follow the charge rules of RDKit's `Normalizer` (`normalizations.in`, 2021), which lists them for paths
//! of three and five atoms; here a path may be longer. Each rule is applied at its first match, in the order of
//! atoms, until none matches.

use chematic::core::{AtomIdx, BondIdx, BondOrder, Chirality, Molecule as Graph};

use crate::graph::index::index;

/// Maximum number of atoms of a path over which charges are recombined.
const MAX_PATH: usize = 9;

/// Maximum number of atoms of a path over which a cation's charge moves, as in RDKit.
const MAX_CHARGE_MOVE: usize = 5;

/// Applies the rules to a graph with alternating bonds; `aromatic` marks the atoms that were aromatic.
pub(super) fn recombine(graph: &mut Graph, aromatic: &[bool]) {
    // Each rule removes a charge or moves one onto an atom with a hydrogen, so the loop ends.
    for _ in 0..2 * graph.atom_count() {
        let changed = open_chelate(graph)
            || to_the_heavier_end(graph)
            || into_double_bond(graph)
            || into_diazo(graph)
            || carbenium(graph)
            || along_a_path(graph)
            || to_a_hydrogen(graph, aromatic);
        if !changed {
            return;
        }
    }
}

fn number(graph: &Graph, atom: AtomIdx) -> u8 {
    graph.atom(atom).element.atomic_number()
}

fn is_single(graph: &Graph, bond: BondIdx) -> bool {
    matches!(graph.bond(bond).order, BondOrder::Single | BondOrder::Up | BondOrder::Down)
}

fn atoms_with_charge(graph: &Graph, charge: i8) -> Vec<AtomIdx> {
    (0..graph.atom_count()).map(index).filter(|&at| graph.atom(at).charge == charge).collect()
}

/// Sets an atom's charge and keeps its hydrogens.
fn set_charge(graph: &mut Graph, atom: AtomIdx, charge: i8) {
    let hydrogens = graph.implicit_hydrogen_count(atom);
    graph.set_hydrogen_count(atom, Some(hydrogens));
    graph.set_charge(atom, charge);
}

/// Opens the dative bond `N+ - B-` of a ring: a MIDA boronate is an amine and an ester of boron in one molecule (Knapp,
/// Gillis, Burke, J. Am. Chem. Soc. 2009, 131, 6961). An open adduct keeps its bond, since it is one molecule only by it.
fn open_chelate(graph: &mut Graph) -> bool {
    for donor in atoms_with_charge(graph, 1) {
        let links = graph.neighbor_slice(donor);
        let is_saturated = links.iter().all(|&(_, bond)| is_single(graph, bond));
        let acceptor = links.iter().copied().find(|&(next, bond)| {
            number(graph, next) == 5 && graph.atom(next).charge == -1 && is_bypassed(graph, donor, next, bond)
        });
        let Some((acceptor, bond)) = acceptor.filter(|_| number(graph, donor) == 7 && is_saturated) else {
            continue;
        };
        for end in [donor, acceptor] {
            set_charge(graph, end, 0);
            graph.set_chirality(end, Chirality::None);
            graph.clear_stereo_neighbor_order(end);
        }
        graph.remove_bond(bond);
        return true;
    }
    false
}

/// Returns true if two bonded atoms are also connected without their bond.
fn is_bypassed(graph: &Graph, from: AtomIdx, to: AtomIdx, bond: BondIdx) -> bool {
    let mut seen = vec![from];
    let mut at = 0;
    while let Some(&atom) = seen.get(at) {
        at += 1;
        for &(next, other) in graph.neighbor_slice(atom) {
            if other != bond && !seen.contains(&next) {
                seen.push(next);
            }
        }
    }
    seen.contains(&to)
}

/// Turns `N- =C=X` into `N#C - X-`: cyanate, thiocyanate, selenocyanate.
fn to_the_heavier_end(graph: &mut Graph) -> bool {
    for anion in atoms_with_charge(graph, -1) {
        let &[(carbon, first)] = graph.neighbor_slice(anion) else { continue };
        let &[one, other] = graph.neighbor_slice(carbon) else { continue };
        let (end, second) = if one.0 == anion { other } else { one };
        let is_double = [first, second].iter().all(|&bond| graph.bond(bond).order == BondOrder::Double);
        let is_end = graph.degree(end) == 1 && graph.atom(end).charge == 0;
        if number(graph, anion) == 7 && is_double && is_end && matches!(number(graph, end), 8 | 16 | 34) {
            set_charge(graph, anion, 0);
            set_charge(graph, end, -1);
            graph.set_bond_order(first, BondOrder::Triple);
            graph.set_bond_order(second, BondOrder::Single);
            return true;
        }
    }
    false
}

/// Turns `X- - Y+` into `X=Y`, where Y may have more bonds than a period-two element.
fn into_double_bond(graph: &mut Graph) -> bool {
    for cation in (0..graph.atom_count()).map(index) {
        if graph.atom(cation).charge < 1 || !matches!(number(graph, cation), 15 | 16 | 33 | 34 | 52) {
            continue;
        }
        let anion = graph.neighbor_slice(cation).iter().copied().find(|&(next, bond)| {
            graph.atom(next).charge == -1
                && matches!(number(graph, next), 6 | 7 | 8 | 16 | 34)
                && is_single(graph, bond)
        });
        if let Some((anion, bond)) = anion {
            let charge = graph.atom(cation).charge - 1;
            set_charge(graph, cation, charge);
            set_charge(graph, anion, 0);
            graph.set_bond_order(bond, BondOrder::Double);
            return true;
        }
    }
    false
}

/// Turns `X- - N+ # N` into `X=N+=N-`.
fn into_diazo(graph: &mut Graph) -> bool {
    for anion in atoms_with_charge(graph, -1) {
        if !matches!(number(graph, anion), 6 | 7) {
            continue;
        }
        let links = graph.neighbor_slice(anion).to_vec();
        for (middle, bond) in links.into_iter().filter(|&(_, bond)| is_single(graph, bond)) {
            if number(graph, middle) != 7 || graph.atom(middle).charge != 1 {
                continue;
            }
            let end = graph.neighbor_slice(middle).iter().copied().find(|&(next, bond)| {
                number(graph, next) == 7
                    && graph.atom(next).charge == 0
                    && graph.bond(bond).order == BondOrder::Triple
            });
            if let Some((end, triple)) = end {
                set_charge(graph, anion, 0);
                set_charge(graph, end, -1);
                graph.set_bond_order(bond, BondOrder::Double);
                graph.set_bond_order(triple, BondOrder::Double);
                return true;
            }
        }
    }
    false
}

/// Turns `C+ - N` into `C=N+` if the cation has two nitrogen neighbours and one of them has a hydrogen.
fn carbenium(graph: &mut Graph) -> bool {
    for cation in atoms_with_charge(graph, 1) {
        let around = graph.neighbor_slice(cation);
        if number(graph, cation) != 6 || around.iter().any(|&(_, bond)| !is_single(graph, bond)) {
            continue;
        }
        let is_amine = |&&(next, _): &&(AtomIdx, BondIdx)| {
            number(graph, next) == 7
                && graph.atom(next).charge == 0
                && graph.neighbor_slice(next).iter().all(|&(_, bond)| is_single(graph, bond))
        };
        let amines: Vec<_> = around.iter().filter(is_amine).copied().collect();
        let with_hydrogen = amines.iter().find(|(next, _)| graph.implicit_hydrogen_count(*next) > 0);
        if let (true, Some(&(nitrogen, bond))) = (amines.len() > 1, with_hydrogen) {
            set_charge(graph, cation, 0);
            set_charge(graph, nitrogen, 1);
            graph.set_bond_order(bond, BondOrder::Double);
            return true;
        }
    }
    false
}

/// Turns `X- - a=b - … =Y+` into `X=a - b= … - Y`, along the shortest such path.
fn along_a_path(graph: &mut Graph) -> bool {
    let cations = atoms_with_charge(graph, 1);
    if cations.is_empty() {
        return false;
    }
    for length in (3..=MAX_PATH).step_by(2) {
        for anion in atoms_with_charge(graph, -1) {
            if !matches!(number(graph, anion), 6 | 7 | 8 | 15 | 16 | 34) {
                continue;
            }
            let is_end = |graph: &Graph, at| {
                graph.atom(at).charge == 1 && matches!(number(graph, at), 7 | 8 | 15 | 16 | 34)
            };
            let mut path = vec![anion];
            let mut bonds = Vec::new();
            if walk(graph, &mut path, &mut bonds, length, &is_end, &|_, _| true) {
                let end = path[path.len() - 1];
                set_charge(graph, anion, 0);
                set_charge(graph, end, 0);
                flip(graph, &bonds);
                return true;
            }
        }
    }
    false
}

/// Turns `X-a=Y+` into `X+=a-Y` if X has a hydrogen and Y has none, all in chains or all in aromatic rings (where
/// RDKit leaves the charge: 1-methylimidazolium is nevertheless a salt of 1-methylimidazole).
fn to_a_hydrogen(graph: &mut Graph, aromatic: &[bool]) -> bool {
    let is_aromatic = |at: AtomIdx| aromatic[at.0 as usize];
    let is_end = |graph: &Graph, at: AtomIdx| {
        let links = graph.neighbor_slice(at);
        graph.atom(at).charge == 1
            && matches!(number(graph, at), 7 | 8)
            && graph.implicit_hydrogen_count(at) == 0
            && !links.iter().any(|&(next, _)| graph.atom(next).charge < 0)
    };
    if !(0..graph.atom_count()).map(index).any(|at| is_end(graph, at)) {
        return false;
    }
    for length in (3..=MAX_CHARGE_MOVE).step_by(2) {
        for start in atoms_with_charge(graph, 0) {
            let element = number(graph, start);
            let on_nitrogen =
                || graph.neighbor_slice(start).iter().any(|&(next, _)| number(graph, next) == 7);
            if !(element == 7 || element == 8 && !on_nitrogen()) || graph.implicit_hydrogen_count(start) == 0
            {
                continue;
            }
            let (mut path, mut bonds) = (vec![start], Vec::new());
            let is_alike = |at| is_aromatic(at) == is_aromatic(start);
            let is_end = |graph: &Graph, at| is_alike(at) && is_end(graph, at);
            if walk(graph, &mut path, &mut bonds, length, &is_end, &|_, at| is_alike(at)) {
                let end = path[path.len() - 1];
                set_charge(graph, start, 1);
                set_charge(graph, end, 0);
                flip(graph, &bonds);
                return true;
            }
        }
    }
    false
}

/// Finds a path of `length` atoms with alternating single and double bonds, from the one atom in `path` to an atom
/// that satisfies `is_end`, through neutral atoms that satisfy `may_pass`.
fn walk(
    graph: &Graph,
    path: &mut Vec<AtomIdx>,
    bonds: &mut Vec<BondIdx>,
    length: usize,
    is_end: &dyn Fn(&Graph, AtomIdx) -> bool,
    may_pass: &dyn Fn(&Graph, AtomIdx) -> bool,
) -> bool {
    let Some(&at) = path.last() else { return false };
    for &(next, bond) in graph.neighbor_slice(at) {
        let fits = if bonds.len().is_multiple_of(2) {
            is_single(graph, bond)
        } else {
            graph.bond(bond).order == BondOrder::Double
        };
        if !fits || path.contains(&next) {
            continue;
        }
        let is_last = path.len() + 1 == length;
        let stands =
            if is_last { is_end(graph, next) } else { graph.atom(next).charge == 0 && may_pass(graph, next) };
        if !stands {
            continue;
        }
        path.push(next);
        bonds.push(bond);
        if is_last || walk(graph, path, bonds, length, is_end, may_pass) {
            return true;
        }
        path.pop();
        bonds.pop();
    }
    false
}

/// Swaps the single and double bonds of an alternating path.
fn flip(graph: &mut Graph, bonds: &[BondIdx]) {
    for (place, &bond) in bonds.iter().enumerate() {
        let order = if place.is_multiple_of(2) { BondOrder::Double } else { BondOrder::Single };
        graph.set_bond_order(bond, order);
    }
}
