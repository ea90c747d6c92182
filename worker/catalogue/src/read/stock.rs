//! How much of a record's entry is in stock.
//!
//! A number means nothing without its unit: that stands beside it, in the column's name, in a column of its own or, in a record
//! without a pack, in the one for units. What says that there is some, and not how much (`yes`, `in stock`), says no amount.

use super::{
    meaning::{Meaning, pack_of},
    row::{Cell, LARGEST_PACK, Row},
};
use crate::{
    entry::InStock,
    fault::{Fault, shorten},
    number::number,
    price::grams_of_major,
    structure::Structure,
};

/// Words for "some".
const SOME: [&str; 7] = ["in stock", "instock", "yes", "y", "true", "available", "unknown"];
/// Words for none.
const NONE: [&str; 8] =
    ["out of stock", "not in stock", "sold out", "unavailable", "none", "no", "n", "false"];

/// An amount as a record says it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Amount {
    size: f64,
    uom: String,
    stated_grams: Option<f64>,
}

impl Amount {
    /// What that is of a structure.
    pub(super) fn of(self, density_g_per_ml: Option<f64>, structure: &Structure) -> InStock {
        let unit = self.uom.parse().ok();
        let grams =
            unit.and_then(|unit| grams_of_major(self.size, unit, density_g_per_ml, structure.weights));
        InStock { amount: self.size, uom: self.uom, grams: grams.or(self.stated_grams) }
    }
}

/// The amount that a record says is in stock, if it says so.
///
/// # Errors
/// Fails where it is no amount, and where there is none of what has no price either: that cannot be had.
pub(super) fn amount(row: &Row<'_>, is_priced: bool) -> Result<Option<Amount>, Fault> {
    let Some(cell) = row.find(|meaning| matches!(meaning, Meaning::Amount | Meaning::AmountIn(_))) else {
        return Ok(None);
    };
    let word = cell.text.to_lowercase();
    let none = || Fault::NoneInStock { column: cell.name() };
    if SOME.contains(&word.as_str()) {
        return Ok(None);
    }
    if NONE.contains(&word.as_str()) {
        return if is_priced { Ok(None) } else { Err(none()) };
    }
    let (size, uom) = size(row, cell)?;
    if size == 0.0 && !is_priced {
        return Err(none());
    }
    let stated = row.get(&Meaning::AmountOfMajor);
    let stated_grams = stated.map(|cell| cell.zero_or_more(number(cell.text), LARGEST_PACK)).transpose()?;
    Ok(Some(Amount { size, uom, stated_grams }))
}

fn size(row: &Row<'_>, cell: Cell<'_>) -> Result<(f64, String), Fault> {
    let wrong = || Fault::Amount { column: cell.name(), text: shorten(cell.text) };
    // More than so much is at least that.
    let text = cell.text.trim_start_matches(['>', '≥', '~', '=']).trim_start();
    if let Some((size, unit)) = pack_of(text) {
        return Ok((cell.zero_or_more(Some(size), LARGEST_PACK)?, unit.to_owned()));
    }
    let size = cell.zero_or_more(Some(number(text).ok_or_else(wrong)?), LARGEST_PACK)?;
    if let Meaning::AmountIn(unit) = &cell.column.meaning {
        return Ok((size, unit.clone()));
    }
    let has_pack = row.find(|meaning| matches!(meaning, Meaning::Pack | Meaning::PackIn(_))).is_some();
    let of_pack = row.get(&Meaning::Unit).filter(|_| !has_pack);
    let unit = row.get(&Meaning::AmountUnit).or(of_pack).ok_or_else(wrong)?;
    unit.unit()?;
    Ok((size, unit.text.to_owned()))
}
