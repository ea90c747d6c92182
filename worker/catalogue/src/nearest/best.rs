//! The most similar blocks so far, by exact fractions, and what threads tell each other of them.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A similarity: bits shared over bits set in either.
type Fraction = (u32, u32);

/// The least similarity.
const NOTHING: Fraction = (0, 1);

/// What a similarity that is asked for is a multiple of: finer than the distance between any two, which have up to 4,096 bits.
const FINE: u32 = 1 << 16;

/// Which blocks are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// How many, the most similar ones; at least one.
    pub most: usize,
    /// How similar they are at least, from 0 to 1.
    pub least: f32,
}

impl Wanted {
    /// The most similar one.
    pub const NEAREST: Self = Self { most: 1, least: 0.0 };
}

/// Whether one similarity is above another.
fn is_above((shared, either): Fraction, (other_shared, other_either): Fraction) -> bool {
    u64::from(shared) * u64::from(other_either) > u64::from(other_shared) * u64::from(either)
}

/// A block and its similarity.
#[derive(Debug, Clone, Copy)]
struct Found {
    block: u32,
    similarity: Fraction,
}

impl Found {
    /// Whether it is more similar than another, or as similar and of a lower number.
    fn is_better_than(&self, other: &Self) -> bool {
        let is_as_good = !is_above(other.similarity, self.similarity);
        is_above(self.similarity, other.similarity) || (is_as_good && self.block < other.block)
    }

    /// The better first.
    fn order(&self, other: &Self) -> Ordering {
        other.is_better_than(self).cmp(&self.is_better_than(other))
    }
}

/// The best blocks for a molecule that some thread has seen so far.
#[derive(Debug, Clone)]
pub struct Best {
    /// The best first.
    found: Vec<Found>,
    most: usize,
    /// What was asked for, and what others have found: only what is as similar matters.
    floor: Fraction,
    query_count: u32,
}

impl Best {
    /// None yet, for a molecule that sets so many bits.
    pub fn none(query_count: u32, wanted: Wanted) -> Self {
        let floor = ((wanted.least.clamp(0.0, 1.0) * FINE as f32) as u32, FINE);
        let floor = if floor.0 == 0 { NOTHING } else { floor };
        Self { found: Vec::new(), most: wanted.most, floor, query_count }
    }

    /// How many bits the molecule sets.
    pub fn query_count(&self) -> u32 {
        self.query_count
    }

    /// Takes a block that shares `shared` bits and sets `count`, if it is better.
    pub fn take(&mut self, block: u32, shared: u32, count: u32) {
        // Of two empty fingerprints one is the other.
        let similarity = match self.query_count + count - shared {
            0 => (1, 1),
            either => (shared, either),
        };
        let found = Found { block, similarity };
        if self.worst().is_some_and(|worst| !found.is_better_than(worst)) {
            return;
        }
        let place = self.found.partition_point(|other| other.is_better_than(&found));
        // The tile with which it was begun is looked at once more.
        if self.found.get(place).is_none_or(|other| other.block != block) {
            self.found.insert(place, found);
            self.found.truncate(self.most);
        }
    }

    /// What others have to be better than, if there are as many as are wanted.
    fn worst(&self) -> Option<&Found> {
        self.found.get(self.most - 1)
    }

    /// Takes note of what others have found.
    pub fn heed(&mut self, bound: &Bound) {
        self.floor = bound.get();
    }

    /// Whether anything is known that leaves some blocks out.
    pub fn is_bounded(&self) -> bool {
        self.worst().is_some() || self.floor != NOTHING
    }

    /// How many bits a block that sets `count` shares at least if it is as good as the worst of the best so far: the least `s` for which
    /// `s / (query + count - s)` is not below it.
    pub fn least_shared(&self, count: u32) -> u32 {
        let own = self.worst().map_or(NOTHING, |found| found.similarity);
        let (shared, either) = if is_above(own, self.floor) { own } else { self.floor };
        ((self.query_count + count) * shared).div_ceil(shared + either)
    }

    /// The best that any thread has seen, and their similarities.
    pub fn of_all<'a>(all: impl Iterator<Item = &'a Self>, wanted: Wanted) -> Vec<(u32, f32)> {
        let mut found: Vec<Found> = all.flat_map(|best| best.found.iter().copied()).collect();
        // What was found before the threads began, each of them has.
        found.sort_unstable_by_key(|found| found.block);
        found.dedup_by_key(|found| found.block);
        found.sort_unstable_by(Found::order);
        found.truncate(wanted.most);
        let similarity = |(shared, either)| shared as f32 / either as f32;
        let each = found.into_iter().map(|found| (found.block, similarity(found.similarity)));
        each.filter(|&(_, similarity)| similarity >= wanted.least).collect()
    }
}

/// A similarity that some thread has found, for all of them.
#[derive(Debug)]
pub struct Bound(AtomicU64);

impl Bound {
    /// What is known at first.
    pub fn of(best: &Best) -> Self {
        let bound = Self(AtomicU64::new(packed(best.floor)));
        bound.raise(best);
        bound
    }

    /// Which of several is seen makes no difference but to the time.
    fn get(&self) -> Fraction {
        unpacked(self.0.load(Relaxed))
    }

    /// Tells the others.
    pub fn raise(&self, best: &Best) {
        let Some(found) = best.worst() else { return };
        let higher = |bound| is_above(found.similarity, unpacked(bound)).then(|| packed(found.similarity));
        // Where it is no higher nothing is to be done.
        let _ = self.0.fetch_update(Relaxed, Relaxed, higher);
    }
}

fn packed((shared, either): Fraction) -> u64 {
    u64::from(shared) << 32 | u64::from(either)
}

fn unpacked(bound: u64) -> Fraction {
    ((bound >> 32) as u32, bound as u32)
}
