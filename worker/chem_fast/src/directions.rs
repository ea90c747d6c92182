//! The marks `/` and `\` around double bonds.
//!
//! A port of RDKit's `canonicalizeDoubleBonds`, `removeUnwantedBondDirSpecs` and `removeRedundantBondDirSpecs`
//! (`Canon.cpp`), including its behaviour where neighbouring double bonds contradict each other.

use std::collections::VecDeque;

use super::graph::{BondKind, BondStereo, Direction, Edge, Graph, MAX_NEIGHBOURS, bit};
use super::layout::{Part, WriteOrder};

/// Number of double bonds that each mark serves, and number of marks at each atom.
#[derive(Debug, Default)]
pub(super) struct Directions {
    of_bonds: Vec<i8>,
    of_atoms: Vec<i8>,
    queue: Vec<u8>,
    neighbours: Vec<Neighbours>,
    connected: VecDeque<u8>,
}

/// Double bonds with stereo that are next to another one.
#[derive(Debug, Clone, Copy, Default)]
struct Neighbours {
    list: [u8; 2 * MAX_NEIGHBOURS],
    count: u8,
}

impl Neighbours {
    fn all(&self) -> &[u8] {
        &self.list[..usize::from(self.count)]
    }
}

/// A single bond next to a double bond, and a flag for the reversed writing direction.
#[derive(Debug, Clone, Copy)]
struct MarkedBond {
    bond: u8,
    flipped: bool,
}

/// One end of a double bond: its neighbour bond that is written first, and the other one.
#[derive(Debug, Clone, Copy)]
struct DoubleBondEnd {
    atom: u8,
    first: MarkedBond,
    second: Option<MarkedBond>,
    /// Set if one of the two bonds has its mark.
    marked: bool,
}

impl Directions {
    /// Marks the bonds around double bonds with stereo.
    pub fn assign(&mut self, graph: &mut Graph, visits: &WriteOrder, parts: &[Part]) -> Option<()> {
        let count = graph.bonds.len();
        self.of_bonds.clear();
        self.of_bonds.resize(count, 0);
        self.of_atoms.clear();
        self.of_atoms.resize(graph.atoms.len(), 0);
        self.neighbours.clear();
        self.neighbours.resize(count, Neighbours::default());
        self.queue.clear();
        for part in parts {
            let Part::Bond(at, _) = *part else { continue };
            if !has_sides(graph, at) {
                continue;
            }
            let bond = graph.bonds[usize::from(at)];
            let mut found = Neighbours::default();
            for end in [bond.begin, bond.end] {
                for &edge in graph.atoms[usize::from(end)].edges() {
                    if can_be_marked(graph, edge)
                        && let Some(beside) = double_beside(graph, edge)
                    {
                        found.list[usize::from(found.count)] = beside;
                        found.count += 1;
                    }
                }
            }
            found.list[..usize::from(found.count)].sort_by_key(|&other| visits.bond(other));
            self.neighbours[usize::from(at)] = found;
            self.queue.push(at);
        }
        let Self { queue, neighbours, .. } = self;
        queue.sort_by_key(|&at| (std::cmp::Reverse(neighbours[usize::from(at)].count), visits.bond(at)));
        let mut seen = 0_u128;
        for place in 0..self.queue.len() {
            self.connected.push_back(self.queue[place]);
            while let Some(at) = self.connected.pop_front() {
                if seen & bit(at) != 0 {
                    continue;
                }
                seen |= bit(at);
                self.mark(graph, visits, at)?;
                let neighbours = self.neighbours[usize::from(at)];
                self.connected.extend(neighbours.all().iter().filter(|&&other| seen & bit(other) == 0));
            }
        }
        Some(())
    }

    fn count(&self, bond: u8) -> i8 {
        self.of_bonds[usize::from(bond)]
    }

    fn use_mark(&mut self, side: MarkedBond, atom: u8) {
        self.of_bonds[usize::from(side.bond)] += 1;
        self.of_atoms[usize::from(atom)] += 1;
    }

