//! CIP ranks of atoms (for R and S), in RDKit's approximation.
//!
//! A port of `iterateCIPRanks` (RDKit's `Chirality.cpp`, without its newer digraph labels). An atom's entry is its
//! rank so far, followed by the rank of the neighbour for every half bond, descending. The multiplicity of a rank can
//! be stored beside it: if two entries share a rank but not its multiplicity, the entry with fewer continues with a
//! lower rank. So an entry fits into one number, and numbers sort as entries do.

use super::graph::{BondKind, Graph, MAX_FAST_ATOMS, MAX_NEIGHBOURS, bit};

/// Fields of an entry: one for each neighbour, one for hydrogens.
const PLACES: u32 = MAX_NEIGHBOURS as u32 + 1;

/// The ranks of atoms, and the buffers of the ranking.
#[derive(Debug, Default)]
pub(super) struct Priorities {
    /// Rank of every atom; empty until the first request.
    pub ranks: Vec<u8>,
    /// Atoms sorted by rank.
    sorted: Vec<u8>,
    entries: Vec<u64>,
    next: Vec<u8>,
}

impl Priorities {
    /// Ranks atoms by element and environment (`assignAtomCIPRanks`).
    pub fn assign(&mut self, graph: &Graph) -> Option<()> {
        self.iterate(graph, |at| i32::from(graph.atoms[at].number))
    }

    /// Ranks atoms by their current ranks, then by `words` (`rerankAtoms`).
    pub fn refine(&mut self, graph: &Graph, words: &[i32]) -> Option<()> {
        let ranks = std::mem::take(&mut self.ranks);
        // RDKit's factor: a power of ten above the number of atoms.
        let factor = if graph.atoms.len() > 100 { 1000 } else { 100 };
        self.iterate(graph, |at| i32::from(ranks[at]) * factor + words[at])
    }

    fn iterate(&mut self, graph: &Graph, invariant: impl Fn(usize) -> i32) -> Option<()> {
        let count = graph.atoms.len();
        debug_assert!(count <= MAX_FAST_ATOMS);
        self.entries.clear();
        self.entries.extend((0..count).map(|at| u64::from(invariant(at).cast_unsigned())));
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

    /// Numbers the sorted atoms from 0. Atoms with equal entries share a rank if `alike` holds too. Returns the
    /// number of ranks, and true if some are shared.
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

/// Builds an atom's entry: its neighbours by descending rank with the number of half bonds to each rank, then its
/// hydrogens.
fn entry(graph: &Graph, ranks: &[u8], at: usize) -> Option<u64> {
    let atom = &graph.atoms[at];
    let mut around = [(0_u8, 0_u8); MAX_NEIGHBOURS];
    for (place, &edge) in atom.edges().iter().enumerate() {
        let other = &graph.atoms[usize::from(edge.to)];
        let times = match graph.kind(edge) {
            BondKind::Double if other.number == 15 && matches!(other.degree, 3 | 4) => 1,
            kind => kind.twice(),
        };
        let new = (ranks[usize::from(edge.to)] + 2, times);
        let mut to = place;
        while to > 0 && around[to - 1].0 < new.0 {
            around[to] = around[to - 1];
            to -= 1;
        }
        around[to] = new;
    }
    let mut left = PLACES;
    let mut entry = 0_u64;
    let mut push = |value: u8, times: u8| {
        if times > 15 {
            return None;
        }
        left -= 1;
        entry |= (u64::from(value) << 4 | u64::from(times)) << (12 * left);
        Some(())
    };
    let (mut value, mut times) = around[0];
    for &(next, more) in &around[1..usize::from(atom.degree.max(1))] {
        if next == value {
            times += more;
        } else {
            push(value, times)?;
            (value, times) = (next, more);
        }
    }
    if times > 0 {
        push(value, times)?;
    }
    if atom.total_hydrogens() > 0 {
        push(1, atom.total_hydrogens())?;
    }
    Some(entry)
}

/// Returns true if two of an atom's neighbours have the same rank.
pub(super) fn has_like_neighbours(graph: &Graph, ranks: &[u8], at: usize) -> bool {
    let mut seen = 0_u128;
    graph.atoms[at].edges().iter().any(|edge| {
        let rank = bit(ranks[usize::from(edge.to)]);
        let twice = seen & rank != 0;
        seen |= rank;
        twice
    })
}
