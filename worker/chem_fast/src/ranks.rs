//! The canonical order of atoms.
//!
//! A port of RDKit's `new_canon` (Schneider, Sahnoun and Landrum, J. Chem. Inf. Model. 2015, 55, 2111) as
//! `rankMolAtoms` runs it. Classes are split by atom invariants and by the classes of neighbours. The order and merge
//! sort are those of the original, since they decide where refinement leaves a choice. The comparison values of an
//! atom are packed into two numbers, computed once for every sort. Highly symmetric cages, for which RDKit compares
//! more, are left to the general path.

use std::cmp::{Ordering, Reverse};

use super::graph::{BondKind, BondStereo, ChiralTag, Edge, Graph, MAX_NEIGHBOURS, bit, members};
use super::parity::is_odd;
use super::rings::Rings;
use super::stereo::Stereo;

/// Marks the end of the queue of classes.
const NONE: u8 = u8::MAX;
/// Marks a class that is not in the queue.
const IDLE: u8 = u8::MAX - 1;

/// The criterion by which classes are split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Criterion {
    Atoms,
    /// Chirality of ring neighbours as seen from the atom (`SpecialChiralityAtomCompareFunctor`).
    Hands,
}

/// Context of a comparison: graph, rings and criterion.
#[derive(Clone, Copy)]
struct Comparison<'a> {
    graph: &'a Graph,
    rings: &'a Rings,
    by: Criterion,
}

/// Comparison value of an atom: its invariants, then its bonds.
type Value = (u64, u64);

/// The ranking and its buffers.
#[derive(Debug, Default)]
pub(super) struct Ranker {
    /// Class of every atom: the number of atoms before the class. At the end, the atom's rank.
    pub classes: Vec<u8>,
    /// Atoms sorted by class.
    order: Vec<u8>,
    /// Size of the class, stored at its first atom; 0 at other atoms.
    counts: Vec<u8>,
    /// Next class in the queue.
    next: Vec<u8>,
    waiting: u8,
    changed: u128,
    touched: u128,
    /// Invariants of each atom.
    own: Vec<u64>,
    /// Invariants of each bond.
    bonds: Vec<u16>,
    values: Vec<Value>,
    /// Edges of chiral atoms, as sorted at the atom's last comparison.
    sorted: Vec<[Edge; MAX_NEIGHBOURS]>,
    scratch: Vec<u8>,
    /// Chiral atoms.
    handed: u128,
    /// Chiral atoms that have partners across a ring.
    ring_stereo: u128,
    /// Set if a chiral atom has a neighbour in a ring. Only then can two atoms with unchanged neighbours differ, and
    /// only then can the original's merge sort differ from any stable sort.
    seen: bool,
    keys: Vec<u64>,
}

impl Ranker {
    /// Ranks the atoms; `None` for a structure for which RDKit compares more.
    pub fn rank(&mut self, graph: &Graph, rings: &Rings, stereo: &Stereo) -> Option<()> {
        let count = graph.atoms.len();
        self.start(graph, rings, stereo);
        self.counts[0] = count as u8;
        self.activate();
        self.refine(graph, rings, Criterion::Atoms);
        let tied = |ranker: &Self| ranker.counts.contains(&0);
        // Without chirality next to a ring, this criterion splits nothing.
        if self.seen && tied(self) {
            self.activate();
            self.refine(graph, rings, Criterion::Hands);
        }
        if !tied(self) {
            return Some(());
        }
        if self.is_cage(rings) {
            return None;
        }
        self.break_ties(graph, rings);
        Some(())
    }

    fn start(&mut self, graph: &Graph, rings: &Rings, stereo: &Stereo) {
        let count = graph.atoms.len();
        self.classes.clear();
        self.classes.resize(count, 0);
        self.order.clear();
        self.order.extend(0..count as u8);
        self.counts.clear();
        self.counts.resize(count, 0);
        self.next.clear();
        self.next.resize(count, IDLE);
        self.values.clear();
        self.values.resize(count, (0, 0));
        self.touched = 0;
        self.sorted.clear();
        (self.handed, self.ring_stereo) = (0, 0);
        self.own.clear();
        for (at, atom) in graph.atoms.iter().enumerate() {
            if atom.chirality != ChiralTag::None {
                self.handed |= bit(at);
                if stereo.partners.get(at).is_some_and(|partners| !partners.is_empty()) {
                    self.ring_stereo |= bit(at);
                }
            }
            self.own.push(
                u64::from(atom.degree) << 60
                    | u64::from(atom.number) << 52
                    | u64::from(atom.total_hydrogens()) << 46
                    | u64::from(atom.charge.cast_unsigned()) << 38
                    | u64::from(atom.chirality != ChiralTag::None) << 36,
            );
        }
        self.bonds.clear();
        self.bonds.extend(graph.bonds.iter().map(|bond| {
            let kind = if bond.aromatic { BondKind::Aromatic } else { bond.kind };
            let sides = match bond.sides {
                BondStereo::None => 0,
                BondStereo::Same => 2,
                BondStereo::Opposite => 3,
            };
            (kind as u16) << 14 | sides << 12
        }));
        let near = |at: usize| graph.atoms[at].edges().iter().any(|edge| rings.atoms & bit(edge.to) != 0);
        self.seen = members(self.handed).any(near);
        if self.seen {
            self.sorted.extend(graph.atoms.iter().map(|atom| atom.around));
            members(self.handed).for_each(|at| self.sort_edges(graph, at));
        }
    }