    /// Returns the bonds at one end of a double bond that can carry its marks.
    fn end(
        &self,
        graph: &Graph,
        visits: &WriteOrder,
        double: u8,
        atom: u8,
        other: bool,
    ) -> Option<DoubleBondEnd> {
        let (mut first, mut second, mut marked) = (None, None, false);
        for &edge in graph.atoms[usize::from(atom)].edges() {
            if edge.bond == double || !can_be_marked(graph, edge) {
                continue;
            }
            marked |= self.count(edge.bond) > 0;
            let before = first.is_none_or(|first: Edge| visits.bond(edge.bond) < visits.bond(first.bond));
            if before {
                second = first.or(second);
                first = Some(edge);
            } else {
                second = Some(edge);
            }
        }
        let side = |edge: Edge| {
            let (here, there) = (visits.atom(atom), visits.atom(edge.to));
            let after = if other { there < here } else { here < there };
            MarkedBond { bond: edge.bond, flipped: after != (visits.closes_ring(edge.bond)) }
        };
        Some(DoubleBondEnd { atom, first: side(first?), second: second.map(side), marked })
    }

    /// Marks the neighbours of one double bond (`canonicalizeDoubleBond`).
    fn mark(&mut self, graph: &mut Graph, visits: &WriteOrder, double: u8) -> Option<()> {
        let bond = graph.bonds[usize::from(double)];
        let (mut begin, mut end) = (bond.begin, bond.end);
        let degree = |graph: &Graph, atom: u8| graph.atoms[usize::from(atom)].degree;
        if !matches!(degree(graph, begin), 2 | 3) || !matches!(degree(graph, end), 2 | 3) {
            return Some(());
        }
        if visits.atom(begin) >= visits.atom(end) {
            std::mem::swap(&mut begin, &mut end);
        }
        let ends =
            (self.end(graph, visits, double, begin, false), self.end(graph, visits, double, end, true));
        let (Some(one), Some(two)) = ends else { return Some(()) };
        if one.marked && two.marked {
            let consistent = (self.join(graph, one), self.join(graph, two));
            return self.settle_conflict(graph, double, (one, consistent.0), (two, consistent.1));
        }
        // The end that is already marked, or else the one written first, determines the mark of the other.
        let (from, to) = if two.marked { (two, one) } else { (one, two) };
        let mut by = from.first;
        if !from.marked {
            graph.bonds[usize::from(by.bond)].direction = Direction::Up;
            self.use_mark(by, from.atom);
        } else if self.count(by.bond) > 0 {
            self.use_mark(by, from.atom);
            if let Some(second) = from.second.filter(|second| self.count(second.bond) != 0) {
                self.use_mark(second, from.atom);
            }
        } else {
            let second = from.second?;
            copy_direction(graph, second, by);
            self.use_mark(second, from.atom);
            self.use_mark(by, from.atom);
            by = second;
        }
        let direction = reference(graph, double, from.atom, to.atom, by, to.first)?;
        graph.bonds[usize::from(to.first.bond)].direction = direction;
        self.use_mark(to.first, to.atom);
        for end in [one, two] {
            if let Some(second) = end.second
                && degree(graph, end.atom) == 3
                && self.count(second.bond) == 0
            {
                copy_direction(graph, end.first, second);
                self.use_mark(second, end.atom);
            }
        }
        Some(())
    }

    /// Reuses the existing marks of an end. Returns true if they are consistent.
    fn join(&mut self, graph: &mut Graph, end: DoubleBondEnd) -> bool {
        let mut consistent = true;
        if let Some(second) = end.second {
            if self.count(end.first.bond) == 0 {
                copy_direction(graph, second, end.first);
            } else if self.count(second.bond) == 0 {
                copy_direction(graph, end.first, second);
            } else {
                let direction = |side: MarkedBond| graph.bonds[usize::from(side.bond)].direction;
                let alike = direction(end.first) == direction(second);
                consistent = alike == (end.first.flipped != second.flipped);
            }
            self.use_mark(second, end.atom);
        }
        self.use_mark(end.first, end.atom);
        consistent
    }

    /// Removes one of two contradicting marks if that helps (`handleDirConflictsAcrossDoubleBond`).
    fn settle_conflict(
        &mut self,
        graph: &Graph,
        double: u8,
        (one, one_fits): (DoubleBondEnd, bool),
        (two, two_fits): (DoubleBondEnd, bool),
    ) -> Option<()> {
        match (one_fits, two_fits) {
            (true, true) => {
                reference(graph, double, one.atom, two.atom, one.first, two.first)?;
                Some(())
            }
            (true, false) => self.settle_end(graph, double, two, one),
            (false, true) => self.settle_end(graph, double, one, two),
            (false, false) => self.settle_both(graph, double, one, two),
        }
    }

