//! Countries that a vendor states it does not ship to, in the database's form: one bit for each of [`COUNTRIES`], the
//! first country in the least significant bit.

use crate::region::COUNTRIES;

/// One flag for each of [`COUNTRIES`].
pub type ShippingExclusions = [bool; COUNTRIES.len()];

/// Packs the flags into bits.
#[must_use]
pub fn to_bits(refuses: ShippingExclusions) -> i16 {
    (0..).zip(refuses).map(|(country, refuses)| i16::from(refuses) << country).sum()
}

/// Unpacks the flags from bits.
#[must_use]
pub fn of_bits(bits: i16) -> ShippingExclusions {
    std::array::from_fn(|country| bits >> country & 1 == 1)
}

/// Bit number of a country, by its code in upper case.
#[must_use]
pub fn bit(code: &str) -> Option<i32> {
    (0..).zip(COUNTRIES).find_map(|(bit, known)| (known == code).then_some(bit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_read_as_they_are_written_and_the_first_country_has_the_least() {
        for bits in 0..=255 {
            assert_eq!(to_bits(of_bits(bits)), bits);
        }
        assert_eq!(COUNTRIES.map(bit), [0, 1, 2, 3, 4, 5, 6, 7].map(Some));
        assert_eq!((of_bits(65)[0], of_bits(65)[6], bit("XX")), (true, true, None));
    }
}
