//! InChIKeys of structures, from the IUPAC's own library (InChI 1.07, MIT), which `chematic-inchi` builds from its
//! source.
//!
//! The library gets a structure as RDKit passes it: hydrogens that are atoms as atoms, so that a configuration may rest
//! on deuterium, and a lone pair of a centre in the place of its fourth neighbour. The keys equal those of RDKit
//! 2026.09.1 (the same library). A structure gets no key where RDKit gives none: wildcard atoms, dative and other unusual
//! bonds. Neither does one with a configuration that the library cannot hold (square-planar and octahedral centres).

mod library;

use chem::{Token, tokens};
use chematic::core::{
    AtomIdx, BondOrder, Chirality, Molecule as Graph, STEREO_H_SENTINEL, ez_markers,
    kekulization::{apply_kekule, kekulize},
};
use library::{Atom, Parity, Stereo, StereoKind};

/// Standard InChIKey of a canonical SMILES; `None` for an invalid molecule or one without a key here.
#[must_use]
pub fn inchi_key(smiles: &str) -> Option<String> {
    let written = chematic::smiles::parse(smiles).ok()?;
    let mut stereo = double_bonds(&written)?;
    let mut kekule = apply_kekule(&written, &kekulize(&written).ok()?);
    set_perchlorates(&mut kekule);
    let atoms: Vec<Atom> = kekule.atoms().map(|(at, _)| atom(&kekule, at)).collect::<Option<_>>()?;
    for ((at, atom), ring_bonds) in written.atoms().zip(ring_bonds(smiles)) {
        let parity = match atom.chirality {
            Chirality::None => continue,
            Chirality::CounterClockwise => Parity::Odd,
            Chirality::Clockwise => Parity::Even,
            _ => return None,
        };
        stereo.push(centre(&written, at, parity, ring_bonds)?);
    }
    let inchi = library::standard_inchi(atoms, stereo)?;
    chematic_inchi::standard_inchi_key(&inchi).ok()
}

/// Counts the ends of ring bonds that a SMILES writes at each atom.
fn ring_bonds(smiles: &str) -> Vec<usize> {
    let mut counts = Vec::new();
    for token in tokens(smiles) {
        match token {
            Token::Atom(_) | Token::Bracket(_) => counts.push(0),
            Token::Ring(_) => counts.last_mut().into_iter().for_each(|count| *count += 1),
            _ => {}
        }
    }
    counts
}

/// Writes the ions of perchloric acid with double bonds, as RDKit passes them to the library (`rCleanUp`).
fn set_perchlorates(graph: &mut Graph) {
    let is = |graph: &Graph, at, number: u8, charge| {
        let atom = graph.atom(at);
        atom.element.atomic_number() == number && atom.charge == charge
    };
    let chlorines: Vec<AtomIdx> =
        graph.atoms().map(|(at, _)| at).filter(|&at| is(graph, at, 17, 3) && graph.degree(at) == 4).collect();
    for chlorine in chlorines {
        let around: Vec<_> = graph.neighbors(chlorine).collect();
        let charged: Vec<_> = around.iter().filter(|&&(next, _)| is(graph, next, 8, -1)).copied().collect();
        let is_perchlorate = charged.len() >= 3
            && around.iter().all(|&(next, _)| graph.atom(next).element.atomic_number() == 8);
        if is_perchlorate {
            graph.set_charge(chlorine, 0);
            for &(oxygen, bond) in &charged[charged.len() - 3..] {
                graph.set_charge(oxygen, 0);
                graph.set_bond_order(bond, BondOrder::Double);
            }
        }
    }
}

/// Returns the library's number of an atom.
fn number(at: AtomIdx) -> Option<i16> {
    i16::try_from(at.0).ok()
}

/// Returns an atom with its bonds to earlier ones; `None` for a wildcard or an unusual bond.
fn atom(graph: &Graph, at: AtomIdx) -> Option<Atom> {
    let atom = graph.atom(at);
    if atom.wildcard {
        return None;
    }
    let mut found = Atom::new(atom.element.symbol());
    found.charge(atom.charge);
    found.isotope(atom.isotope)?;
    found.hydrogens(graph.implicit_hydrogen_count(at))?;
    for (next, bond) in graph.neighbors(at) {
        let order = match graph.bond(bond).order {
            BondOrder::Single | BondOrder::Up | BondOrder::Down => 1,
            BondOrder::Double => 2,
            BondOrder::Triple => 3,
            _ => return None,
        };
        if next.0 < at.0 {
            found.bond(number(next)?, order)?;
        }
    }
    Some(found)
}

/// Returns the configuration of a centre of three or four neighbours, which is `parity` in the order of the SMILES:
/// odd if the others are anticlockwise from the first. Of a centre with a lone pair and single bonds that begins or ends
/// one ring bond, RDKit reads the mark the other way round (`chiralAtomNeedsTagInversion`).
fn centre(graph: &Graph, at: AtomIdx, parity: Parity, ring_bonds: usize) -> Option<Stereo> {
    let order = graph.stereo_neighbor_order(at)?;
    let missing = order.iter().position(|&next| next == STEREO_H_SENTINEL);
    let mut numbers =
        order.iter().filter(|&&next| next != STEREO_H_SENTINEL).map(|&next| number(AtomIdx(next)));
    let (neighbours, parity) = match (order.len(), missing) {
        (4, None) => ([numbers.next()??, numbers.next()??, numbers.next()??, numbers.next()??], parity),
        // The centre takes the first place, where its hydrogen or lone pair is.
        (4, Some(place)) => {
            let parity = if place % 2 == 0 { parity } else { parity.inverted() };
            ([number(at)?, numbers.next()??, numbers.next()??, numbers.next()??], parity)
        }
        (3, None) => {
            let is_single = |bond| !matches!(graph.bond(bond).order, BondOrder::Double | BondOrder::Triple);
            let is_inverted = ring_bonds == 1 && graph.neighbors(at).all(|(_, bond)| is_single(bond));
            let parity = if is_inverted { parity } else { parity.inverted() };
            ([number(at)?, numbers.next()??, numbers.next()??, numbers.next()??], parity)
        }
        _ => return None,
    };
    Some(Stereo { neighbours, kind: StereoKind::Centre(number(at)?), parity })
}

/// Returns the configurations of the double bonds; `None` if marks contradict each other.
fn double_bonds(graph: &Graph) -> Option<Vec<Stereo>> {
    let (facts, _) = ez_markers::read_ez_facts(graph)?;
    let stereo = facts.into_iter().map(|fact| {
        let [a, b] = fact.ends;
        let side = |end: ez_markers::EzFactEnd| number(graph.bond(end.reference).other(end.atom)?);
        let parity = if a.up == b.up { Parity::Odd } else { Parity::Even };
        let neighbours = [side(a)?, number(a.atom)?, number(b.atom)?, side(b)?];
        Some(Stereo { neighbours, kind: StereoKind::DoubleBond, parity })
    });
    stereo.collect()
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
                None => panic!("{smiles} has no key"),
            }
        }
        assert_eq!(known, 30);
        assert_eq!((inchi_key("C1CC"), inchi_key("")), (None, None));
    }
}
