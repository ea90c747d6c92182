//! Finding a number among sorted ones that are spread evenly: by its highest bits, which say where it would stand.
//!
//! There are about eight numbers to a combination of these bits, so that finding one takes two looks into memory: where
//! they begin, and they themselves.

use std::ops::Range;

use chem::Molecule;

/// How many of the highest bits choose among `numbers` numbers.
pub fn bucket_bits(numbers: usize) -> u32 {
    (numbers / 8).max(1).ilog2()
}

/// How many starts there are for `numbers` numbers: one a bucket, and the end.
pub fn starts_len(numbers: usize) -> usize {
    (1 << bucket_bits(numbers)) + 1
}

/// The bucket of a number of which `top` are the highest 64 bits.
fn bucket(top: u64, bits: u32) -> usize {
    top.checked_shr(u64::BITS - bits).unwrap_or(0) as usize
}

/// Where each bucket begins, for sorted numbers of which these are the highest 64 bits.
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

/// Where a number of which `top` are the highest 64 bits stands among others, if it does.
pub fn place(starts: &[u32], top: u64) -> Range<usize> {
    let at = bucket(top, (starts.len() - 1).ilog2());
    starts[at] as usize..starts[at + 1] as usize
}

/// What a file of `numbers` keys keeps of one: the 64 bits below those of its bucket. Another molecule has the same ones
/// with a chance of 2^-64 for each of the eight or so in the bucket, as it may have the same key.
pub fn below_bucket(key: u128, numbers: usize) -> u64 {
    (key << bucket_bits(numbers) >> 64) as u64
}

/// What a file of `numbers` forms keeps of a skeleton: the 16 bits below those of its bucket.
pub fn form_skeleton(skeleton: u64, numbers: usize) -> u16 {
    (skeleton << bucket_bits(numbers) >> 48) as u16
}

/// What a file keeps of the key that the tautomers of a molecule share.
pub fn form_tautomers(molecule: &Molecule) -> u16 {
    (molecule.tautomer_key().number() >> 112) as u16
}