    /// Queues every class of several atoms.
    fn activate(&mut self) {
        self.waiting = NONE;
        self.next.fill(IDLE);
        let mut place = 0;
        while let Some(&at) = self.order.get(place) {
            let count = self.counts[usize::from(at)];
            if count > 1 {
                self.next[usize::from(at)] = self.waiting;
                self.waiting = at;
            }
            place += usize::from(count.max(1));
        }
        self.changed = u128::MAX;
    }

    /// Queues the touched classes of several atoms, lowest first.
    fn activate_touched(&mut self) {
        while self.touched != 0 {
            let class = self.touched.trailing_zeros() as usize;
            self.touched &= self.touched - 1;
            let at = self.order[class];
            if self.counts[usize::from(at)] > 1 && self.next[usize::from(at)] == IDLE {
                self.next[usize::from(at)] = self.waiting;
                self.waiting = at;
            }
        }
    }

    /// Splits queued classes until the queue is empty (`RefinePartitions`).
    fn refine(&mut self, graph: &Graph, rings: &Rings, by: Criterion) {
        while self.waiting != NONE {
            let first = usize::from(self.waiting);
            self.waiting = self.next[first];
            self.next[first] = IDLE;
            let start = usize::from(self.classes[first]);
            let end = start + usize::from(self.counts[first]);
            for place in start..end {
                let at = usize::from(self.order[place]);
                self.values[at] = self.value(graph, by, at);
            }
            self.sort(Comparison { graph, rings, by }, start, end);
            for place in start..end {
                self.changed &= !bit(self.order[place]);
            }
            let kept = start + usize::from(self.counts[usize::from(self.order[start])]);
            let mut class = 0;
            for place in kept..end {
                let at = usize::from(self.order[place]);
                if self.counts[at] != 0 {
                    class = place as u8;
                }
                self.classes[at] = class;
                for edge in graph.atoms[at].edges() {
                    self.changed |= bit(edge.to);
                }
            }
            for place in kept..end {
                self.touch_around(graph, usize::from(self.order[place]));
            }
            self.activate_touched();
        }
    }

    fn touch_around(&mut self, graph: &Graph, at: usize) {
        for edge in graph.atoms[at].edges() {
            self.touched |= bit(self.classes[usize::from(edge.to)]);
        }
    }

    /// Computes the comparison value of an atom within its class.
    fn value(&self, graph: &Graph, by: Criterion, at: usize) -> Value {
        let atom = &graph.atoms[at];
        let mut around = [0_u16; 4];
        for (slot, edge) in around.iter_mut().zip(atom.edges()) {
            *slot = self.bond_value(*edge);
        }
        sort_falling(&mut around);
        let bonds = around.iter().fold(0, |packed, &bond| packed << 16 | u64::from(bond));
        match by {
            Criterion::Atoms => {
                let mut own = self.own[at];
                if self.handed & bit(at) != 0 {
                    own |= self.hand_by_class(graph, at) << 32;
                }
                if self.ring_stereo != 0 {
                    own |= u64::from(self.ring_neighbours(graph, at));
                }
                (own, bonds)
            }
            Criterion::Hands => (0, bonds),
        }
    }

    /// Returns 1 or 2 for an atom's chirality with its neighbours ordered by class, 0 if two neighbours share a class
    /// (`getChiralRank`).
    fn hand_by_class(&self, graph: &Graph, at: usize) -> u64 {
        let atom = &graph.atoms[at];
        let mut around = [0; 4];
        let mut seen = 0_u128;
        for (slot, edge) in around.iter_mut().zip(atom.edges()) {
            *slot = self.classes[usize::from(edge.to)];
            if seen & bit(*slot) != 0 {
                return 0;
            }
            seen |= bit(*slot);
        }
        match atom.chirality.flipped_if(is_odd(&around[..usize::from(atom.degree)])) {
            ChiralTag::Clockwise => 2,
            _ => 1,
        }
    }

