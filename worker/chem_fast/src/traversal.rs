//! The graph traversal that determines a canonical string.
//!
//! A port of `canonicalizeFragment` (RDKit's `Canon.cpp`). The first traversal finds the ring closures. The second
//! one lays out atoms, bonds, branches and ring numbers. Then chirality is converted to the written order.

use super::directions::Directions;
use super::graph::{BondKind, BondStereo, ChiralTag, Direction, Edge, Graph, MAX_NEIGHBOURS, bit};
use super::layout::{Part, WriteOrder};
use super::parity::is_odd;
use super::rings::Rings;
use super::sanitise::AtomGeometry;
use super::stereo::{Stereo, atom_of, is_tetrahedral};

/// RDKit's upper bounds of ranks and of bond kinds.
const RANKS: i32 = 5000;
const KINDS: i32 = 32;

/// A possible next bond and its priority; the lowest is taken first.
type PrioritisedEdge = (i32, Edge);

/// An atom on the traversal stack with bonds left to follow.
#[derive(Debug, Clone, Copy)]
struct Frame {
    atom: u8,
    /// Range of its next bonds: `start` to `end`; `next` is the next one.
    start: u16,
    end: u16,
    next: u16,
    branch: bool,
}

/// The bonds of an atom in traversal order.
#[derive(Debug, Clone, Copy, Default)]
struct TraversedBonds {
    bonds: [u8; MAX_NEIGHBOURS],
    count: u8,
}

impl TraversedBonds {
    fn push(&mut self, bond: u8) {
        self.bonds[usize::from(self.count)] = bond;
        self.count += 1;
    }

    fn all(&self) -> &[u8] {
        &self.bonds[..usize::from(self.count)]
    }
}

/// A traversal and its buffers.
#[derive(Debug, Default)]
pub(super) struct Traversal {
    pub parts: Vec<Part>,
    stops: Vec<Frame>,
    ways: Vec<PrioritisedEdge>,
    /// Ring-closing bonds of every atom, in the order they were found.
    closures: Vec<TraversedBonds>,
    walked: Vec<TraversedBonds>,
    /// Number of the ring that a bond closes; 0 for none yet.
    ring_of: Vec<u8>,
    visits: WriteOrder,
    directions: Directions,
}

/// Inputs of the traversal.
#[derive(Clone, Copy)]
pub(super) struct TraversalInput<'a> {
    pub rings: &'a Rings,
    pub shapes: &'a AtomGeometry,
    pub stereo: &'a Stereo,
    pub ranks: &'a [u8],
}

impl Traversal {
    /// Traverses a graph in the order of its ranks and converts its stereo to that order.
    pub fn walk(&mut self, graph: &mut Graph, over: TraversalInput<'_>) -> Option<()> {
        let start = over.ranks.iter().position(|&rank| rank == 0)? as u8;
        self.closures.clear();
        self.closures.resize(graph.atoms.len(), TraversedBonds::default());
        self.walked.clear();
        self.walked.resize(graph.atoms.len(), TraversedBonds::default());
        self.ring_of.clear();
        self.ring_of.resize(graph.bonds.len(), 0);
        if over.rings.bonds != 0 {
            self.find_closures(graph, over, start);
        }
        self.lay_out(graph, over, start)?;
        let has_sides = graph.bonds.iter().any(|bond| bond.sides != BondStereo::None);
        let has_hands = graph.atoms.iter().any(|atom| atom.chirality != ChiralTag::None);
        if has_sides || has_hands {
            self.visits.note(graph, &self.parts, &self.ring_of);
        }
        let odd = if has_hands { self.odd_centres(graph, over, start) } else { 0 };
        for bond in &mut graph.bonds {
            bond.direction = Direction::None;
        }
        if has_sides {
            self.directions.assign(graph, &self.visits, &self.parts)?;
        }
        if has_hands {
            self.turn_hands(graph, over.stereo, odd);
        }
        if has_sides {
            self.directions.drop_redundant_marks(graph, &self.visits, &self.parts);
        }
        Some(())
    }

