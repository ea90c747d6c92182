//! Destination of building blocks, an option of commands.

use contract::Country;

/// Destination of the building blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Destination {
    /// Any country.
    Anywhere,
    /// A country.
    To(Country),
}

impl Destination {
    /// Returns the country, if there is one.
    pub(super) const fn country(self) -> Option<Country> {
        match self {
            Self::Anywhere => None,
            Self::To(country) => Some(country),
        }
    }
}

/// Parses the code of a country, or `anywhere`.
pub(super) fn parse_destination(text: &str) -> Result<Destination, String> {
    if text.eq_ignore_ascii_case("anywhere") {
        return Ok(Destination::Anywhere);
    }
    Country::ALL
        .into_iter()
        .find(|country| country.code().eq_ignore_ascii_case(text))
        .map(Destination::To)
        .ok_or_else(|| format!("one of {}, or anywhere", Country::ALL.map(Country::code).join(", ")))
}
