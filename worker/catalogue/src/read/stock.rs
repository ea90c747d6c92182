//! Amount of a record's entry in stock.
//!
//! A number needs a unit. The unit is written beside it, in the column's name, in its own column or, in a record
//! without a pack, in the general unit column. Texts that say that there is stock without an amount (`yes`, `in
//! stock`) give no amount.

use super::{
    meaning::{Meaning, split_pack},
    row::{Cell, LARGEST_PACK, Row},
};
use crate::{
    entry::InStock,
    fault::{RecordFault, shorten},
    number::{NumberFault, number},
    price::grams_of_major,
    structure::BlockStructure,
};

/// Words for "in stock, amount unknown".
const IN_STOCK_WORDS: [&str; 7] = ["in stock", "instock", "yes", "y", "true", "available", "unknown"];
/// Words for "out of stock".
const OUT_OF_STOCK_WORDS: [&str; 8] =
    ["out of stock", "not in stock", "sold out", "unavailable", "none", "no", "n", "false"];

/// An amount as the record states it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Amount {
    size: f64,
    uom: String,
    stated_grams: Option<f64>,
}

impl Amount {
    /// Converts the amount to grams of a structure's major component.
    pub(super) fn of(self, density_g_per_ml: Option<f64>, structure: &BlockStructure) -> InStock {
        let unit = self.uom.parse().ok();
        let grams =
            unit.and_then(|unit| grams_of_major(self.size, unit, density_g_per_ml, structure.weights));
        InStock { amount: self.size, uom: self.uom, grams: grams.or(self.stated_grams) }
    }
}

/// The stock amount of a record, if it states one.
///
/// # Errors
/// Fails if the text is not an amount, or if an entry without a price is out of stock and so cannot be bought.
pub(super) fn amount(row: &Row<'_>, is_priced: bool) -> Result<Option<Amount>, RecordFault> {
    let Some(cell) = row.find(|meaning| matches!(meaning, Meaning::Amount | Meaning::AmountIn(_))) else {
        return Ok(None);
    };
    let word = cell.text.to_lowercase();
    let none = || RecordFault::NoneInStock { column: cell.name() };
    if IN_STOCK_WORDS.contains(&word.as_str()) {
        return Ok(None);
    }
    if OUT_OF_STOCK_WORDS.contains(&word.as_str()) {
        return if is_priced { Ok(None) } else { Err(none()) };
    }
    let (size, uom) = size(row, cell)?;
    if size == 0.0 && !is_priced {
        return Err(none());
    }
    let stated = row.get(&Meaning::AmountOfMajor);
    let grams = |cell: Cell<'_>| cell.zero_or_more(cell.number_in(cell.text)?, LARGEST_PACK);
    let stated_grams = stated.map(grams).transpose()?;
    Ok(Some(Amount { size, uom, stated_grams }))
}

fn size(row: &Row<'_>, cell: Cell<'_>) -> Result<(f64, String), RecordFault> {
    let wrong = || RecordFault::Amount { column: cell.name(), text: shorten(cell.text) };
    // A lower bound counts as the amount.
    let text = cell.text.trim_start_matches(['>', '≥', '~', '=']).trim_start();
    let number = |text: &str| match number(text, cell.column.numbers) {
        Err(NumberFault::NotANumber) => Err(wrong()),
        found => cell.zero_or_more(found.map_err(|fault| cell.number_fault(fault))?, LARGEST_PACK),
    };
    if let Some((size, unit)) = split_pack(text) {
        return Ok((number(size)?, unit.to_owned()));
    }
    let size = number(text)?;
    if let Meaning::AmountIn(unit) = cell.meaning {
        return Ok((size, unit.clone()));
    }
    let has_pack = row.find(|meaning| matches!(meaning, Meaning::Pack | Meaning::PackIn(_))).is_some();
    let of_pack = row.get(&Meaning::Unit).filter(|_| !has_pack);
    let unit = row.get(&Meaning::AmountUnit).or(of_pack).ok_or_else(wrong)?;
    unit.unit()?;
    Ok((size, unit.text.to_owned()))
}
