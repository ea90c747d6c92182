//! A 64-bit hash that never changes: FNV-1a with a final mix.
//!
//! Backbone keys are guaranteed to be the same in every search, process and version, which rules out the hashers of
//! the standard library and rustc. FNV-1a (Fowler, Noll, Vo) is three lines. The finaliser of splitmix64 (Steele et
//! al. 2014) spreads its weak high bits.

/// The stable hash of `bytes`.
pub fn stable(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for &byte in bytes {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    mix(hash)
}

/// Spreads every bit of `value` over all bits of the result; a bijection.
pub fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_what_it_was_in_every_earlier_version() {
        assert_eq!(stable(b""), 0xf52a_15e9_a9b5_e89b);
        assert_ne!(stable(b"CCO"), stable(b"OCC"));
    }
}