    /// Runs the first traversal: reaching a visited atom closes a ring (`dfsFindCycles`).
    fn find_closures(&mut self, graph: &Graph, over: TraversalInput<'_>, start: u8) {
        let (mut seen, mut left) = (bit(start), 0_u128);
        self.ways.clear();
        self.stops.clear();
        self.stop(start);
        self.ways_past(graph, over, start, None, seen & !left);
        self.arrange();
        while let Some(stop) = self.stops.last_mut() {
            if stop.next == stop.end {
                left |= bit(stop.atom);
                self.ways.truncate(usize::from(stop.start));
                self.stops.pop();
                continue;
            }
            let (_, edge) = self.ways[usize::from(stop.next)];
            let atom = stop.atom;
            stop.next += 1;
            if seen & bit(edge.to) == 0 {
                seen |= bit(edge.to);
                self.stop(edge.to);
                self.ways_past(graph, over, edge.to, Some(edge.bond), seen & !left);
                self.arrange();
            } else if left & bit(edge.to) == 0 {
                self.closures[usize::from(edge.to)].push(edge.bond);
                self.closures[usize::from(atom)].push(edge.bond);
            }
        }
    }

    fn stop(&mut self, atom: u8) {
        let start = self.ways.len() as u16;
        self.stops.push(Frame { atom, start, end: start, next: start, branch: false });
    }

    /// Collects the next bonds of an atom in the first traversal, those that close rings first.
    fn ways_past(&mut self, graph: &Graph, over: TraversalInput<'_>, atom: u8, by: Option<u8>, open: u128) {
        for &edge in graph.atoms[usize::from(atom)].edges() {
            // A terminal atom closes no ring.
            if Some(edge.bond) == by || graph.atoms[usize::from(edge.to)].degree == 1 {
                continue;
            }
            let mut cost = i32::from(over.ranks[usize::from(edge.to)]);
            if open & bit(edge.to) != 0 {
                cost -= (KINDS + 1) * RANKS * RANKS;
                cost += (KINDS - graph.kind(edge).number()) * RANKS;
            } else if over.rings.bonds & bit(edge.bond) != 0 {
                cost += (KINDS - graph.kind(edge).number()) * RANKS * RANKS;
            }
            self.ways.push((cost, edge));
        }
    }

    /// Sorts the next bonds of the last stop.
    fn arrange(&mut self) {
        let end = self.ways.len() as u16;
        if let Some(stop) = self.stops.last_mut() {
            stop.end = end;
            let ways = &mut self.ways[usize::from(stop.start)..];
            for place in 1..ways.len() {
                let mut to = place;
                while to > 0 && ways[to - 1].0 > ways[to].0 {
                    ways.swap(to - 1, to);
                    to -= 1;
                }
            }
        }
    }

    /// Runs the second traversal (`dfsBuildStack`).
    fn lay_out(&mut self, graph: &Graph, over: TraversalInput<'_>, start: u8) -> Option<()> {
        self.parts.clear();
        self.ways.clear();
        self.stops.clear();
        let mut seen = 0_u128;
        let mut free = !1_u64;
        self.enter(graph, over, Edge { to: start, bond: u8::MAX }, &mut seen, &mut free)?;
        while let Some(stop) = self.stops.last_mut() {
            if stop.branch {
                self.parts.push(Part::Close);
                stop.branch = false;
            }
            let mut on = None;
            while stop.next < stop.end && on.is_none() {
                let (_, edge) = self.ways[usize::from(stop.next)];
                stop.next += 1;
                if seen & bit(edge.to) != 0 {
                    continue;
                }
                self.walked[usize::from(stop.atom)].push(edge.bond);
                if stop.next != stop.end {
                    self.parts.push(Part::Open);
                    stop.branch = true;
                }
                self.parts.push(Part::Bond(edge.bond, stop.atom));
                on = Some(edge);
            }
            match on {
                Some(edge) => self.enter(graph, over, edge, &mut seen, &mut free)?,
                None => {
                    self.ways.truncate(usize::from(stop.start));
                    self.stops.pop();
                }
            }
        }
        Some(())
    }