    /// Computes a number for the classes of neighbours that have partners across a ring (`getAtomRingNbrCode`).
    fn ring_neighbours(&self, graph: &Graph, at: usize) -> u32 {
        let edges = graph.atoms[at].edges().iter();
        edges.filter(|edge| self.ring_stereo & bit(edge.to) != 0).fold(0_u32, |code, edge| {
            code.wrapping_add(u32::from(self.classes[usize::from(edge.to)]) * 10_000 + 1)
        })
    }

    /// Computes the chirality of an atom's neighbours, by class, as seen from the atom (`getNbrNumSwaps`).
    fn hands_around(&self, graph: &Graph, rings: &Rings, at: usize) -> u64 {
        let in_ring = rings.atoms & bit(at) != 0;
        let mut hands = [(0_u8, 0_u8); MAX_NEIGHBOURS];
        let edges = graph.atoms[at].edges();
        for (slot, edge) in hands.iter_mut().zip(edges) {
            let centre = usize::from(edge.to);
            let shown = in_ring && self.handed & bit(centre) != 0;
            *slot = (self.classes[centre], if shown { self.hand_seen_from(graph, centre, at) } else { 0 });
        }
        let hands = &mut hands[..edges.len()];
        hands.sort_unstable();
        hands.iter().fold(0, |packed, &(_, chirality)| packed << 8 | u64::from(chirality))
    }

    /// Returns 1 or 2 for a centre's chirality, 0 if two of its other neighbours share a class.
    fn hand_seen_from(&self, graph: &Graph, centre: usize, at: usize) -> u8 {
        let edges = graph.atoms[centre].edges();
        let others = || self.sorted[centre][..edges.len()].iter().filter(|edge| usize::from(edge.to) != at);
        let mut seen = 0_u128;
        let mut places = [0_u8; MAX_NEIGHBOURS];
        for (place, edge) in places.iter_mut().zip(edges) {
            if usize::from(edge.to) == at {
                continue;
            }
            let class = bit(self.classes[usize::from(edge.to)]);
            if seen & class != 0 {
                return 0;
            }
            seen |= class;
            *place = others().position(|other| other.to == edge.to).map_or(0, |place| place as u8 + 1);
        }
        match graph.atoms[centre].chirality.flipped_if(is_odd(&places[..edges.len()])) {
            ChiralTag::Clockwise => 1,
            _ => 2,
        }
    }

    /// Computes the comparison value of a bond.
    fn bond_value(&self, edge: Edge) -> u16 {
        self.bonds[usize::from(edge.bond)] | u16::from(self.classes[usize::from(edge.to)])
    }

    /// Sorts an atom's edges by their current comparison values, greatest first (`updateAtomNeighborIndex`).
    fn sort_edges(&mut self, graph: &Graph, at: usize) {
        let mut edges = self.sorted[at];
        edges[..usize::from(graph.atoms[at].degree)].sort_by_key(|&edge| Reverse(self.bond_value(edge)));
        self.sorted[at] = edges;
    }

    /// Returns true if RDKit would count the atoms around rings: most ring atoms share a class, and some of them are
    /// in several rings.
    fn is_cage(&self, rings: &Rings) -> bool {
        let (mut alike, mut ring, mut branching) = (0, 0, false);
        for (at, &count) in self.counts.iter().enumerate() {
            if rings.atoms & bit(at) != 0 {
                ring += 1;
                if count > 2 {
                    alike += u32::from(count);
                }
                branching |= count > 1 && rings.of_atom(at) > 1;
            }
        }
        2 * alike > ring && branching
    }

    /// Removes atoms one by one from classes of several atoms (`BreakTies`).
    fn break_ties(&mut self, graph: &Graph, rings: &Rings) {
        let mut place = 0;
        while place < self.order.len() {
            let first = usize::from(self.order[place]);
            let before = self.classes[first];
            while self.counts[first] > 1 {
                let count = self.counts[first];
                let last = usize::from(self.classes[first] + count - 1);
                let at = usize::from(self.order[last]);
                self.classes[at] = last as u8;
                self.counts[first] = count - 1;
                self.counts[at] = 1;
                for edge in graph.atoms[at].edges() {
                    self.changed |= bit(edge.to);
                }
                self.touch_around(graph, at);
                self.activate_touched();
                self.refine(graph, rings, Criterion::Atoms);
            }
            if self.classes[first] == before {
                place += 1;
            }
        }
    }

