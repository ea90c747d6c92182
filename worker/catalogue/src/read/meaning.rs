//! Meanings of columns, and their notation in a profile.

use std::{fmt, str::FromStr};

use crate::{currency::Currency, lead_time::country, price::Unit, region::COUNTRIES};

/// Meaning of a column.
#[derive(Debug, Clone, PartialEq)]
pub enum Meaning {
    /// The structure, as SMILES.
    Smiles,
    /// The structure, as a connection table.
    Molfile,
    /// The structure's InChIKey, in the absence of the structure.
    InchiKey,
    /// Vendor, in a file with several.
    Vendor,
    /// Vendor's catalogue number.
    Id,
    /// Vendor's catalogue prefix.
    Prefix,
    /// URL of the entry.
    Url,
    /// Pack size, with its unit or with a unit column.
    Pack,
    /// Unit of the pack size.
    Unit,
    /// Pack size in this unit.
    PackIn(String),
    /// Price of the pack.
    Price(Currency),
    /// Price of a pack of this size and unit, as a separate offer.
    PackPrice(f64, String, Currency),
    /// Price per gram of the entry.
    PricePerGram(Currency),
    /// Price per gram from this vendor, as a separate offer.
    VendorPerGram(String),
    /// USD per gram of the major component, calculated by the author of the file.
    NormalisedUsd,
    /// Currency of the record's prices.
    Currency,
    /// Grams per millilitre of a liquid.
    Density,
    /// Lead time to one country, or to all.
    LeadTime(Option<usize>),
    /// Shipping to one country, or a list of destinations.
    ShipsTo(Option<usize>),
    /// Time of the vendor's statement.
    Timestamp,
    /// Amount in stock, with its unit or with a unit column.
    Amount,
    /// Unit of the amount in stock.
    AmountUnit,
    /// Amount in stock, in this unit.
    AmountIn(String),
    /// Grams of the major component in stock, calculated by the author of the file.
    AmountOfMajor,
    /// Storage location.
    Location,
    /// Not used.
    Ignored,
}

impl Meaning {
    /// Returns true if one record may have several columns of this meaning, each a separate offer.
    pub(crate) const fn is_an_offer(&self) -> bool {
        matches!(self, Self::PackPrice(..) | Self::VendorPerGram(_))
    }

    /// Returns true if two columns have the same purpose, so that only the first counts.
    pub(crate) fn competes_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Ignored, _) => false,
            (Self::Price(_), Self::Price(_)) | (Self::PricePerGram(_), Self::PricePerGram(_)) => true,
            (Self::Pack | Self::PackIn(_), Self::Pack | Self::PackIn(_)) => true,
            (Self::Amount | Self::AmountIn(_), Self::Amount | Self::AmountIn(_)) => true,
            _ => self == other,
        }
    }
}

/// Notations of the meanings without parameters.
const PLAIN: [(&str, Meaning); 18] = [
    ("smiles", Meaning::Smiles),
    ("molfile", Meaning::Molfile),
    ("inchikey", Meaning::InchiKey),
    ("vendor", Meaning::Vendor),
    ("id", Meaning::Id),
    ("prefix", Meaning::Prefix),
    ("url", Meaning::Url),
    ("pack", Meaning::Pack),
    ("unit", Meaning::Unit),
    ("usd_per_gram_of_major", Meaning::NormalisedUsd),
    ("currency", Meaning::Currency),
    ("density", Meaning::Density),
    ("timestamp", Meaning::Timestamp),
    ("amount", Meaning::Amount),
    ("amount_unit", Meaning::AmountUnit),
    ("grams_of_major", Meaning::AmountOfMajor),
    ("location", Meaning::Location),
    ("ignore", Meaning::Ignored),
];

