//! Lookup of a number among sorted, evenly distributed ones, by its highest bits.
//!
//! There are about eight numbers for each value of these bits (a bucket), so that a lookup takes two memory accesses:
//! the start of the bucket, and the numbers in it.

use std::ops::Range;

use chem::Molecule;

/// Number of highest bits that select a bucket among `numbers` numbers.
pub fn bucket_bits(numbers: usize) -> u32 {
    (numbers / 8).max(1).ilog2()
}

/// Number of starts for `numbers` numbers: one for each bucket, and the end.
pub fn starts_len(numbers: usize) -> usize {
    (1 << bucket_bits(numbers)) + 1
}

/// Bucket of a number whose highest 64 bits are `top`.
fn bucket(top: u64, bits: u32) -> usize {
    top.checked_shr(u64::BITS - bits).unwrap_or(0) as usize
}

/// Start of each bucket, from the highest 64 bits of the sorted numbers.
pub fn starts(tops: impl ExactSizeIterator<Item = u64>) -> Vec<u32> {
    let bits = bucket_bits(tops.len());
    let mut starts = vec![0; starts_len(tops.len())];
    for top in tops {
        starts[bucket(top, bits) + 1] += 1_u32;
    }
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    starts
}

/// Range of the bucket in which a number with the highest 64 bits `top` would be.
pub fn place(starts: &[u32], top: u64) -> Range<usize> {
    let at = bucket(top, (starts.len() - 1).ilog2());
    starts[at] as usize..starts[at + 1] as usize
}

/// Stored part of a key in a file of `numbers` keys: the 64 bits that follow those of its bucket. Another molecule
/// has the same bits with a probability of 2^-64 for each of the eight or so in the bucket, a risk like that of equal
/// keys.
pub fn stored_key(key: u128, numbers: usize) -> u64 {
    (key << bucket_bits(numbers) >> 64) as u64
}

/// Stored part of a skeleton key in a file of `numbers` forms: the 16 bits that follow those of its bucket.
pub fn stored_skeleton_key(skeleton: u64, numbers: usize) -> u16 {
    (skeleton << bucket_bits(numbers) >> 48) as u16
}

/// Stored part of the key that the tautomers of a molecule share.
pub fn stored_tautomer_key(molecule: &Molecule) -> u16 {
    (molecule.tautomer_key().number() >> 112) as u16
}
