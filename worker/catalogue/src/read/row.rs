//! Fields of a record, by the meaning of their columns.

use std::collections::BTreeMap;

use super::{meaning::Meaning, profile::Column};
use crate::{
    fault::{RecordFault, shorten},
    number::{NumberFault, both, number},
    price::Unit,
};

/// The largest pack, in any unit.
pub(super) const LARGEST_PACK: f64 = 1e9;

/// The largest density, grams per millilitre: that of osmium, rounded up.
const MAX_DENSITY: f64 = 23.0;

/// A field that is not empty.
#[derive(Clone, Copy)]
pub(super) struct Cell<'a> {
    pub(super) column: &'a Column,
    pub(super) meaning: &'a Meaning,
    pub(super) text: &'a str,
    pub(super) untrimmed: &'a str,
}

impl Cell<'_> {
    pub(super) fn name(self) -> String {
        self.column.name.clone()
    }

    pub(super) fn out_of_range(self, fault: &'static str) -> RecordFault {
        RecordFault::OutOfRange { column: self.name(), text: shorten(self.text), fault }
    }

    pub(super) fn over_zero(self, found: f64, most: f64) -> Result<f64, RecordFault> {
        match found {
            found if found < 0.0 => Err(self.out_of_range("negative")),
            0.0 => Err(self.out_of_range("zero (leave it empty where it is not known)")),
            found if found > most => Err(self.out_of_range("beyond all reason")),
            found => Ok(found),
        }
    }

    pub(super) fn zero_or_more(self, found: f64, most: f64) -> Result<f64, RecordFault> {
        match found {
            found if found < 0.0 => Err(self.out_of_range("negative")),
            found if found > most => Err(self.out_of_range("beyond all reason")),
            found => Ok(found),
        }
    }

    /// Fault of a field that is no number in its column's style.
    pub(super) fn number_fault(self, fault: NumberFault) -> RecordFault {
        let (column, text, style) = (self.name(), shorten(self.text), self.column.numbers);
        match fault {
            NumberFault::NotANumber => RecordFault::NotANumber { column, text },
            NumberFault::Ambiguous => RecordFault::AmbiguousNumber { column, text },
            NumberFault::OtherStyle => RecordFault::OtherNumberStyle { column, text, style },
        }
    }

    /// Parses a part of the field as a number in its column's style.
    pub(super) fn number_in(self, text: &str) -> Result<f64, RecordFault> {
        number(text, self.column.numbers).map_err(|fault| self.number_fault(fault))
    }

    /// Returns true if the field is the number 0.
    pub(super) fn is_zero(self) -> bool {
        number(self.text, self.column.numbers) == Ok(0.0)
    }

    pub(super) fn number(self, most: f64) -> Result<f64, RecordFault> {
        self.over_zero(self.number_in(self.text)?, most)
    }

    /// Parses a density. Of two possible values, the one that a liquid can have counts.
    pub(super) fn density(self) -> Result<f64, RecordFault> {
        let (point, comma) = both(self.text);
        let plausible = [point, comma].into_iter().flatten().find(|found| *found <= MAX_DENSITY);
        match plausible {
            Some(found) => self.over_zero(found, MAX_DENSITY),
            None => self.number(MAX_DENSITY),
        }
    }

    pub(super) fn unit(self) -> Result<Unit, RecordFault> {
        self.text.parse().map_err(|_| RecordFault::Unit { text: shorten(self.text) })
    }
}

/// Fields of a record by meaning; of several for one meaning the first by rank.
#[derive(Default)]
pub(super) struct Row<'a> {
    pub(super) single: Vec<Cell<'a>>,
    pub(super) offers: Vec<Cell<'a>>,
}

impl<'a> Row<'a> {
    pub(super) fn of(fields: impl Iterator<Item = (&'a Column, &'a str)>) -> Result<Self, RecordFault> {
        let mut row = Self { single: Vec::with_capacity(fields.size_hint().0), offers: Vec::new() };
        for (column, untrimmed) in fields {
            let text = untrimmed.trim();
            if text.is_empty() || matches!(column.meaning, Meaning::Ignored) {
                continue;
            }
            // PostgreSQL text cannot hold NUL.
            if text.contains('\0') {
                return Err(RecordFault::NotText { column: column.name.clone() });
            }
            let cell = Cell { column, meaning: &column.meaning, text, untrimmed };
            if column.meaning.is_an_offer() {
                row.offers.push(cell);
                continue;
            }
            let same = |other: &Cell<'_>| other.meaning.competes_with(&column.meaning);
            match row.single.iter_mut().find(|other| same(other)) {
                Some(other) if column.rank < other.column.rank => *other = cell,
                Some(_) => {}
                None => row.single.push(cell),
            }
        }
        Ok(row)
    }

    pub(super) fn find(&self, wanted: impl Fn(&Meaning) -> bool) -> Option<Cell<'a>> {
        self.single.iter().copied().find(|cell| wanted(cell.meaning))
    }

    pub(super) fn get(&self, wanted: &Meaning) -> Option<Cell<'a>> {
        self.find(|meaning| meaning.is(wanted))
    }

    /// Fields of each numbered offer, by number.
    pub(super) fn numbered(&self) -> BTreeMap<u16, Self> {
        let mut rows: BTreeMap<u16, Self> = BTreeMap::new();
        for cell in self.single.iter().copied() {
            if let Meaning::Numbered(number, part) = cell.meaning {
                rows.entry(*number).or_default().single.push(Cell { meaning: part, ..cell });
            }
        }
        rows
    }

    pub(super) fn text(&self, wanted: &Meaning) -> Option<&'a str> {
        self.get(wanted).map(|cell| cell.text)
    }
}
