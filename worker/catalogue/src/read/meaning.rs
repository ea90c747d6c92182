//! Meanings of columns, and their notation in a profile.

use std::{fmt, mem::discriminant, str::FromStr};

use crate::{currency::Currency, lead_time::country, number::plain_number, price::Unit, region::COUNTRIES};

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
    /// Part of a separate offer of this number: its pack, unit, price, currency or lead time.
    Numbered(u16, Box<Meaning>),
    /// Not used.
    Ignored,
}

impl Meaning {
    /// Returns true if one record may have several columns of this meaning, each a separate offer.
    pub(crate) const fn is_an_offer(&self) -> bool {
        matches!(self, Self::PackPrice(..) | Self::VendorPerGram(_))
    }

    /// Returns true if a column of this meaning may be a part of a numbered offer.
    pub(crate) const fn is_part_of_offer(&self) -> bool {
        matches!(
            self,
            Self::Pack
                | Self::PackIn(_)
                | Self::Unit
                | Self::Price(_)
                | Self::PricePerGram(_)
                | Self::Currency
                | Self::LeadTime(None)
        )
    }

    /// Returns true if its values have a decimal mark that must be known.
    pub(crate) fn is_number(&self) -> bool {
        match self {
            Self::Pack
            | Self::PackIn(_)
            | Self::Price(_)
            | Self::PackPrice(..)
            | Self::PricePerGram(_)
            | Self::VendorPerGram(_)
            | Self::NormalisedUsd
            | Self::Amount
            | Self::AmountIn(_)
            | Self::AmountOfMajor => true,
            Self::Numbered(_, part) => part.is_number(),
            _ => false,
        }
    }

    /// Returns true if two columns have the same purpose, so that only the first counts.
    pub(crate) fn competes_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Ignored, _) => false,
            (Self::Numbered(number, part), Self::Numbered(other_number, other)) => {
                number == other_number && part.competes_with(other)
            }
            (Self::Price(_), Self::Price(_)) | (Self::PricePerGram(_), Self::PricePerGram(_)) => true,
            (Self::Pack | Self::PackIn(_), Self::Pack | Self::PackIn(_)) => true,
            (Self::Amount | Self::AmountIn(_), Self::Amount | Self::AmountIn(_)) => true,
            _ => self.is(other),
        }
    }

    /// Returns true for the same meaning. Each field of a large file is asked, and most differ in kind.
    #[inline]
    pub(crate) fn is(&self, other: &Self) -> bool {
        discriminant(self) == discriminant(other) && self == other
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
            Self::Numbered(number, part) => write!(formatter, "{part}#{number}"),
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
     lead_time:US, ships_to, ships_to:US, timestamp, amount, amount:mg, amount_unit, grams_of_major, location, ignore; \
     pack#1, unit#1, price:EUR#1 … for several offers in one row)"
)]
pub struct UnknownMeaning(pub String);

impl FromStr for Meaning {
    type Err = UnknownMeaning;

    fn from_str(text: &str) -> Result<Self, UnknownMeaning> {
        let wrong = || UnknownMeaning(text.to_owned());
        if let Some((part, Ok(number))) = text.rsplit_once('#').map(|(part, number)| (part, number.parse())) {
            let part = part.parse::<Self>().ok().filter(Self::is_part_of_offer).ok_or_else(wrong)?;
            return Ok(Self::Numbered(number, Box::new(part)));
        }
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
                    let (size, unit) = parse_pack(pack).ok_or_else(wrong)?;
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

/// Splits a pack written as one text into number and unit: `5g`, `0.5 kg`.
#[must_use]
pub(crate) fn split_pack(text: &str) -> Option<(&str, &str)> {
    let end = text.rfind(|character: char| character.is_ascii_digit())? + 1;
    let unit = text[end..].trim();
    unit.parse::<Unit>().is_ok().then_some((text[..end].trim(), unit))
}

/// Parses a pack in the name of a column, with a size over 0.
#[must_use]
pub(crate) fn parse_pack(text: &str) -> Option<(f64, &str)> {
    let (size, unit) = split_pack(text)?;
    plain_number(size).filter(|size| *size > 0.0).map(|size| (size, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_meaning_is_read_as_it_is_written() {
        let written = "smiles molfile inchikey vendor id prefix url pack unit pack:mg price:USD price:EUR price:USD:5g \
                       price:GBP:0.5kg price_per_gram:USD price_per_gram:EUR price_per_gram_of:sigma usd_per_gram_of_major \
                       pack#1 price:EUR#2 pack:mg#12 unit#1 lead_time#1 currency density lead_time lead_time:US ships_to ships_to:AU timestamp amount amount:mg amount_unit \
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
            "smiles#1",
            "price:USD:5g#1",
        ] {
            assert!(text.parse::<Meaning>().is_err(), "{text}");
        }
    }
}
