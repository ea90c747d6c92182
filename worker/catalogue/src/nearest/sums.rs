//! Finds the blocks that set at least a given number of a query's bits, 512 blocks at a time.
//!
//! The columns of the query's bits are added as vertical counters, one word for each power of two, so that one
//! instruction adds one bit for as many blocks as a register has bits (carry-save adders: Muła, Kurz and Lemire,
//! "Faster population counts using AVX2 instructions", 2018, transposed). Seven columns make a three-bit number in
//! four adders. No population counts are needed, so processors without VPOPCNTDQ lose nothing; `pulp` selects the
//! instruction set.

use pulp::{Arch, Simd, WithSimd};

use super::tile::{BitColumn, CHUNK};

/// Words added together: a chunk of 512 blocks, the widest register.
pub const LANES: usize = CHUNK / 64;

/// Columns added together.
pub const COLUMNS_PER_STEP: usize = 7;

/// One bit for each block of a chunk.
pub type ChunkBitmap = [u64; LANES];

/// Search for the blocks of a chunk that set enough bits.
pub struct ThresholdSearch<'a> {
    /// Columns of the query's bits, a multiple of [`COLUMNS_PER_STEP`]. With rare bits first, a chunk without a match is
    /// rejected early.
    pub columns: &'a [&'a BitColumn],
    /// Chunk of the tile to search.
    pub chunk: usize,
    /// Minimum number of columns that contain the block; at most the number of columns.
    pub least: u32,
}

impl ThresholdSearch<'_> {
    /// Returns the matching blocks of the chunk.
    pub fn find(self, arch: Arch) -> ChunkBitmap {
        arch.dispatch(self)
    }

    /// Runs the search with scalar instructions.
    #[cfg(test)]
    pub fn find_scalar(self) -> ChunkBitmap {
        self.with_simd(pulp::Scalar::new())
    }

    #[inline(always)]
    fn add_up<S: Simd, const POWERS: usize>(&self, simd: S) -> ChunkBitmap {
        let mut found = [0; LANES];
        let parts = S::as_mut_simd_u64s(&mut found).0;
        let first = self.chunk * parts.len();
        for (at, part) in (first..).zip(parts) {
            let adder = Adder(simd);
            let mut sum = [simd.splat_u64s(0); POWERS];
            let sevens = self.columns.as_chunks::<COLUMNS_PER_STEP>().0;
            for (number, [a, b, c, d, e, f, g]) in (1..).zip(sevens) {
                let word = |column: &BitColumn| S::as_simd_u64s(column).0[at];
                let (first, carry_first) = adder.full_adder(word(a), word(b), word(c));
                let (second, carry_second) = adder.full_adder(word(d), word(e), word(f));
                let (ones, carry_ones) = adder.full_adder(first, second, word(g));
                let (twos, fours) = adder.full_adder(carry_first, carry_second, carry_ones);
                adder.add(&mut sum, [ones, twos, fours]);
                let left = ((sevens.len() - number) * COLUMNS_PER_STEP) as u32;
                if number > 1 && left < self.least {
                    // Blocks that can still reach the minimum with the remaining columns.
                    *part = adder.at_least(&sum, self.least - left);
                    if bytemuck::cast_slice::<_, u64>(std::slice::from_ref(part))
                        == [0; LANES].split_at(S::U64_LANES).0
                    {
                        break;
                    }
                }
            }
            if self.least == 0 || sevens.len() < 2 {
                *part = adder.at_least(&sum, self.least);
            }
        }
        found
    }
}

impl WithSimd for ThresholdSearch<'_> {
    type Output = ChunkBitmap;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> ChunkBitmap {
        // Powers of two that the sum needs.
        match self.columns.len() {
            0..64 => self.add_up::<S, 6>(simd),
            64..256 => self.add_up::<S, 8>(simd),
            _ => self.add_up::<S, 12>(simd),
        }
    }
}

/// Adds vertical counters.
#[derive(Clone, Copy)]
struct Adder<S>(S);

impl<S: Simd> Adder<S> {
    /// Sum and carry of three bits.
    #[inline(always)]
    fn full_adder(self, a: S::u64s, b: S::u64s, c: S::u64s) -> (S::u64s, S::u64s) {
        let Self(simd) = self;
        let either = simd.xor_u64s(a, b);
        let both = simd.or_u64s(simd.and_u64s(a, b), simd.and_u64s(c, either));
        (simd.xor_u64s(either, c), both)
    }

    /// Adds a three-bit number to a sum that has room for it.
    #[inline(always)]
    fn add<const POWERS: usize>(self, sum: &mut [S::u64s; POWERS], number: [S::u64s; 3]) {
        let Self(simd) = self;
        let mut carry = simd.splat_u64s(0);
        for (power, bit) in sum.iter_mut().zip(number) {
            (*power, carry) = self.full_adder(*power, bit, carry);
        }
        for power in sum.iter_mut().skip(number.len()) {
            (*power, carry) = (simd.xor_u64s(*power, carry), simd.and_u64s(*power, carry));
        }
    }

    /// Bitmap of the positions where a sum is `least` or more.
    #[inline(always)]
    fn at_least<const POWERS: usize>(self, sum: &[S::u64s; POWERS], least: u32) -> S::u64s {
        let Self(simd) = self;
        let (mut above, mut equal) = (simd.splat_u64s(0), simd.splat_u64s(u64::MAX));
        for (power, &bits) in sum.iter().enumerate().rev() {
            let with = simd.and_u64s(equal, bits);
            if least >> power & 1 == 1 {
                equal = with;
            } else {
                above = simd.or_u64s(above, with);
                equal = simd.and_u64s(equal, simd.not_u64s(bits));
            }
        }
        simd.or_u64s(above, equal)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::nearest::tile::EMPTY;

    /// A column of pseudo-random words from a seed; every third one is sparse.
    fn column(seed: u64) -> BitColumn {
        let word = |at: u64| {
            let mixed = (seed.wrapping_mul(0x9e37_79b9) ^ at).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (mixed ^ mixed >> 29).wrapping_mul(0x94d0_49bb_1331_11eb)
        };
        std::array::from_fn(|at| {
            let at = 3 * at as u64;
            if seed.is_multiple_of(3) { word(at) & word(at + 1) & word(at + 2) } else { word(at) }
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn as_one_by_one(number in 0_usize..300, least in 0_usize..80, chunk in 0_usize..8, seed: u32) {
            let least = least.min(number);
            let columns: Vec<BitColumn> = (0..number as u64).map(|at| column(at + u64::from(seed))).collect();
            let mut filled: Vec<&BitColumn> = columns.iter().collect();
            filled.resize(number.next_multiple_of(COLUMNS_PER_STEP), &EMPTY);
            let what = || ThresholdSearch { columns: &filled, chunk, least: least as u32 };

            let (found, plainly) = (what().find(Arch::new()), what().find_scalar());

            let mut expected = [0; LANES];
            for place in 0..CHUNK {
                let word = chunk * LANES + place / 64;
                let sum = columns.iter().filter(|column| column[word] >> (place % 64) & 1 == 1).count();
                expected[place / 64] |= u64::from(sum >= least) << (place % 64);
            }
            prop_assert_eq!((found, plainly), (expected, expected));
        }
    }
}
