//! The most similar block so far, as an exact fraction, and what threads tell each other of it.

use std::sync::atomic::{AtomicU64, Ordering};

/// A similarity: bits shared over bits set in either.
type Fraction = (u32, u32);

/// The least similarity.
const NOTHING: Fraction = (0, 1);

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
}

/// The best block for a molecule that some thread has seen so far.
#[derive(Debug, Clone)]
pub struct Best {
    found: Option<Found>,
    /// What others have found: only what is as similar matters.
    floor: Fraction,
    query_count: u32,
}

impl Best {
    /// None yet, for a molecule that sets so many bits.
    pub fn none(query_count: u32) -> Self {
        Self { found: None, floor: NOTHING, query_count }
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
        if self.found.is_none_or(|best| found.is_better_than(&best)) {
            self.found = Some(found);
        }
    }

    /// Takes note of what others have found.
    pub fn heed(&mut self, bound: &Bound) {
        self.floor = bound.get();
    }

    /// Whether anything is known that leaves some blocks out.
    pub fn is_bounded(&self) -> bool {
        self.found.is_some() || self.floor != NOTHING
    }

    /// How many bits a block that sets `count` shares at least if it is as good as the best so far: the least `s` for which
    /// `s / (query + count - s)` is not below it.
    pub fn least_shared(&self, count: u32) -> u32 {
        let own = self.found.map_or(NOTHING, |found| found.similarity);
        let (shared, either) = if is_above(own, self.floor) { own } else { self.floor };
        ((self.query_count + count) * shared).div_ceil(shared + either)
    }

    /// The best that any thread has seen, and its similarity.
    pub fn of_all<'a>(all: impl Iterator<Item = &'a Self>) -> Option<(u32, f32)> {
        let found = all.filter_map(|best| best.found);
        let best = found.reduce(|best, found| if found.is_better_than(&best) { found } else { best })?;
        let (shared, either) = best.similarity;
        Some((best.block, shared as f32 / either as f32))
    }
}

/// A similarity that some thread has found, for all of them.
#[derive(Debug)]
pub struct Bound(AtomicU64);

impl Bound {
    /// What is known at first.
    pub fn of(best: &Best) -> Self {
        let bound = Self(AtomicU64::new(packed(NOTHING)));
        bound.raise(best);
        bound
    }

    /// Which of several is seen makes no difference but to the time.
    fn get(&self) -> Fraction {
        unpacked(self.0.load(Ordering::Relaxed))
    }

    /// Tells the others.
    pub fn raise(&self, best: &Best) {
        let Some(found) = best.found else { return };
        let higher = |bound| is_above(found.similarity, unpacked(bound)).then(|| packed(found.similarity));
        // Where it is no higher nothing is to be done.
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, higher);
    }
}

fn packed((shared, either): Fraction) -> u64 {
    u64::from(shared) << 32 | u64::from(either)
}

fn unpacked(bound: u64) -> Fraction {
    ((bound >> 32) as u32, bound as u32)
}
