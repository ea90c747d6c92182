//! Where an offer is stated not to ship to, as the database keeps it: a bit for each of [`COUNTRIES`], the first the least.

use crate::region::COUNTRIES;

/// One answer for each of [`COUNTRIES`].
pub type Refuses = [bool; COUNTRIES.len()];

/// The bits of these refusals.
#[must_use]
pub fn to_bits(refuses: Refuses) -> i16 {
    (0..).zip(refuses).map(|(country, refuses)| i16::from(refuses) << country).sum()
}

/// The refusals of these bits.
#[must_use]
pub fn of_bits(bits: i16) -> Refuses {
    std::array::from_fn(|country| bits >> country & 1 == 1)
}

/// The number of a country's bit, by its code in upper case.
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
