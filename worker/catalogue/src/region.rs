//! Delivery regions of offers.

/// Countries with stored prices and lead times, by ISO 3166-1 alpha-2 code, in the order of [`Region`].
pub const COUNTRIES: [&str; 8] = ["US", "CA", "GB", "FR", "CH", "DE", "CN", "AU"];

/// A delivery region: anywhere, or one of [`COUNTRIES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Region(u8);

impl Region {
    /// No particular region: the best offer anywhere.
    pub const ANYWHERE: Self = Self(0);

    /// Number of regions.
    pub const COUNT: usize = COUNTRIES.len() + 1;

    /// The region of an ISO 3166-1 alpha-2 code in upper case.
    #[must_use]
    pub fn of_country(code: &str) -> Option<Self> {
        let at = COUNTRIES.iter().position(|&known| known == code)?;
        Self::all().nth(at + 1)
    }

    /// All regions, anywhere first.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT as u8).map(Self)
    }

    /// Index of the region: 0 is anywhere.
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_numbered_as_the_contract_lists_them() {
        let numbers = COUNTRIES.map(|code| Region::of_country(code).map(Region::index));

        assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8].map(Some));
        assert_eq!((Region::of_country("XX"), Region::ANYWHERE.index()), (None, 0));
    }
}
