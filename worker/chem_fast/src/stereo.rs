//! Stereo perception: which stated stereo is meaningful, and its labels.
//!
//! A port of RDKit's `legacyStereoPerception` (`Chirality.cpp`). Centres and double bonds get their labels from
//! [priorities](super::priorities); labels refine the priorities, until nothing changes. Centres between equivalent
//! neighbours count if other centres of their ring do. Every other mark is dropped.

use std::collections::VecDeque;

use super::graph::{Atom, BondKind, BondStereo, ChiralTag, Direction, Graph, Strictness, bit};
use super::parity::is_odd;
use super::priorities::{Priorities, has_like_neighbours};
use super::rings::Rings;
use super::sanitise::AtomGeometry;

/// Minimum ring size for double-bond stereo; in smaller rings only one configuration exists.
const MIN_RING: u32 = 8;

/// The results of stereo perception, and its buffers.
#[derive(Debug, Default)]
pub(super) struct Stereo {
    priorities: Priorities,
    /// R or S label of every atom.
    labels: Vec<Option<Label>>,
    /// Paired centres across rings for every atom: atom number + 1, negative for opposite chirality.
    pub partners: Vec<Vec<i16>>,
    candidates: Vec<Option<bool>>,
    words: Vec<i32>,
    links: Vec<i16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Label {
    R,
    S,
}

/// A neighbour of a double bond's end, and its direction.
type DirectedNeighbour = (u8, Direction);

/// The kinds of stereo that still have unlabelled items: atoms, bonds.
#[derive(Clone, Copy)]
struct Unlabelled {
    atoms: bool,
    bonds: bool,
}

impl Stereo {
    /// Clears the results of the previous molecule.
    pub fn clear(&mut self) {
        self.partners.iter_mut().for_each(Vec::clear);
    }

    /// Assigns labels and drops meaningless stereo, for graphs that state stereo.
    pub fn perceive(&mut self, graph: &mut Graph, rings: &Rings, shapes: &AtomGeometry) -> Option<()> {
        let count = graph.atoms.len();
        self.labels.clear();
        self.labels.resize(count, None);
        if self.partners.len() < count {
            self.partners.resize(count, Vec::new());
        }
        self.priorities.ranks.clear();
        let stated_atoms = graph.atoms.iter().any(|atom| atom.chirality != ChiralTag::None);
        let first = graph.atoms.iter().position(|atom| atom.chirality != ChiralTag::None);
        // As soon as one centre is known, other stated centres count as possible ones too.
        let possible_atoms = (0..count).any(|at| first != Some(at) && is_centre(graph, rings, shapes, at));
        let (stated_bonds, possible_bonds) = find_double_bonds(graph, rings);
        let mut open = Unlabelled { atoms: stated_atoms, bonds: stated_bonds };
        let mut should_continue = stated_atoms || stated_bonds;
        while should_continue {
            let (mut changed_atoms, mut changed_bonds) = (false, false);
            if open.atoms || possible_atoms {
                (open.atoms, changed_atoms) = self.label_atoms(graph, rings, shapes)?;
            }
            if open.bonds || possible_bonds {
                (open.bonds, changed_bonds) = self.label_bonds(graph, rings)?;
            }
            should_continue = (open.atoms || open.bonds) && (changed_atoms || changed_bonds);
            if should_continue {
                self.rerank(graph)?;
            }
        }
        if !graph.atoms.iter().any(|atom| atom.chirality != ChiralTag::None) {
            return Some(());
        }
        if self.priorities.ranks.is_empty() {
            self.priorities.assign(graph)?;
        }
        let paired = self.pair_ring_centres(graph, rings)?;
        self.drop_meaningless(graph, paired)
    }

    /// Labels centres (`assignAtomChiralCodes`). Returns two flags: centres without a label remain; some were
    /// labelled.
    fn label_atoms(&mut self, graph: &Graph, rings: &Rings, shapes: &AtomGeometry) -> Option<(bool, bool)> {
        let (mut left, mut changed) = (false, false);
        for at in 0..graph.atoms.len() {
            if self.labels[at].is_some() {
                continue;
            }
            if self.priorities.ranks.is_empty() {
                self.priorities.assign(graph)?;
            }
            if !is_centre(graph, rings, shapes, at) {
                continue;
            }
            let atom = &graph.atoms[at];
            if atom.chirality == ChiralTag::None || has_like_neighbours(graph, &self.priorities.ranks, at) {
                left = true;
                continue;
            }
            changed = true;
            let mut around = [0; 4];
            for (rank, edge) in around.iter_mut().zip(atom.edges()) {
                *rank = self.priorities.ranks[usize::from(edge.to)];
            }
            let mut odd = is_odd(&around[..usize::from(atom.degree)]);
            odd ^= atom.degree == 3 && atom.total_hydrogens() == 1;
            let label =
                if atom.chirality.flipped_if(odd) == ChiralTag::Counter { Label::S } else { Label::R };
            self.labels[at] = Some(label);
        }
        Some((left, changed))
    }

