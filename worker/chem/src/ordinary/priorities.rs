//! Ranks of atoms by the rules that tell R from S, as RDKit approximates them.
//!
//! A port of `iterateCIPRanks` (RDKit's `Chirality.cpp`, without its newer digraph labels). An atom's entry is its
//! rank so far and then, for every half bond, the rank of the neighbour, falling; with ranks below 254 and at most
//! 16 places an entry is one number whose order is the entries' order.

use super::graph::{Graph, Kind, MOST, bit};

/// Places of an entry.
const PLACES: u32 = 16;

/// The ranks of atoms, and the buffers of finding them.
#[derive(Debug, Default)]
pub(super) struct Priorities {
    /// Of every atom; empty where nothing has asked yet.
    pub ranks: Vec<u8>,
    /// Atoms in the order of their ranks.
    sorted: Vec<u8>,
    entries: Vec<u128>,
    next: Vec<u8>,
}

impl Priorities {
    /// Ranks atoms by element and surroundings (`assignAtomCIPRanks`).
    pub fn assign(&mut self, graph: &Graph) -> Option<()> {
        self.iterate(graph, |at| i32::from(graph.atoms[at].number))
    }

    /// Ranks atoms by the ranks they have, then `words` (`rerankAtoms`).
    pub fn refine(&mut self, graph: &Graph, words: &[i32]) -> Option<()> {
        let ranks = std::mem::take(&mut self.ranks);
        // RDKit's factor: a power of ten above the number of atoms.
        let factor = if graph.atoms.len() > 100 { 1000 } else { 100 };
        self.iterate(graph, |at| i32::from(ranks[at]) * factor + words[at])
    }

    fn iterate(&mut self, graph: &Graph, invariant: impl Fn(usize) -> i32) -> Option<()> {
        let count = graph.atoms.len();
        debug_assert!(count <= MOST);
        self.entries.clear();
        self.entries.extend((0..count).map(|at| u128::from(invariant(at).cast_unsigned())));
        self.sorted.clear();
        self.sorted.extend(0..count as u8);
        let Self { sorted, entries, .. } = self;
        sorted.sort_unstable_by_key(|&at| entries[usize::from(at)]);
        self.ranks.clear();
        self.ranks.resize(count, 0);
        let (mut classes, mut tied) = self.number(|_, _| true);
        for _ in 0..=count / 2 {
            if !tied {
                break;
            }
            let mut start = 0;
            while start < count {
                let rank = self.ranks[usize::from(self.sorted[start])];
                let same = |&&at: &&u8| self.ranks[usize::from(at)] == rank;
                let end = start + self.sorted[start..].iter().take_while(same).count();
                if end - start > 1 {
                    for place in start..end {
                        let at = usize::from(self.sorted[place]);
                        self.entries[at] = entry(graph, &self.ranks, at)?;
                    }
                    let Self { sorted, entries, .. } = self;
                    sorted[start..end].sort_unstable_by_key(|&at| entries[usize::from(at)]);
                }
                start = end;
            }
            self.next.clone_from(&self.ranks);
            let before = std::mem::take(&mut self.next);
            let (more, still_tied) =
                self.number(|one, other| before[usize::from(one)] == before[usize::from(other)]);
            self.next = before;
            if more == classes {
                break;
            }
            (classes, tied) = (more, still_tied);
        }
        Some(())
    }

    /// Gives sorted atoms ranks from 0; those with like entries share one if `alike` too. How many ranks there are,
    /// and whether some are shared.
    fn number(&mut self, alike: impl Fn(u8, u8) -> bool) -> (usize, bool) {
        let mut rank = 0;
        let mut tied = false;
        let mut previous: Option<u8> = None;
        for &at in &self.sorted {
            if let Some(previous) = previous {
                let same = alike(previous, at)
                    && self.entries[usize::from(previous)] == self.entries[usize::from(at)];
                tied |= same;
                rank += u8::from(!same);
            }
            self.ranks[usize::from(at)] = rank;
            previous = Some(at);
        }
        (usize::from(rank) + 1, tied)
    }
}

/// An atom's neighbours by rank, falling, each once for every half bond to it, then its hydrogens.
fn entry(graph: &Graph, ranks: &[u8], at: usize) -> Option<u128> {
    let atom = &graph.atoms[at];
    let mut around = [(0_u8, 0_u32); 4];
    for (slot, &edge) in around.iter_mut().zip(atom.edges()) {
        let other = &graph.atoms[usize::from(edge.to)];
        let kind = graph.kind(edge);
        let times = match kind {
            Kind::Double if other.number == 15 && matches!(other.degree, 3 | 4) => 1,
            kind => u32::from(kind.twice()),
        };
        *slot = (ranks[usize::from(edge.to)] + 2, times);
    }
    let around = &mut around[..usize::from(atom.degree)];
    around.sort_unstable_by(|one, other| other.cmp(one));
    let mut left = PLACES;
    let mut entry = 0_u128;
    let hydrogens = (1, u32::from(atom.total_hydrogens()));
    for &(value, times) in around.iter().chain([&hydrogens]) {
        left = left.checked_sub(times)?;
        for _ in 0..times {
            entry = entry << 8 | u128::from(value);
        }
    }
    Some(if left == PLACES { 0 } else { entry << (8 * left) })
}

/// The set of atoms of one rank among an atom's neighbours twice.
pub(super) fn has_like_neighbours(graph: &Graph, ranks: &[u8], at: usize) -> bool {
    let mut seen = 0_u128;
    graph.atoms[at].edges().iter().any(|edge| {
        let rank = bit(ranks[usize::from(edge.to)]);
        let twice = seen & rank != 0;
        seen |= rank;
        twice
    })
}