    /// Sorts the atoms of a class by their values and counts equal ones (`hanoisort`).
    fn sort(&mut self, within: Comparison<'_>, start: usize, end: usize) {
        if !self.seen {
            return self.sort_stably(start, end);
        }
        if let [one, other] = self.order[start..end] {
            let order = self.compare(within, usize::from(one), usize::from(other));
            let counts = if order.is_eq() { (2, 0) } else { (1, 1) };
            (self.counts[usize::from(one)], self.counts[usize::from(other)]) = counts;
            if order.is_gt() {
                self.order.swap(start, start + 1);
            }
            return;
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let length = end - start;
        scratch.clear();
        scratch.extend_from_slice(&self.order[start..end]);
        scratch.resize(2 * length, 0);
        let far = self.merge_sort(within, &mut scratch, 0, length, length);
        let from = if far { length } else { 0 };
        self.order[start..end].copy_from_slice(&scratch[from..from + length]);
        self.scratch = scratch;
    }

    /// Sorts likewise with a stable sort, for cases where the choice of comparisons makes no difference.
    fn sort_stably(&mut self, start: usize, end: usize) {
        let order = &mut self.order[start..end];
        if order.len() == self.values.len() && self.ring_stereo == 0 {
            // For all atoms at once: sorts by invariants first, whose low bits have room for the atom number.
            self.keys.clear();
            self.keys.extend(self.values.iter().zip(0_u64..).map(|(value, at)| value.0 | at));
            self.keys.sort_unstable();
            order.iter_mut().zip(&self.keys).for_each(|(at, key)| *at = *key as u8);
        }
        for place in 1..order.len() {
            let at = order[place];
            let value = self.values[usize::from(at)];
            let mut to = place;
            while to > 0 && self.values[usize::from(order[to - 1])] > value {
                order[to] = order[to - 1];
                to -= 1;
            }
            order[to] = at;
        }
        for like in order.chunk_by(|&a, &b| self.values[usize::from(a)] == self.values[usize::from(b)]) {
            like.iter().for_each(|&at| self.counts[usize::from(at)] = 0);
            self.counts[usize::from(like[0])] = like.len() as u8;
        }
    }

    fn compare(&mut self, within: Comparison<'_>, one: usize, other: usize) -> Ordering {
        let Comparison { graph, rings, by } = within;
        if self.changed & (bit(one) | bit(other)) == 0 {
            return Ordering::Equal;
        }
        let (first, second) = (self.values[one], self.values[other]);
        if first.0 == second.0 {
            for at in [one, other] {
                if self.handed & bit(at) != 0 {
                    self.sort_edges(graph, at);
                }
            }
        }
        first.cmp(&second).then_with(|| match by {
            Criterion::Atoms => Ordering::Equal,
            Criterion::Hands => {
                self.hands_around(graph, rings, one).cmp(&self.hands_around(graph, rings, other))
            }
        })
    }

    /// Sorts `length` atoms from `base` on, with scratch space from `room` on. Returns true if the result is in the
    /// scratch space.
    fn merge_sort(
        &mut self,
        within: Comparison<'_>,
        atoms: &mut [u8],
        base: usize,
        length: usize,
        room: usize,
    ) -> bool {
        if length == 1 {
            self.counts[usize::from(atoms[base])] = 1;
            return false;
        }
        if length == 2 {
            let (one, other) = (usize::from(atoms[base]), usize::from(atoms[base + 1]));
            let order = self.compare(within, one, other);
            (self.counts[one], self.counts[other]) = if order.is_eq() { (2, 0) } else { (1, 1) };
            if order.is_gt() {
                atoms.swap(base, base + 1);
            }
            return false;
        }
        let (mut left, mut right) = (length / 2, length - length / 2);
        let (middle, far_middle) = (base + left, room + left);
        let far_left = self.merge_sort(within, atoms, base, left, room);
        let far_right = self.merge_sort(within, atoms, middle, right, far_middle);
        // The merge writes to the place where the sorted left half is not.
        let (mut one, mut to) = if far_left { (room, base) } else { (base, room) };
        let mut other = if far_right { far_middle } else { middle };
        loop {
            let (a, b) = (usize::from(atoms[one]), usize::from(atoms[other]));
            let order = self.compare(within, a, b);
            let (count_a, count_b) = (usize::from(self.counts[a]), usize::from(self.counts[b]));
            if order.is_eq() {
                self.counts[a] = (count_a + count_b) as u8;
                self.counts[b] = 0;
            }
            if order.is_le() {
                atoms.copy_within(one..one + count_a, to);
                to += count_a;
                left -= count_a;
                one += count_a;
                if left == 0 {
                    if to != other {
                        atoms.copy_within(other..other + right, to);
                    }
                    return !far_left;
                }
            }
            if order.is_ge() {
                atoms.copy_within(other..other + count_b, to);
                to += count_b;
                right -= count_b;
                other += count_b;
                if right == 0 {
                    atoms.copy_within(one..one + left, to);
                    return !far_left;
                }
            }
        }
    }
}

/// Sorts four numbers in descending order.
fn sort_falling(numbers: &mut [u16; 4]) {
    for (one, other) in [(0, 1), (2, 3), (0, 2), (1, 3), (1, 2)] {
        if numbers[one] < numbers[other] {
            numbers.swap(one, other);
        }
    }
}
