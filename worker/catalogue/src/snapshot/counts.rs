//! Start of each block's offers, in three bits for a block and one for an offer.
//!
//! The numbers of offers are written in unary: a one for each block, then a zero for each of its offers (Elias,
//! "Efficient storage and retrieval by content and address of static files", 1974), and a final one. The zeros before
//! a block's one are the offers of the blocks before it. That count is stored for every sixteenth block, so that a
//! lookup takes two memory accesses.

use std::ops::Range;

/// Blocks between two stored counts.
pub const STRIDE: usize = 16;

/// Numbers of offers in the file's form.
#[derive(Debug, Default)]
pub struct EncodedCounts {
    /// First offer of every sixteenth block.
    pub starts: Vec<u32>,
    /// All numbers of offers in unary.
    pub unary: Vec<u64>,
}

impl EncodedCounts {
    /// Encodes the numbers of offers in the blocks' order; `None` if there are more offers than 32 bits can number.
    pub fn of(counts: impl Iterator<Item = usize>) -> Option<Self> {
        let (mut written, mut offers, mut blocks) = (Self::default(), 0, 0);
        for count in counts {
            if blocks % STRIDE == 0 {
                written.starts.push(u32::try_from(offers).ok()?);
            }
            written.one(blocks + offers);
            offers += count;
            blocks += 1;
        }
        u32::try_from(offers).ok()?;
        written.one(blocks + offers);
        Some(written)
    }

    fn one(&mut self, place: usize) {
        self.unary.resize(place / 64 + 1, 0);
        self.unary[place / 64] |= 1 << (place % 64);
    }
}

/// Numbers of offers, read from a file.
#[derive(Debug, Clone, Copy)]
pub struct OfferCounts<'a> {
    /// See [`EncodedCounts::starts`].
    pub starts: &'a [u32],
    /// See [`EncodedCounts::unary`].
    pub unary: &'a [u64],
}

impl OfferCounts<'_> {
    /// Range of a block's offers.
    pub fn offers(self, block: usize) -> Range<usize> {
        let group = block / STRIDE;
        let group_place = self.starts[group] as usize + group * STRIDE;
        let own = self.select_one(group_place, block % STRIDE);
        own - block..self.select_one(own + 1, 0) - (block + 1)
    }

    /// Position of the one that follows `skipped` other ones, from position `from` on.
    fn select_one(self, from: usize, mut skipped: usize) -> usize {
        let mut at = from / 64;
        let mut left = self.unary[at] & u64::MAX << (from % 64);
        loop {
            let ones = left.count_ones() as usize;
            if ones > skipped {
                for _ in 0..skipped {
                    left &= left - 1;
                }
                return at * 64 + left.trailing_zeros() as usize;
            }
            skipped -= ones;
            at += 1;
            left = self.unary[at];
        }
    }

    /// Checks that the encoding has exactly `blocks` blocks and `offers` offers, so that every block can be looked
    /// up.
    pub fn is_consistent(self, blocks: usize, offers: usize) -> bool {
        let (mut found, mut last) = (0, 0);
        if self.starts.len() != blocks.div_ceil(STRIDE) {
            return false;
        }
        for (at, &word) in self.unary.iter().enumerate() {
            let mut left = word;
            while left != 0 {
                last = at * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                let is_wrong = || self.starts[found / STRIDE] as usize + found != last;
                if found > blocks || found < blocks && found % STRIDE == 0 && is_wrong() {
                    return false;
                }
                found += 1;
            }
        }
        found == blocks + 1 && last == blocks + offers
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counts(written: &EncodedCounts) -> OfferCounts<'_> {
        OfferCounts { starts: &written.starts, unary: &written.unary }
    }

    proptest! {
        #[test]
        fn every_block_has_the_offers_that_are_its_own(
            numbers in prop::collection::vec(prop_oneof![0_usize..4, 0_usize..300], 0..200),
        ) {
            let written = EncodedCounts::of(numbers.iter().copied()).unwrap();
            let (counts, mut start) = (counts(&written), 0);

            for (block, &number) in numbers.iter().enumerate() {
                prop_assert_eq!(counts.offers(block), start..start + number);
                start += number;
            }
            prop_assert!(counts.is_consistent(numbers.len(), start));
            prop_assert!(!counts.is_consistent(numbers.len() + 1, start) && !counts.is_consistent(numbers.len(), start + 1));
        }

        #[test]
        fn what_was_changed_is_seen(
            numbers in prop::collection::vec(0_usize..9, 1..100), at: prop::sample::Index, by in 1_u32..9,
        ) {
            let written = EncodedCounts::of(numbers.iter().copied()).unwrap();
            let (blocks, offers) = (numbers.len(), numbers.iter().sum());
            let mut starts = written.starts.clone();
            *at.get_mut(&mut starts) += by;
            let mut unary = written.unary.clone();
            *at.get_mut(&mut unary) ^= 1 << by;

            let is_sound = |starts: &[u32], unary: &[u64]| OfferCounts { starts, unary }.is_consistent(blocks, offers);

            prop_assert!(!is_sound(&starts, &written.unary) && !is_sound(&written.starts, &unary));
        }
    }
}