    /// Labels double bonds (`assignBondStereoCodes`). Returns two flags: double bonds without a label remain; some
    /// were labelled.
    fn label_bonds(&mut self, graph: &mut Graph, rings: &Rings) -> Option<(bool, bool)> {
        let (mut left, mut changed) = (false, false);
        let mut cleared = 0_u128;
        for at in 0..graph.bonds.len() {
            let bond = graph.bonds[at];
            if bond.kind != BondKind::Double || bond.sides != BondStereo::None {
                continue;
            }
            if self.priorities.ranks.is_empty() {
                self.priorities.assign(graph)?;
            }
            let degree = |atom: u8| graph.atoms[usize::from(atom)].degree;
            if !can_have_sides(rings, at)
                || !matches!(degree(bond.begin), 2 | 3)
                || !matches!(degree(bond.end), 2 | 3)
            {
                continue;
            }
            let ranks = &self.priorities.ranks;
            let ends = [bond.begin, bond.end].map(|end| neighbours(graph, end, at as u8, ranks));
            let [Some(begin), Some(end)] = ends else {
                left = true;
                continue;
            };
            changed = true;
            let conflicts = [(bond.begin, begin), (bond.end, end)].map(|(atom, sides)| match sides {
                (one, Some(other)) if one.1 == other.1 => {
                    for side in [one, other] {
                        cleared |= graph.bond_between(side.0, atom).map_or(0, bit);
                    }
                    true
                }
                _ => false,
            });
            if conflicts != [false, false] {
                continue;
            }
            let pick = |(one, other): (DirectedNeighbour, Option<DirectedNeighbour>)| match other {
                Some(other) if ranks[usize::from(one.0)] <= ranks[usize::from(other.0)] => other,
                _ => one,
            };
            let (begin, end) = (pick(begin), pick(end));
            let bond = &mut graph.bonds[at];
            bond.references = [begin.0, end.0];
            bond.sides = if begin.1 == end.1 { BondStereo::Same } else { BondStereo::Opposite };
        }
        for (at, bond) in graph.bonds.iter_mut().enumerate() {
            if cleared & bit(at) != 0 {
                bond.direction = Direction::None;
            }
        }
        Some((left, changed))
    }

    /// Port of `rerankAtoms`.
    fn rerank(&mut self, graph: &Graph) -> Option<()> {
        self.words.clear();
        for (atom, label) in graph.atoms.iter().zip(&self.labels) {
            let mut word = match label {
                Some(Label::S) => 10,
                Some(Label::R) => 20,
                None => 0,
            };
            for &edge in atom.edges() {
                let bond = &graph.bonds[usize::from(edge.bond)];
                word += match bond.sides {
                    BondStereo::Opposite if bond.kind == BondKind::Double => 1,
                    BondStereo::Same if bond.kind == BondKind::Double => 2,
                    _ => 0,
                };
            }
            self.words.push(word);
        }
        self.priorities.refine(graph, &self.words)
    }

    /// Finds the centres between equivalent neighbours that become meaningful through others across rings
    /// (`findChiralAtomSpecialCases`).
    fn pair_ring_centres(&mut self, graph: &Graph, rings: &Rings) -> Option<u128> {
        let (mut seen, mut used, mut crossed, mut possible) = (0_u128, 0_u128, 0_u128, 0_u128);
        self.candidates.clear();
        self.candidates.resize(graph.atoms.len(), None);
        let mut queue: VecDeque<u8> = VecDeque::new();
        for at in 0..graph.atoms.len() {
            if seen & bit(at) != 0 || !self.is_unlabelled_in_ring(graph, rings, at) {
                continue;
            }
            queue.clear();
            for edge in graph.atoms[at].edges() {
                let new = crossed & bit(edge.bond) == 0;
                crossed |= bit(edge.bond);
                if new && rings.bonds & bit(edge.bond) != 0 && seen & bit(edge.to) == 0 {
                    queue.push_back(edge.to);
                    used |= bit(edge.to);
                }
            }
            let mut links = std::mem::take(&mut self.links);
            links.clear();
            if !queue.is_empty() {
                links.extend_from_slice(&self.partners[at]);
            }
            while let Some(other) = queue.pop_front() {
                let other = usize::from(other);
                seen |= bit(other);
                if self.is_unlabelled_in_ring(graph, rings, other) {
                    let same = graph.atoms[other].chirality == graph.atoms[at].chirality;
                    links.push(signed(other, same));
                    self.partners[other].push(signed(at, same));
                    possible |= bit(other) | bit(at);
                }
                for edge in graph.atoms[other].edges() {
                    let new = crossed & bit(edge.bond) == 0;
                    crossed |= bit(edge.bond);
                    if new && rings.bonds & bit(edge.bond) != 0 && (seen | used) & bit(edge.to) == 0 {
                        queue.push_back(edge.to);
                        used |= bit(edge.to);
                    }
                }
            }
            if links.is_empty() {
                possible &= !bit(at);
            } else {
                self.link(at, &links);
            }
            self.links = links;
            seen |= bit(at);
        }
        Some(possible)
    }