    fn enter(
        &mut self,
        graph: &Graph,
        over: TraversalInput<'_>,
        by: Edge,
        seen: &mut u128,
        free: &mut u64,
    ) -> Option<()> {
        let atom = by.to;
        self.parts.push(Part::Atom(atom));
        *seen |= bit(atom);
        if by.bond != u8::MAX {
            self.walked[usize::from(atom)].push(by.bond);
        }
        let closures = self.closures[usize::from(atom)];
        let mut freed = 0_u64;
        let mut partners = 0_u128;
        for &bond in closures.all() {
            self.walked[usize::from(atom)].push(bond);
            partners |= bit(graph.bonds[usize::from(bond)].other(atom));
            let ring = &mut self.ring_of[usize::from(bond)];
            if *ring == 0 {
                *ring = free.trailing_zeros() as u8;
                if *ring == 64 {
                    return None;
                }
                *free &= *free - 1;
            } else {
                self.parts.push(Part::Bond(bond, atom));
                freed |= 1 << *ring;
            }
            self.parts.push(Part::Ring(*ring));
        }
        *free |= freed;
        self.stop(atom);
        for &edge in graph.atoms[usize::from(atom)].edges() {
            if edge.bond == by.bond || (*seen | partners) & bit(edge.to) != 0 {
                continue;
            }
            let mut cost = i32::from(over.ranks[usize::from(edge.to)]);
            if over.rings.bonds & bit(edge.bond) != 0 {
                cost += (KINDS - graph.kind(edge).number()) * RANKS * RANKS;
            }
            self.ways.push((cost, edge));
        }
        self.arrange();
        Some(())
    }

    /// Returns the centres whose bonds are traversed in an order of opposite parity.
    fn odd_centres(&self, graph: &Graph, over: TraversalInput<'_>, start: u8) -> u128 {
        let mut odd = 0;
        for (at, atom) in graph.atoms.iter().enumerate() {
            if atom.chirality == ChiralTag::None || !is_tetrahedral(graph, over.rings, over.shapes, at) {
                continue;
            }
            let mut is = is_odd(self.walked[at].all());
            if atom.degree == 3 {
                let unsaturated = atom.edges().iter().any(|&edge| graph.kind(edge) != BondKind::Single);
                let first = usize::from(start) == at && atom.hydrogens == 1;
                let fourth = atom.hydrogens == 1 || atom.implied() == 1;
                is ^= first || (!fourth && self.closures[at].count == 1 && !unsaturated);
            }
            if is {
                odd |= bit(at);
            }
        }
        odd
    }

    /// Converts chirality to the written order. Centres paired across rings are set relative to the first one.
    fn turn_hands(&self, graph: &mut Graph, stereo: &Stereo, odd: u128) {
        let mut turned = 0_u128;
        for part in &self.parts {
            let Part::Atom(at) = *part else { continue };
            let at = usize::from(at);
            if graph.atoms[at].chirality == ChiralTag::None {
                continue;
            }
            let partners = stereo.partners.get(at).map_or(&[][..], Vec::as_slice);
            if partners.is_empty() {
                graph.atoms[at].chirality = graph.atoms[at].chirality.flipped_if(odd & bit(at) != 0);
                continue;
            }
            if turned & bit(at) == 0 {
                graph.atoms[at].chirality = ChiralTag::Counter;
                turned |= bit(at);
            }
            for &partner in partners {
                let other = atom_of(partner);
                if turned & bit(other) == 0 && self.visits.of_atom(other) > self.visits.of_atom(at) {
                    let flip = (partner < 0) ^ (odd & bit(at) != 0) ^ (odd & bit(other) != 0);
                    graph.atoms[other].chirality = graph.atoms[at].chirality.flipped_if(flip);
                    turned |= bit(other);
                }
            }
        }
    }
}
