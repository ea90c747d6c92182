//! The most similar building block, without looking at most of them.
//!
//! A block that shares none of the query's `n` rarest bits can share at most the rest, which bounds its
//! similarity (the prefix filter of Bayardo, Ma and Srikant, "Scaling up all pairs similarity search", 2007).
//! So blocks are met through the lists of the query's bits, rarest first, and compared in the order of how many
//! of those they share, until the bound falls to the best similarity found. Bits set in many blocks have no
//! list; a query that gets that far looks at every block.

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
        let compare = |block: u32, most_shared: u32, best: &mut Best| {
            let range = self.range(block as usize);
            let count = range.len() as u32;
            if best.improves(block, count.min(most_shared), count) {
                let shared = self.bits[range].iter().filter(|&&bit| is_on[usize::from(bit)]).count() as u32;
                if best.improves(block, shared, count) && allowed(block) {
                    best.found = Some((block, shared, shared_or(best.query_count, count, shared)));
                }
            }
        };

        // The rarer half of the bits: blocks that share most of them first.
        let listed = query_bits.iter().filter(|&&bit| self.has_list(usize::from(bit))).count();
        let (first, second) = query_bits[..listed].split_at(listed.min(query_bits.len().div_ceil(2)));
        let left = best.query_count - first.len() as u32;
        let mut shared = vec![0_u16; self.len()];
        let mut met = Vec::new();
        for &block in first.iter().flat_map(|&bit| self.list(bit)) {
            if shared[block as usize] == 0 {
                met.push(block);
            }
            shared[block as usize] += 1;
        }
        let mut by_shared = vec![Vec::new(); first.len() + 1];
        for &block in &met {
            by_shared[usize::from(shared[block as usize])].push(block);
        }
        for (count, blocks) in by_shared.iter().enumerate().rev() {
            let most_shared = left + count as u32;
            if !best.improves(0, most_shared, most_shared) {
                return best.answer();
            }
            blocks.iter().for_each(|&block| compare(block, most_shared, &mut best));
        }

        // A block not met so far sets none of those bits.
        for (passed, &bit) in (0_u32..).zip(second) {
            if !best.improves(0, left - passed, left - passed) {
                return best.answer();
            }
            for &block in self.list(bit) {
                if std::mem::replace(&mut shared[block as usize], 1) == 0 {
                    compare(block, left - passed, &mut best);
                }
            }
        }
        let left = left - second.len() as u32;
        if best.improves(0, left, left) {
            let unmet = (0..self.len() as u32).filter(|&block| shared[block as usize] == 0);
            unmet.for_each(|block| compare(block, left, &mut best));
        }
        best.answer()
    }

    fn list(&self, bit: u16) -> &[u32] {
        let bit = usize::from(bit);
        &self.lists[self.list_starts[bit] as usize..self.list_starts[bit + 1] as usize]
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
