//! The most similar blocks so far, by exact fractions, and the bound that threads share.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A similarity: shared bits over bits set in either fingerprint.
type Fraction = (u32, u32);

/// The lowest similarity.
const ZERO_SIMILARITY: Fraction = (0, 1);

/// Denominator of a requested similarity: finer than the difference between any two fractions of up to 4,096 bits.
const SIMILARITY_DENOMINATOR: u32 = 1 << 16;

/// Number and minimum similarity of the blocks to return.
#[derive(Debug, Clone, Copy)]
pub struct NearestLimits {
    /// Number of blocks, the most similar ones; at least one.
    pub most: usize,
    /// Minimum similarity, from 0 to 1.
    pub least: f32,
}

impl NearestLimits {
    /// The single most similar block.
    pub const NEAREST: Self = Self { most: 1, least: 0.0 };
}

/// Returns true if one similarity is above another.
fn is_above((shared, either): Fraction, (other_shared, other_either): Fraction) -> bool {
    u64::from(shared) * u64::from(other_either) > u64::from(other_shared) * u64::from(either)
}

/// A block and its similarity.
#[derive(Debug, Clone, Copy)]
struct Hit {
    block: u32,
    similarity: Fraction,
}

impl Hit {
    /// Returns true if this block is more similar than the other, or as similar with a lower number.
    fn is_better_than(&self, other: &Self) -> bool {
        let is_as_good = !is_above(other.similarity, self.similarity);
        is_above(self.similarity, other.similarity) || (is_as_good && self.block < other.block)
    }

    /// Orders better blocks first.
    fn order(&self, other: &Self) -> Ordering {
        other.is_better_than(self).cmp(&self.is_better_than(other))
    }
}

/// The best blocks for a molecule among those that one thread has compared.
#[derive(Debug, Clone)]
pub struct TopBlocks {
    /// Best first.
    found: Vec<Hit>,
    most: usize,
    /// Higher of the requested similarity and the best bound of other threads. Only blocks that reach it matter.
    floor: Fraction,
    query_count: u32,
}

impl TopBlocks {
    /// Starts empty, for a molecule that sets `query_count` bits.
    pub fn none(query_count: u32, wanted: NearestLimits) -> Self {
        let floor =
            ((wanted.least.clamp(0.0, 1.0) * SIMILARITY_DENOMINATOR as f32) as u32, SIMILARITY_DENOMINATOR);
        let floor = if floor.0 == 0 { ZERO_SIMILARITY } else { floor };
        Self { found: Vec::new(), most: wanted.most, floor, query_count }
    }

    /// Number of bits that the molecule sets.
    pub fn query_count(&self) -> u32 {
        self.query_count
    }

    /// Adds a block that shares `shared` bits and sets `count` bits, if it is better.
    pub fn take(&mut self, block: u32, shared: u32, count: u32) {
        // Two empty fingerprints are equal.
        let similarity = match self.query_count + count - shared {
            0 => (1, 1),
            either => (shared, either),
        };
        let found = Hit { block, similarity };
        if self.worst().is_some_and(|worst| !found.is_better_than(worst)) {
            return;
        }
        let place = self.found.partition_point(|other| other.is_better_than(&found));
        // The first tile is compared a second time.
        if self.found.get(place).is_none_or(|other| other.block != block) {
            self.found.insert(place, found);
            self.found.truncate(self.most);
        }
    }

    /// The block that others have to beat, once there are `most` blocks.
    fn worst(&self) -> Option<&Hit> {
        self.found.get(self.most - 1)
    }

    /// Adopts the bound that other threads have found.
    pub fn raise_to(&mut self, bound: &SharedBound) {
        self.floor = bound.get();
    }

    /// Returns true if a known bound excludes some blocks.
    pub fn is_bounded(&self) -> bool {
        self.worst().is_some() || self.floor != ZERO_SIMILARITY
    }

    /// Minimum number of bits that a block with `count` bits shares if it is as good as the worst of the best so far:
    /// the least `s` for which `s / (query + count - s)` is not below that similarity.
    pub fn min_shared_bits(&self, count: u32) -> u32 {
        let own = self.worst().map_or(ZERO_SIMILARITY, |found| found.similarity);
        let (shared, either) = if is_above(own, self.floor) { own } else { self.floor };
        ((self.query_count + count) * shared).div_ceil(shared + either)
    }

    /// Merges the best blocks of all threads, with their similarities.
    pub fn merge<'a>(all: impl Iterator<Item = &'a Self>, wanted: NearestLimits) -> Vec<(u32, f32)> {
        let mut found: Vec<Hit> = all.flat_map(|best| best.found.iter().copied()).collect();
        // Every thread starts with the blocks that were found before.
        found.sort_unstable_by_key(|found| found.block);
        found.dedup_by_key(|found| found.block);
        found.sort_unstable_by(Hit::order);
        found.truncate(wanted.most);
        let similarity = |(shared, either)| shared as f32 / either as f32;
        let each = found.into_iter().map(|found| (found.block, similarity(found.similarity)));
        each.filter(|&(_, similarity)| similarity >= wanted.least).collect()
    }
}

/// Similarity bound that all threads share.
#[derive(Debug)]
pub struct SharedBound(AtomicU64);

impl SharedBound {
    /// Starts with the bound known so far.
    pub fn of(best: &TopBlocks) -> Self {
        let bound = Self(AtomicU64::new(packed(best.floor)));
        bound.raise_floor(best);
        bound
    }

    /// A stale value costs only time.
    fn get(&self) -> Fraction {
        unpacked(self.0.load(Relaxed))
    }

    /// Publishes a higher bound to the other threads.
    pub fn raise_floor(&self, best: &TopBlocks) {
        let Some(found) = best.worst() else { return };
        let higher = |bound| is_above(found.similarity, unpacked(bound)).then(|| packed(found.similarity));
        // A bound that is not higher changes nothing.
        let _ = self.0.fetch_update(Relaxed, Relaxed, higher);
    }
}

fn packed((shared, either): Fraction) -> u64 {
    u64::from(shared) << 32 | u64::from(either)
}

fn unpacked(bound: u64) -> Fraction {
    ((bound >> 32) as u32, bound as u32)
}
