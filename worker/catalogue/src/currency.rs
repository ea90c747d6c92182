//! Currencies and their exchange rates to USD.

use std::{collections::BTreeMap, fmt, str::FromStr};

/// Currency by its ISO 4217 code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Currency([u8; 3]);

/// Error for a text that is not a three-letter code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CurrencyParseError;

impl Currency {
    /// Currency in which catalogues are stored.
    pub const USD: Self = Self(*b"USD");

    /// Returns the currency of a sign. `¥` stands for two currencies, so it gives `None`.
    #[must_use]
    pub fn from_sign(sign: char) -> Option<Self> {
        match sign {
            '$' => Some(Self::USD),
            '€' => Some(Self(*b"EUR")),
            '£' => Some(Self(*b"GBP")),
            _ => None,
        }
    }
}

impl FromStr for Currency {
    type Err = CurrencyParseError;

    fn from_str(text: &str) -> Result<Self, CurrencyParseError> {
        let mut characters = text.chars();
        if let (Some(sign), None) = (characters.next(), characters.next()) {
            return Self::from_sign(sign).ok_or(CurrencyParseError);
        }
        let code: [u8; 3] = text.as_bytes().try_into().map_err(|_| CurrencyParseError)?;
        let is_code = code.iter().all(u8::is_ascii_alphabetic);
        is_code.then(|| Self(code.map(|letter| letter.to_ascii_uppercase()))).ok_or(CurrencyParseError)
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|&letter| write!(formatter, "{}", char::from(letter)))
    }
}

/// Exchange rates: USD for one unit of each currency. USD itself is always known.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rates(BTreeMap<Currency, f64>);

/// Error for an invalid line of a table of rates.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: `{text}` is not a rate (EUR = 1.08)")]
pub struct RateParseError {
    /// Line number.
    pub line: usize,
    /// Text of the line.
    pub text: String,
}

impl Rates {
    /// Converts `amount` to USD; `None` if there is no rate.
    #[must_use]
    pub fn usd(&self, amount: f64, currency: Currency) -> Option<f64> {
        if currency == Currency::USD {
            return Some(amount);
        }
        self.0.get(&currency).map(|rate| rate * amount)
    }
}

impl FromStr for Rates {
    type Err = RateParseError;

    /// Parses lines `EUR = 1.08` or `EUR,1.08`, which give USD for one euro. It ignores empty lines, text after a
    /// `#`, table names in brackets, and a first line that is a header.
    fn from_str(text: &str) -> Result<Self, RateParseError> {
        let mut rates = BTreeMap::new();
        for (line, text) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
            let text_of_line = text.split('#').next().unwrap_or_default().trim();
            if text_of_line.is_empty() || text_of_line.starts_with('[') {
                continue;
            }
            let fault = || RateParseError { line, text: crate::fault::shorten(text_of_line) };
            let (code, rate) = text_of_line.split_once(['=', ',', ';', '\t']).ok_or_else(fault)?;
            let bare = |text: &str| text.trim().trim_matches('"').to_owned();
            match (bare(code).parse(), bare(rate).parse::<f64>()) {
                (Ok(currency), Ok(rate)) if rate.is_finite() && rate > 0.0 => {
                    rates.insert(currency, rate);
                }
                (_, Err(_)) if line == 1 => {}
                _ => return Err(fault()),
            }
        }
        Ok(Self(rates))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_lines_with_an_equals_sign_or_a_comma() {
        let table = "currency,usd\nEUR,1.08\n# old\n\n[rates]\ngbp = 1.25 # of yesterday\n\"CHF\" = 1.1\n";

        let rates: Rates = table.parse().unwrap();

        let usd = |code: &str| rates.usd(100.0, code.parse().unwrap());
        assert_eq!(
            [usd("EUR"), usd("£"), usd("chf"), usd("USD"), usd("SEK")],
            [Some(108.0), Some(125.0), Some(110.00000000000001), Some(100.0), None]
        );
        for broken in ["EUR", "EUR = 1\nGBP = 0", "EUR = 1\nEURO = 1", "EUR = 1\nGBP = -2"] {
            assert!(broken.parse::<Rates>().is_err(), "{broken:?}");
        }
    }
}