    /// Removes a mark at one end of a double bond. RDKit iterates over copies of the end's bonds, so it always
    /// removes the mark of the first one.
    fn settle_end(
        &mut self,
        graph: &Graph,
        double: u8,
        end: DoubleBondEnd,
        other: DoubleBondEnd,
    ) -> Option<()> {
        for side in [end.first, end.second?] {
            let taken = end.first.bond;
            let beyond = graph.bonds[usize::from(taken)].other(end.atom);
            if self.of_atoms[usize::from(beyond)] != 2 {
                continue;
            }
            let expected = reference(graph, double, other.atom, end.atom, other.first, side)?;
            if expected == graph.bonds[usize::from(side.bond)].direction {
                self.take_back(taken, end.atom, beyond);
                return Some(());
            }
        }
        Some(())
    }

    fn settle_both(
        &mut self,
        graph: &Graph,
        double: u8,
        one: DoubleBondEnd,
        two: DoubleBondEnd,
    ) -> Option<()> {
        for first in [one.first, one.second?] {
            for second in [two.first, two.second?] {
                let expected = reference(graph, double, one.atom, two.atom, first, second)?;
                if expected != graph.bonds[usize::from(second.bond)].direction {
                    continue;
                }
                let beyond_one = graph.bonds[usize::from(one.first.bond)].other(one.atom);
                let beyond_two = graph.bonds[usize::from(two.first.bond)].other(two.atom);
                if beyond_one == beyond_two
                    || self.of_atoms[usize::from(beyond_one)] != 2
                    || self.of_atoms[usize::from(beyond_two)] != 2
                {
                    continue;
                }
                self.take_back(one.first.bond, one.atom, beyond_one);
                self.take_back(two.first.bond, two.atom, beyond_two);
                return Some(());
            }
        }
        Some(())
    }

    fn take_back(&mut self, bond: u8, atom: u8, beyond: u8) {
        self.of_bonds[usize::from(bond)] = 0;
        self.of_atoms[usize::from(atom)] -= 1;
        self.of_atoms[usize::from(beyond)] -= 1;
    }

    /// Removes marks that would state too much, then redundant ones.
    pub fn drop_redundant_marks(&mut self, graph: &mut Graph, visits: &WriteOrder, parts: &[Part]) {
        for part in parts {
            if let Part::Bond(at, _) = *part
                && graph.bonds[usize::from(at)].kind == BondKind::Double
                && !has_sides(graph, at)
            {
                self.drop_unwanted(graph, visits, at);
            }
        }
        for part in parts {
            let Part::Bond(at, left) = *part else { continue };
            let bond = graph.bonds[usize::from(at)];
            if matches!(bond.kind, BondKind::Single | BondKind::Aromatic) && self.count(at) != 0 {
                self.drop_redundant(graph, at, left);
                self.drop_redundant(graph, at, bond.other(left));
            } else {
                graph.bonds[usize::from(at)].direction = Direction::None;
            }
        }
    }

    /// Removes marks at both ends of a double bond without stereo, which would give it a configuration.
    fn drop_unwanted(&mut self, graph: &mut Graph, visits: &WriteOrder, double: u8) {
        let bond = graph.bonds[usize::from(double)];
        let degree = |atom: u8| graph.atoms[usize::from(atom)].degree;
        if degree(bond.begin) == 1 || degree(bond.end) == 1 {
            return;
        }
        let mut marked = [(0_u16, 0_u8, 0_u8); 2 * MAX_NEIGHBOURS];
        let mut count = 0;
        let mut gather = |atom: u8| {
            let before = count;
            for edge in graph.atoms[usize::from(atom)].edges() {
                if self.count(edge.bond) != 0 {
                    marked[count] = (visits.bond(edge.bond), edge.bond, edge.to);
                    count += 1;
                }
            }
            count > before
        };
        if !gather(bond.begin) {
            return;
        }
        let first = count_of(&self.of_atoms, bond.begin);
        let at_begin = graph.atoms[usize::from(bond.begin)].edges();
        let at_begin = at_begin.iter().filter(|edge| self.count(edge.bond) != 0).count();
        if !gather(bond.end) || count_of(&self.of_atoms, bond.end) != 0 {
            return;
        }
        let from = if first != 0 { at_begin } else { 0 };
        let candidates = &mut marked[from..count];
        candidates.sort_by_key(|&(visit, ..)| visit);
        let beyond = |&&(_, _, atom): &&(u16, u8, u8)| count_of(&self.of_atoms, atom) == 2;
        if let Some(&(_, mark, atom)) = candidates.iter().find(beyond) {
            self.of_bonds[usize::from(mark)] = 0;
            graph.bonds[usize::from(mark)].direction = Direction::None;
            self.of_atoms[usize::from(atom)] -= 1;
        }
    }

