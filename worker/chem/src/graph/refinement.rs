//! Colour refinement (Weisfeiler and Leman, 1968): atoms combine their colour with those around them.
//!
//! One round and the loop, for any graph; the caller defines how an atom sums up its neighbours. Colours are
//! pseudo-random numbers, equal for atoms of like surroundings and almost never for others.

/// Refines until the number of colours is stable; `around` summarises the neighbours of an atom.
pub(crate) fn refine(colours: &mut Vec<u64>, around: impl Fn(usize, &[u64]) -> u64) {
    let mut next = vec![0; colours.len()];
    let mut sorted = Vec::with_capacity(colours.len());
    let mut classes = 0;
    loop {
        sorted.clear();
        sorted.extend_from_slice(colours);
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() == classes {
            return;
        }
        classes = sorted.len();
        round(colours, &mut next, &around);
    }
}

/// Runs one round, with `next` as a buffer of the same length.
pub(crate) fn round(colours: &mut Vec<u64>, next: &mut Vec<u64>, around: impl Fn(usize, &[u64]) -> u64) {
    for (at, next) in next.iter_mut().enumerate() {
        *next = mix(colours[at], around(at, colours));
    }
    std::mem::swap(colours, next);
}

/// Mixes two numbers into a hash, with a step of the splitmix generator.
pub(crate) fn mix(a: u64, b: u64) -> u64 {
    let mut z =
        a.rotate_left(23).wrapping_add(b.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(0x2545_f491);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
