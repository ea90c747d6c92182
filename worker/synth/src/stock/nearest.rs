//! The most similar building block, without looking at most of them.
//!
//! Blocks are numbered by how many bits they set, so that a similarity that has been reached leaves a window of
//! numbers: a block with many more or many fewer bits than the query cannot reach it (Swamidass and Baldi,
//! "Bounds and algorithms for fast exact searches of chemical fingerprints", 2007). Within the window a block
//! that shares none of the query's `n` rarest bits can share at most the rest, so only blocks on the lists of
//! those bits are compared (the prefix filter of Bayardo, Ma and Srikant, "Scaling up all pairs similarity
//! search", 2007). The blocks on the rarest lists are compared first, since they make that similarity high.

use std::ops::Range;

use chem::Fingerprint;

/// Bits in a fingerprint.
const BITS: usize = 2048;
/// A bit set in more than one block of this many has no list.
const COMMON: usize = 8;
/// How many blocks of the rarest lists are compared for a first similarity.
const FIRST_GUESSES: usize = 500;

/// The fingerprints of all blocks, and for each rare bit the blocks that set it.
///
/// Its own numbers of the blocks, "places", rise with the number of bits.
#[derive(Debug)]
pub struct NearestIndex {
    /// The block at each place.
    blocks: Vec<u32>,
    /// The first place whose block sets this many bits or more.
    places_of_count: Vec<u32>,
    /// The block at place `i` sets the bits `bits[starts[i]..starts[i + 1]]`.
    starts: Vec<u64>,
    bits: Vec<u16>,
    /// In how many blocks each bit is set.
    frequency: Vec<u32>,
    /// Bit `b` is set at the places `lists[list_starts[b]..list_starts[b + 1]]`, unless it is common.
    list_starts: Vec<u64>,
    lists: Vec<u32>,
}

impl NearestIndex {
    /// Indexes the fingerprints of blocks 0, 1, 2, …
    pub fn new<'a>(fingerprints: impl Iterator<Item = &'a Fingerprint>) -> Self {
        let fingerprints: Vec<_> =
            fingerprints.map(|fingerprint| (fingerprint.count(), fingerprint)).collect();
        let mut blocks: Vec<u32> = (0_u32..).take(fingerprints.len()).collect();
        blocks.sort_by_key(|&block| fingerprints[block as usize].0);
        let (mut starts, mut bits) = (vec![0], Vec::new());
        let mut places_of_count = vec![0_u32; BITS + 2];
        for &block in &blocks {
            let (count, fingerprint) = fingerprints[block as usize];
            places_of_count[count as usize + 1] += 1;
            bits.extend(fingerprint.on_bits());
            starts.push(bits.len() as u64);
        }
        for count in 0..=BITS {
            places_of_count[count + 1] += places_of_count[count];
        }
        let mut frequency = vec![0_u32; BITS];
        for &bit in &bits {
            frequency[usize::from(bit)] += 1;
        }
        let (list_starts, lists) = (Vec::new(), Vec::new());
        let mut index = Self { blocks, places_of_count, starts, bits, frequency, list_starts, lists };
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
        for place in 0..self.blocks.len() {
            for at in self.range(place) {
                let bit = usize::from(self.bits[at]);
                if self.has_list(bit) {
                    self.lists[ends[bit] as usize] = place as u32;
                    ends[bit] += 1;
                }
            }
        }
    }

    fn has_list(&self, bit: usize) -> bool {
        self.frequency[bit] as usize * COMMON <= self.blocks.len()
    }

    fn range(&self, place: usize) -> Range<usize> {
        self.starts[place] as usize..self.starts[place + 1] as usize
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
        let compare = |place: u32, most_shared: u32, best: &mut Best| {
            let range = self.range(place as usize);
            let (block, count) = (self.blocks[place as usize], range.len() as u32);
            if best.improves(block, count.min(most_shared), count) {
                let shared = self.bits[range].iter().filter(|&&bit| is_on[usize::from(bit)]).count() as u32;
                if best.improves(block, shared, count) && allowed(block) {
                    best.found = Some((block, shared, shared_or(best.query_count, count, shared)));
                }
            }
        };

        let listed = query_bits.iter().filter(|&&bit| self.has_list(usize::from(bit))).count();
        let guesses = query_bits[..listed].iter().flat_map(|&bit| self.list(bit, 0..u32::MAX));
        guesses.take(FIRST_GUESSES).for_each(|&place| compare(place, best.query_count, &mut best));

        let (prefix, window) = (best.prefix(), self.window(&best));
        if prefix > listed {
            window.for_each(|place| compare(place, best.query_count, &mut best));
            return best.answer();
        }
        let left = best.query_count - prefix as u32;
        let mut shared = vec![0_u16; window.len()];
        let mut met = Vec::new();
        for &place in query_bits[..prefix].iter().flat_map(|&bit| self.list(bit, window.clone())) {
            let shared = &mut shared[(place - window.start) as usize];
            if *shared == 0 {
                met.push(place);
            }
            *shared += 1;
        }
        let mut by_shared = vec![Vec::new(); prefix + 1];
        for place in met {
            by_shared[usize::from(shared[(place - window.start) as usize])].push(place);
        }
        for (count, places) in by_shared.iter().enumerate().rev() {
            let most_shared = left + count as u32;
            if !best.improves(0, most_shared, most_shared) {
                break;
            }
            places.iter().for_each(|&place| compare(place, most_shared, &mut best));
        }
        best.answer()
    }

    /// The places on the list of `bit` that lie in `window`.
    fn list(&self, bit: u16, window: Range<u32>) -> &[u32] {
        let bit = usize::from(bit);
        let list = &self.lists[self.list_starts[bit] as usize..self.list_starts[bit + 1] as usize];
        let start = list.partition_point(|&place| place < window.start);
        let end = list.partition_point(|&place| place < window.end);
        &list[start..end]
    }

    /// The places of the blocks that set neither too few nor too many bits to be better than the best so far.
    fn window(&self, best: &Best) -> Range<u32> {
        let query = best.query_count;
        let may_be_better = |count: u32| best.improves(0, count.min(query), count);
        let most = BITS as u32;
        let first = (0..=query).find(|&count| may_be_better(count)).unwrap_or(query);
        let last = (query..=most).take_while(|&count| may_be_better(count)).last().unwrap_or(query);
        self.places_of_count[first as usize]..self.places_of_count[last as usize + 1]
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

    /// How many of the query's bits a better block must share one of, whichever they are.
    fn prefix(&self) -> usize {
        let needed = (0..=self.query_count).find(|&shared| self.improves(0, shared, shared));
        match needed {
            // A block that shares nothing may be better: no bit need be shared.
            Some(0) => usize::MAX,
            Some(needed) => (self.query_count - needed + 1) as usize,
            None => 0,
        }
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
