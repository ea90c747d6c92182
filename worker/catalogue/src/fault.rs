//! Reasons for rejecting a record of a vendor's file.

use chem::SmilesError;

use crate::{number_style::NumberStyle, price::UNITS};

/// Meaning of a column that is not used.
const IGNORED: &str = "ignore";

/// Reason for rejecting a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named in the docs of their variants")]
pub enum RecordFault {
    /// The record has `found` fields where the header has `expected`.
    #[error("{found} fields where the header has {expected}")]
    FieldCount { found: usize, expected: usize },
    /// The record is longer than `limit` bytes; it was never held in memory.
    #[error("longer than {limit} bytes")]
    TooLong { limit: usize },
    /// A quote opens in the record and does not close within the size limit, or never. The line is rejected and
    /// reading continues after it.
    #[error("a quote that opens here does not close")]
    OpenQuote,
    /// The file ends within the record.
    #[error("the file ends within the record")]
    Cut,
    /// The record is not a JSON object.
    #[error("not a JSON object: {reason}")]
    Json { reason: String },
    /// One record holds more offers than `limit`.
    #[error("more than {limit} offers in one record")]
    TooManyOffers { limit: usize },
    /// The field `column` contains a NUL character, which PostgreSQL text cannot hold.
    #[error("{column} is not text")]
    NotText { column: String },
    /// The record has no structure.
    #[error("no SMILES")]
    NoSmiles,
    /// The structure `smiles` cannot be parsed.
    #[error("SMILES `{smiles}`: {source}")]
    Smiles { smiles: String, source: SmilesError },
    /// The record's connection table cannot be parsed.
    #[error("structure: {reason}")]
    Molfile { reason: String },
    /// The structure has a wildcard atom, so it is not a molecule that can be bought.
    #[error("SMILES `{smiles}`: wildcard atom")]
    Wildcard { smiles: String },
    /// `text` is not an InChIKey.
    #[error("`{text}` is not an InChIKey")]
    NotAKey { text: String },
    /// No known structure has the InChIKey `key`.
    #[error("no known structure has the InChIKey {key}")]
    UnknownKey { key: String },
    /// Neither the record nor the file names a vendor.
    #[error("no vendor_name, and no --vendor for the file")]
    NoVendor,
    /// The price says that the entry is not for sale.
    #[error("not for sale: {column} is 0")]
    NotForSale { column: String },
    /// The field `column` holds `text`, which is not a number.
    #[error("{column} `{text}` is not a number")]
    NotANumber { column: String, text: String },
    /// The field `column` holds `text`, whose decimal mark the column does not tell.
    #[error(
        "{column} `{text}` has two possible values, since the column does not tell its decimal mark (--numbers point or --numbers comma says it)"
    )]
    AmbiguousNumber { column: String, text: String },
    /// The field `column` holds `text`, which has the other decimal mark than its column.
    #[error("{column} `{text}` is not written as its column, which has a {style}")]
    OtherNumberStyle { column: String, text: String, style: NumberStyle },
    /// The field `column` holds `text`, which is below the minimum or implausibly large.
    #[error("{column} `{text}` is {fault}")]
    OutOfRange { column: String, text: String, fault: &'static str },
    /// The unit `text` is unknown.
    #[error("unknown unit `{text}` (known: {UNITS})")]
    Unit { text: String },
    /// No exchange rate is known for the currency `code`.
    #[error("a price in {code}, and no rate for it (--rates)")]
    NoRate { code: String },
    /// The field `column` holds `text`, which is not a currency.
    #[error("{column} `{text}` is not a currency")]
    Currency { column: String, text: String },
    /// The field `column` holds `text`, which no lead-time rule can parse.
    #[error("{column} `{text}` is not a lead time")]
    LeadTime { column: String, text: String },
    /// The field `column` holds `text`, which is not a list of destinations.
    #[error("{column} `{text}` does not say where it ships")]
    ShipsTo { column: String, text: String },
    /// The entry is out of stock and has no price at which more could be bought.
    #[error("none in stock: {column} is 0, and there is no price")]
    NoneInStock { column: String },
    /// The field `column` holds `text`, which is not an amount.
    #[error(
        "{column} `{text}` is not an amount with a unit (2.5 g; --column {column}=amount:mg says the unit, ={IGNORED} leaves it out)"
    )]
    Amount { column: String, text: String },
    /// The field `column` holds `text`, which is not a time.
    #[error("{column} `{text}` is not a time (2026-01-31 or RFC 3339)")]
    Timestamp { column: String, text: String },
}

impl RecordFault {
    /// Kind of fault, for counting.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::FieldCount { .. } => "wrong number of fields",
            Self::TooLong { .. } => "too long",
            Self::OpenQuote => "quote not closed",
            Self::Cut => "cut off",
            Self::Json { .. } => "no JSON object",
            Self::TooManyOffers { .. } => "too many offers",
            Self::NotText { .. } => "not text",
            Self::NoSmiles => "no SMILES",
            Self::Smiles { source: SmilesError::Extension { .. }, .. } => "not one molecule",
            Self::Smiles { .. } => "unreadable SMILES",
            Self::Molfile { .. } => "unreadable structure",
            Self::Wildcard { .. } => "wildcard atom",
            Self::NotAKey { .. } => "no InChIKey",
            Self::UnknownKey { .. } => "unknown InChIKey",
            Self::NoVendor => "no vendor",
            Self::NotForSale { .. } => "not for sale",
            Self::NotANumber { .. } => "not a number",
            Self::AmbiguousNumber { .. } => "number with two possible values",
            Self::OtherNumberStyle { .. } => "number with another decimal mark",
            Self::OutOfRange { .. } => "number out of range",
            Self::Unit { .. } => "unknown unit",
            Self::NoRate { .. } => "no rate for the currency",
            Self::Currency { .. } => "unknown currency",
            Self::LeadTime { .. } => "unknown lead time",
            Self::ShipsTo { .. } => "unknown destination",
            Self::NoneInStock { .. } => "none in stock",
            Self::Amount { .. } => "not an amount",
            Self::Timestamp { .. } => "not a time",
        }
    }
}

/// Shortens a text for a message.
#[must_use]
pub(crate) fn shorten(text: &str) -> String {
    const SHOWN: usize = 100;
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
