//! The most similar building block, without looking at most of them.
//!
//! A block that shares none of the query's `n` rarest bits can share at most the rest, which bounds its
//! similarity (the prefix filter of Bayardo, Ma and Srikant, "Scaling up all pairs similarity search", 2007).
//! So blocks are met through the lists of the query's bits, rarest first, until the bound falls to the best
//! similarity found. Bits set in many blocks have no list; a query that gets that far looks at every block.

use chem::Fingerprint;

/// Bits in a fingerprint.
const BITS: usize = 2048;
/// A bit set in more than one block of this many has no list.
const COMMON: usize = 16;

/// The fingerprints of all blocks, and for each rare bit the blocks that set it.
#[derive(Debug)]
pub struct NearestIndex {
    /// Block `i` sets the bits `bits[starts[i]..starts[i + 1]]`.
    starts: Vec<u64>,
    bits: Vec<u16>,
    /// In how many blocks each bit is set.
    frequency: Vec<u32>,
    /// Bit `b` is set in the blocks `lists[list_starts[b]..list_starts[b + 1]]`, unless it is common.
    list_starts: Vec<u64>,
    lists: Vec<u32>,
}

impl NearestIndex {
    /// Indexes the fingerprints of blocks 0, 1, 2, …
    pub fn new<'a>(fingerprints: impl Iterator<Item = &'a Fingerprint>) -> Self {
        let mut starts = vec![0];
        let mut bits = Vec::new();
        for fingerprint in fingerprints {
            bits.extend(fingerprint.on_bits());
            starts.push(bits.len() as u64);
        }
        let mut frequency = vec![0_u32; BITS];
        for &bit in &bits {
            frequency[usize::from(bit)] += 1;
        }
        let mut index = Self { starts, bits, frequency, list_starts: Vec::new(), lists: Vec::new() };
        index.fill_lists();
        index
    }

    fn fill_lists(&mut self) {
        let mut next = 0;
        for bit in 0..BITS {
            self.list_starts.push(next);
            if self.has_list(bit) {
                next += u64::from(self.frequency[bit]);
            }
        }
        self.list_starts.push(next);
        self.lists = vec![0; next as usize];
        let mut ends = self.list_starts.clone();
        for block in 0..self.len() {
            for at in self.range(block) {
                let bit = usize::from(self.bits[at]);
                if self.has_list(bit) {
                    self.lists[ends[bit] as usize] = block as u32;
                    ends[bit] += 1;
                }
            }
        }
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn has_list(&self, bit: usize) -> bool {
        self.frequency[bit] as usize * COMMON <= self.len()
    }

    fn range(&self, block: usize) -> std::ops::Range<usize> {
        self.starts[block] as usize..self.starts[block + 1] as usize
    }

    /// The most similar block that is `allowed`, the lowest-numbered of several, and its similarity.
    pub fn find(&self, query: &Fingerprint, allowed: impl Fn(u32) -> bool) -> Option<(u32, f32)> {
        let mut query_bits: Vec<u16> = query.on_bits().collect();
        query_bits.sort_by_key(|&bit| (self.frequency[usize::from(bit)], bit));
        let mut is_on = [false; BITS];
        for &bit in &query_bits {
            is_on[usize::from(bit)] = true;
        }
        let mut best = Best { found: None, query_count: query_bits.len() as u32 };
        let mut seen = vec![0_u64; self.len().div_ceil(64)];
        // `left` bounds the bits that a block can share which is met for the first time.
        let mut visit = |block: usize, left: u32, best: &mut Best| {
            let word = &mut seen[block / 64];
            if *word >> (block % 64) & 1 == 1 {
                return;
            }
            *word |= 1 << (block % 64);
            let range = self.range(block);
            let count = range.len() as u32;
            if !best.improves(block as u32, count.min(left), count) {
                return;
            }
            let shared = self.bits[range].iter().filter(|&&bit| is_on[usize::from(bit)]).count() as u32;
            if best.improves(block as u32, shared, count) && allowed(block as u32) {
                best.found = Some((block as u32, shared, shared_or(best.query_count, count, shared)));
            }
        };
        let mut left = best.query_count;
        for &bit in &query_bits {
            // A block not met so far sets none of the bits passed.
            if !best.improves(0, left, left) {
                return best.answer();
            }
            if !self.has_list(usize::from(bit)) {
                break;
            }
            let list =
                self.list_starts[usize::from(bit)] as usize..self.list_starts[usize::from(bit) + 1] as usize;
            for &block in &self.lists[list] {
                visit(block as usize, left, &mut best);
            }
            left -= 1;
        }
        (0..self.len()).for_each(|block| visit(block, left, &mut best));
        best.answer()
    }
}

/// The best block so far, as an exact fraction: bits shared over bits set in either.
struct Best {
    found: Option<(u32, u32, u32)>,
    query_count: u32,
}

impl Best {
    /// Whether a block that shares `shared` bits and sets `count` would be better than the best so far.
    fn improves(&self, block: u32, shared: u32, count: u32) -> bool {
        let Some((best_block, best_shared, best_union)) = self.found else { return true };
        let union = shared_or(self.query_count, count, shared);
        let (new, old) =
            (u64::from(shared) * u64::from(best_union), u64::from(best_shared) * u64::from(union));
        new > old || (new == old && block < best_block)
    }

    fn answer(&self) -> Option<(u32, f32)> {
        self.found.map(|(block, shared, union)| {
            (block, if union == 0 { 0.0 } else { shared as f32 / union as f32 })
        })
    }
}

fn shared_or(query_count: u32, count: u32, shared: u32) -> u32 {
    query_count + count - shared
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fingerprints() -> impl Strategy<Value = Vec<Vec<u16>>> {
        // Few bits, so that some are common and some are rare.
        let bit = prop_oneof![0_u16..6, 0_u16..60, 0_u16..2048];
        prop::collection::vec(prop::collection::vec(bit, 1..12), 1..80)
    }

    proptest! {
        #[test]
        fn the_nearest_is_what_a_full_comparison_finds(bits in fingerprints(), query in 0_usize..80, odd: bool) {
            let all: Vec<Fingerprint> =
                bits.iter().map(|bits| Fingerprint::from_on_bits(bits.iter().copied())).collect();
            let query = all[query % all.len()];
            let allowed = |block: u32| !odd || block % 3 == 1;

            let found = NearestIndex::new(all.iter()).find(&query, allowed);

            let expected = (0_u32..)
                .zip(&all)
                .filter(|(block, _)| allowed(*block))
                .map(|(block, other)| (block, query.tanimoto(other)))
                .reduce(|best, next| if next.1 > best.1 { next } else { best });
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn an_empty_shelf_has_no_nearest() {
        let query = Fingerprint::from_on_bits([1, 2, 3]);

        assert_eq!(NearestIndex::new(std::iter::empty()).find(&query, |_| true), None);
    }
}