    /// Removes one of two marks at the same end of a double bond, since both state the same (`clearBondDirs`).
    fn drop_redundant(&mut self, graph: &mut Graph, mark: u8, atom: u8) {
        let edges = graph.atoms[usize::from(atom)].around;
        let edges = &edges[..usize::from(graph.atoms[usize::from(atom)].degree)];
        let double = |edge: &Edge| edge.bond != mark && has_sides(graph, edge.bond);
        if count_of(&self.of_atoms, atom) < 2 || !edges.iter().any(double) {
            return;
        }
        let other = edges.iter().find(|edge| {
            edge.bond != mark && matches!(graph.kind(**edge), BondKind::Single | BondKind::Aromatic)
        });
        let Some(other) = other else { return };
        let lonely = |counts: &[i8], bond: u8| {
            let bond = &graph.bonds[usize::from(bond)];
            count_of(counts, bond.begin) == 1 || count_of(counts, bond.end) == 1
        };
        let dropped = if self.count(other.bond) >= self.count(mark) && !lonely(&self.of_atoms, other.bond) {
            other.bond
        } else if !lonely(&self.of_atoms, mark) {
            mark
        } else {
            return;
        };
        self.of_bonds[usize::from(dropped)] -= 1;
        if self.of_bonds[usize::from(dropped)] == 0 {
            graph.bonds[usize::from(dropped)].direction = Direction::None;
            self.of_atoms[usize::from(atom)] -= 1;
            let beyond = usize::from(graph.bonds[usize::from(dropped)].other(atom));
            if self.of_atoms[beyond] != 0 {
                self.of_atoms[beyond] -= 1;
            }
        }
    }
}

fn count_of(counts: &[i8], atom: u8) -> i8 {
    counts[usize::from(atom)]
}

/// Returns true if the bond is a double bond with stereo.
fn has_sides(graph: &Graph, at: u8) -> bool {
    let bond = &graph.bonds[usize::from(at)];
    bond.kind == BondKind::Double && bond.sides != BondStereo::None
}

fn can_be_marked(graph: &Graph, edge: Edge) -> bool {
    matches!(graph.kind(edge), BondKind::Single | BondKind::Aromatic)
}

/// Finds a double bond with stereo at the far end of a bond.
fn double_beside(graph: &Graph, by: Edge) -> Option<u8> {
    let edges = graph.atoms[usize::from(by.to)].edges();
    edges.iter().map(|edge| edge.bond).find(|&bond| bond != by.bond && has_sides(graph, bond))
}

fn copy_direction(graph: &mut Graph, from: MarkedBond, to: MarkedBond) {
    let direction = graph.bonds[usize::from(from.bond)].direction;
    graph.bonds[usize::from(to.bond)].direction =
        if from.flipped == to.flipped { direction.flipped() } else { direction };
}

/// Returns the mark of `target` that corresponds to the mark of `by` across a double bond (`getReferenceDirection`).
fn reference(
    graph: &Graph,
    double: u8,
    from: u8,
    to: u8,
    by: MarkedBond,
    target: MarkedBond,
) -> Option<Direction> {
    let bond = &graph.bonds[usize::from(double)];
    let mut direction = graph.bonds[usize::from(by.bond)].direction;
    if bond.sides == BondStereo::Same {
        direction = direction.flipped();
    }
    if direction == Direction::None || bond.sides == BondStereo::None {
        return None;
    }
    for (atom, side) in [(from, by), (to, target)] {
        let neighbour = graph.bonds[usize::from(side.bond)].other(atom);
        if graph.atoms[usize::from(atom)].degree == 3 && !bond.references.contains(&neighbour) {
            direction = direction.flipped();
        }
    }
    Some(if by.flipped == target.flipped { direction } else { direction.flipped() })
}
