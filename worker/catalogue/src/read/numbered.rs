//! Families of numbered columns, each number an offer of its own: `Pack_1` and `Price_1`, `Amount 2 (mg)` and
//! `Price 2 (USD)`.
//!
//! A name is a word for a pack, unit, price, currency or lead time with one number in it, and possibly a unit or a
//! currency. The amounts of such a family are packs, not stock.

use super::meaning::Meaning;
use crate::{currency::Currency, price::Unit};

/// Words for a pack size; of two with a common start the longer one comes first.
const PACKS: [&str; 14] = [
    "packagesize",
    "packsize",
    "packaging",
    "package",
    "packing",
    "pack",
    "quantity",
    "qty",
    "amount",
    "size",
    "weight",
    "mass",
    "volume",
    "container",
];
/// Words for the price of a pack.
const PRICES: [&str; 8] =
    ["listprice", "unitprice", "catalogprice", "catalogueprice", "packprice", "price", "cost", "netprice"];
/// Words for the unit of a pack.
const UNITS: [&str; 8] =
    ["unit", "units", "uom", "packunit", "sizeunit", "amountunit", "quantityunit", "unitofmeasure"];
/// Words for the currency of a price.
const CURRENCIES: [&str; 2] = ["currency", "pricecurrency"];
/// Words for a lead time in days.
const LEAD_TIMES: [&str; 4] = ["leadtime", "leadtimedays", "deliverytime", "deliverytimedays"];
/// Currencies of list prices (ISO 4217).
const CODES: [&str; 20] = [
    "usd", "eur", "gbp", "chf", "jpy", "cny", "inr", "cad", "aud", "sek", "dkk", "nok", "pln", "czk", "huf",
    "krw", "sgd", "hkd", "brl", "rub",
];

/// The largest number of an offer.
const MAX_NUMBER: u16 = 99;

/// Returns true if the columns have a pack and a price of one number.
pub(crate) fn has_offers(columns: &[String]) -> bool {
    let parts: Vec<(u16, bool)> = columns
        .iter()
        .filter_map(|column| match part(column)? {
            Meaning::Numbered(number, part) => match *part {
                Meaning::Pack | Meaning::PackIn(_) => Some((number, false)),
                Meaning::Price(_) | Meaning::PricePerGram(_) => Some((number, true)),
                _ => None,
            },
            _ => None,
        })
        .collect();
    parts.iter().any(|&(number, is_price)| parts.contains(&(number, !is_price)))
}

/// Meaning of a numbered column; `None` if its name has another form.
pub(crate) fn part(column: &str) -> Option<Meaning> {
    let is_digit = |character: char| character.is_ascii_digit();
    let begin = column.find(is_digit)?;
    let end = begin + column[begin..].find(|character| !is_digit(character)).unwrap_or(column.len() - begin);
    let number: u16 = column[begin..end].parse().ok().filter(|number| *number <= MAX_NUMBER)?;
    if column[end..].contains(is_digit) {
        return None;
    }
    let letters =
        column[..begin].chars().chain(column[end..].chars()).filter(|letter| letter.is_alphabetic());
    let word: String = letters.flat_map(char::to_lowercase).collect();
    Some(Meaning::Numbered(number, Box::new(of_word(&word)?)))
}

fn of_word(word: &str) -> Option<Meaning> {
    let is_one_of = |words: &[&str]| words.contains(&word);
    if is_one_of(&UNITS) {
        return Some(Meaning::Unit);
    }
    if is_one_of(&CURRENCIES) {
        return Some(Meaning::Currency);
    }
    if is_one_of(&LEAD_TIMES) {
        return Some(Meaning::LeadTime(None));
    }
    let behind = |words: &[&str]| {
        let rest = words.iter().find_map(|known| word.strip_prefix(known))?;
        Some(rest.strip_prefix("in").filter(|rest| !rest.is_empty()).unwrap_or(rest).to_owned())
    };
    match behind(&PACKS) {
        Some(unit) if unit.is_empty() => return Some(Meaning::Pack),
        Some(unit) if unit.parse::<Unit>().is_ok() => return Some(Meaning::PackIn(unit)),
        // A price of a pack may begin alike.
        _ => {}
    }
    let code = behind(&PRICES)?;
    let (code, per_gram) = match code.strip_prefix("pergram").or_else(|| code.strip_prefix("perg")) {
        Some(rest) => (rest, true),
        None => (code.as_str(), false),
    };
    let currency: Currency = match code {
        "" => Currency::USD,
        code => CODES.contains(&code).then(|| code.parse().ok())??,
    };
    Some(if per_gram { Meaning::PricePerGram(currency) } else { Meaning::Price(currency) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_numbered_column_is_a_part_of_an_offer() {
        let cases = [
            ("Pack_1", "pack#1"),
            ("pack size 12", "pack#12"),
            ("Price_1", "price:USD#1"),
            ("Price 1 (USD)", "price:USD#1"),
            ("Price_EUR_2", "price:EUR#2"),
            ("Pack price 2 (CHF)", "price:CHF#2"),
            ("2. Price, GBP", "price:GBP#2"),
            ("Amount 1 (mg)", "pack:mg#1"),
            ("Quantity3 in g", "pack:g#3"),
            ("Unit 1", "unit#1"),
            ("Currency1", "currency#1"),
            ("Price 1 per g (EUR)", "price_per_gram:EUR#1"),
            ("Delivery time 1 (days)", "lead_time#1"),
        ];
        for (column, expected) in cases {
            assert_eq!(part(column).map(|part| part.to_string()).as_deref(), Some(expected), "{column}");
        }
        for column in
            ["Price", "Price 1 tag", "Note 1", "Pack 1 of 5", "Price 100", "PRICE_1_XYZ", "pH 7", "1"]
        {
            assert_eq!(part(column), None, "{column}");
        }
    }

    #[test]
    fn a_family_has_a_pack_and_a_price_of_one_number() {
        let has =
            |columns: &[&str]| has_offers(&columns.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());

        assert!(has(&["smiles", "Pack_1", "Price_1"]));
        assert!(!has(&["smiles", "Pack_1", "Price_2"]));
        assert!(!has(&["smiles", "Amount 1", "Amount 2"]));
    }
}