impl fmt::Display for Meaning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = |position: &usize| COUNTRIES[*position];
        match self {
            Self::PackIn(unit) => write!(formatter, "pack:{unit}"),
            Self::AmountIn(unit) => write!(formatter, "amount:{unit}"),
            Self::Price(currency) => write!(formatter, "price:{currency}"),
            Self::PackPrice(size, unit, currency) => write!(formatter, "price:{currency}:{size}{unit}"),
            Self::PricePerGram(currency) => write!(formatter, "price_per_gram:{currency}"),
            Self::VendorPerGram(vendor) => write!(formatter, "price_per_gram_of:{vendor}"),
            Self::LeadTime(None) => formatter.write_str("lead_time"),
            Self::LeadTime(Some(position)) => write!(formatter, "lead_time:{}", code(position)),
            Self::ShipsTo(None) => formatter.write_str("ships_to"),
            Self::ShipsTo(Some(position)) => write!(formatter, "ships_to:{}", code(position)),
            plain => {
                let word = PLAIN.iter().find(|(_, meaning)| meaning == plain);
                formatter.write_str(word.map_or("ignore", |(word, _)| word))
            }
        }
    }
}

/// The text is not a meaning.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a meaning of a column (smiles, molfile, inchikey, vendor, id, prefix, url, pack, pack:mg, unit, price, price:EUR, price:USD:5g, \
     price_per_gram, price_per_gram:EUR, price_per_gram_of:VENDOR, usd_per_gram_of_major, currency, density, lead_time, \
     lead_time:US, ships_to, ships_to:US, timestamp, amount, amount:mg, amount_unit, grams_of_major, location, ignore)"
)]
pub struct UnknownMeaning(pub String);

impl FromStr for Meaning {
    type Err = UnknownMeaning;

    fn from_str(text: &str) -> Result<Self, UnknownMeaning> {
        let wrong = || UnknownMeaning(text.to_owned());
        let (word, rest) = text.split_once(':').unwrap_or((text, ""));
        let currency = |code: &str| match code {
            "" => Ok(Currency::USD),
            code => code.parse().map_err(|_| wrong()),
        };
        let position = || match rest {
            "" => Ok(None),
            code => country(code).map(Some).ok_or_else(wrong),
        };
        match word {
            "price" => match rest.split_once(':') {
                Some((code, pack)) => {
                    let (size, unit) = parse_pack(pack).filter(|(size, _)| *size > 0.0).ok_or_else(wrong)?;
                    Ok(Self::PackPrice(size, unit.to_owned(), currency(code)?))
                }
                None => currency(rest).map(Self::Price),
            },
            "price_per_gram" => currency(rest).map(Self::PricePerGram),
            "price_per_gram_of" if !rest.is_empty() => Ok(Self::VendorPerGram(rest.to_owned())),
            "lead_time" => position().map(Self::LeadTime),
            "ships_to" => position().map(Self::ShipsTo),
            "pack" if rest.parse::<Unit>().is_ok() => Ok(Self::PackIn(rest.to_owned())),
            "amount" if rest.parse::<Unit>().is_ok() => Ok(Self::AmountIn(rest.to_owned())),
            _ => {
                let plain = PLAIN.iter().find(|(known, _)| *known == text);
                plain.map(|(_, meaning)| meaning.clone()).ok_or_else(wrong)
            }
        }
    }
}

/// Parses a pack written as one text: `5g`, `0.5 kg`.
#[must_use]
pub(crate) fn parse_pack(text: &str) -> Option<(f64, &str)> {
    let end = text.rfind(|character: char| character.is_ascii_digit())? + 1;
    let size = crate::number::number(text[..end].trim())?;
    let unit = text[end..].trim();
    unit.parse::<Unit>().is_ok().then_some((size, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_meaning_is_read_as_it_is_written() {
        let written = "smiles molfile inchikey vendor id prefix url pack unit pack:mg price:USD price:EUR price:USD:5g \
                       price:GBP:0.5kg price_per_gram:USD price_per_gram:EUR price_per_gram_of:sigma usd_per_gram_of_major \
                       currency density lead_time lead_time:US ships_to ships_to:AU timestamp amount amount:mg amount_unit \
                       grams_of_major location ignore";
        for text in written.split_whitespace() {
            assert_eq!(text.parse::<Meaning>().unwrap().to_string(), text);
        }
        assert_eq!("price".parse(), Ok(Meaning::Price(Currency::USD)));
        for text in [
            "",
            "prices",
            "price:EURO",
            "price:USD:5cups",
            "price:USD:-5g",
            "price:USD:0g",
            "lead_time:JP",
            "pack:cup",
            "amount:cup",
            "smiles:x",
        ] {
            assert!(text.parse::<Meaning>().is_err(), "{text}");
        }
    }
}