    fn link(&mut self, root: usize, links: &[i16]) {
        self.partners[root].clear();
        self.partners[root].extend_from_slice(links);
        for (place, &one) in links.iter().enumerate() {
            for &other in &links[place + 1..] {
                let (first, second) = (atom_of(one), atom_of(other));
                let same = (one < 0) == (other < 0);
                self.partners[first].push(signed(second, same));
                self.partners[second].push(signed(first, same));
            }
        }
    }

    fn is_unlabelled_in_ring(&mut self, graph: &Graph, rings: &Rings, at: usize) -> bool {
        if graph.atoms[at].chirality == ChiralTag::None
            || self.labels[at].is_some()
            || rings.atoms & bit(at) == 0
        {
            return false;
        }
        if let Some(known) = self.candidates[at] {
            return known;
        }
        let candidate = is_ring_candidate(graph, rings, &self.priorities.ranks, at);
        self.candidates[at] = Some(candidate);
        candidate
    }

    /// Drops the chirality of atoms where it is meaningless.
    fn drop_meaningless(&self, graph: &mut Graph, paired: u128) -> Option<()> {
        for at in 0..graph.atoms.len() {
            let atom = &mut graph.atoms[at];
            let means = self.labels[at].is_some() || (paired & bit(at) != 0 && !self.partners[at].is_empty());
            if atom.chirality == ChiralTag::None || means {
                continue;
            }
            atom.chirality = ChiralTag::None;
            if atom.hydrogens == 1 && atom.charge == 0 && !atom.aromatic {
                atom.hydrogens = 0;
                atom.closed = false;
                graph.update(at, Strictness::Lenient)?;
            }
        }
        Some(())
    }
}

/// Encodes an atom as a partner of the same or of opposite chirality.
fn signed(atom: usize, same: bool) -> i16 {
    let number = atom as i16 + 1;
    if same { number } else { -number }
}

/// Returns the atom of a partner.
pub(super) fn atom_of(partner: i16) -> usize {
    usize::from(partner.unsigned_abs()) - 1
}

/// Returns two flags: double bonds state stereo; others could.
fn find_double_bonds(graph: &Graph, rings: &Rings) -> (bool, bool) {
    let (mut stated, mut possible) = (false, false);
    for (at, bond) in graph.bonds.iter().enumerate() {
        if bond.kind != BondKind::Double || !can_have_sides(rings, at) || stated {
            continue;
        }
        let marked = [bond.begin, bond.end].iter().any(|&end| {
            let edges = graph.atoms[usize::from(end)].edges();
            edges.iter().any(|edge| graph.bonds[usize::from(edge.bond)].direction != Direction::None)
        });
        stated |= marked;
        possible |= !marked;
    }
    (stated, possible)
}

/// Port of `shouldDetectDoubleBondStereo`.
fn can_have_sides(rings: &Rings, bond: usize) -> bool {
    rings.bonds & bit(bond) == 0 || rings.smallest_through(bond) >= MIN_RING
}

/// Port of `isAtomPotentialChiralCenter`, without the check of its neighbours' ranks.
fn is_centre(graph: &Graph, rings: &Rings, shapes: &AtomGeometry, at: usize) -> bool {
    let atom = &graph.atoms[at];
    let total = atom.total_degree();
    if !matches!(total, 3 | 4) || (atom.degree < 3 && !matches!(atom.number, 15 | 33)) {
        return false;
    }
    atom.degree != 3 || atom.total_hydrogens() == 1 || is_pyramid(atom, graph, rings, shapes, at)
}

/// Returns true if an atom with three bonds and no hydrogen is configurationally stable.
fn is_pyramid(atom: &Atom, graph: &Graph, rings: &Rings, shapes: &AtomGeometry, at: usize) -> bool {
    match atom.number {
        7 => {
            shapes.tetrahedral & !shapes.conjugated & bit(at) != 0
                && (is_in_triangle(rings, at) || is_bridgehead(graph, rings, at))
        }
        15 | 33 => true,
        16 | 34 => atom.explicit == 4 || (atom.explicit == 3 && atom.charge == 1),
        _ => false,
    }
}

/// Port of `isAtomPotentialTetrahedralCenter`.
pub(super) fn is_tetrahedral(graph: &Graph, rings: &Rings, shapes: &AtomGeometry, at: usize) -> bool {
    let atom = &graph.atoms[at];
    if atom.total_degree() > 4 || atom.degree <= 1 {
        return false;
    }
    let phosphorus = matches!(atom.number, 15 | 33);
    atom.degree == 4
        || phosphorus
        || (atom.degree == 3 && (atom.total_hydrogens() == 1 || is_pyramid(atom, graph, rings, shapes, at)))
}

fn is_in_triangle(rings: &Rings, at: usize) -> bool {
    rings.all.iter().any(|ring| ring.size() == 3 && ring.atoms & bit(at) != 0)
}

/// Port of `queryIsAtomBridgehead`: three ring bonds, and every ring of them shares two bonds with another.
fn is_bridgehead(graph: &Graph, rings: &Rings, at: usize) -> bool {
    let own = graph.atoms[at].edges().iter().fold(0, |set, edge| set | bit(edge.bond)) & rings.bonds;
    if own.count_ones() < 3 {
        return false;
    }
    let mut overlaps = [false; 16];
    for (place, ring) in rings.all.iter().enumerate() {
        if ring.bonds & own == 0 {
            continue;
        }
        for (other, second) in rings.all.iter().enumerate().skip(place + 1) {
            if second.bonds & own != 0 && (ring.bonds & second.bonds).count_ones() >= 2 {
                overlaps[place] = true;
                overlaps[other] = true;
            }
        }
        if !overlaps[place] {
            return false;
        }
    }
    true
}

/// Port of `atomIsCandidateForRingStereochem`.
fn is_ring_candidate(graph: &Graph, rings: &Rings, ranks: &[u8], at: usize) -> bool {
    let atom = &graph.atoms[at];
    if atom.number == 7
        && atom.total_degree() == 3
        && !is_in_triangle(rings, at)
        && !is_bridgehead(graph, rings, at)
    {
        return false;
    }
    let (mut outside, mut inside, mut distinct) = (Vec::with_capacity(4), 0, 0_u128);
    for edge in atom.edges() {
        let rank = ranks[usize::from(edge.to)];
        if rings.bonds & bit(edge.bond) == 0 {
            outside.push(rank);
        } else {
            inside += 1;
            distinct |= bit(rank);
        }
    }
    let distinct = distinct.count_ones();
    match outside[..] {
        [one, other] => one != other && inside != distinct,
        [_] => inside > distinct,
        [] => matches!((inside, distinct), (4, 3) | (3, 2)),
        _ => false,
    }
}

/// Returns the marked neighbours at one end of a double bond (`findAtomNeighborDirHelper`); `None` without marks, or
/// if their ranks are equal.
fn neighbours(
    graph: &Graph,
    end: u8,
    double: u8,
    ranks: &[u8],
) -> Option<(DirectedNeighbour, Option<DirectedNeighbour>)> {
    let others = graph.atoms[usize::from(end)].edges().iter().filter(|edge| edge.bond != double);
    let mut sides = others.map(|edge| -> DirectedNeighbour {
        let bond = &graph.bonds[usize::from(edge.bond)];
        let direction = if bond.begin == end { bond.direction } else { bond.direction.flipped() };
        (edge.to, direction)
    });
    let mut first = sides.next()?;
    let Some(mut second) = sides.next() else {
        return (first.1 != Direction::None).then_some((first, None));
    };
    if (first.1, second.1) == (Direction::None, Direction::None)
        || ranks[usize::from(first.0)] == ranks[usize::from(second.0)]
    {
        return None;
    }
    if first.1 == Direction::None {
        first.1 = second.1.flipped();
    } else if second.1 == Direction::None {
        second.1 = first.1.flipped();
    }
    Some((first, Some(second)))
}
