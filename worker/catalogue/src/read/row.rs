//! Fields of a record, by the meaning of their columns.

use super::{meaning::Meaning, profile::Column};
use crate::{
    fault::{RecordFault, shorten},
    number::number,
    price::Unit,
};

/// The largest pack, in any unit.
pub(super) const LARGEST_PACK: f64 = 1e9;

/// A field that is not empty.
#[derive(Clone, Copy)]
pub(super) struct Cell<'a> {
    pub(super) column: &'a Column,
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

    pub(super) fn zero_or_more(self, found: Option<f64>, most: f64) -> Result<f64, RecordFault> {
        match found {
            None => Err(self.not_a_number()),
            Some(found) if found < 0.0 => Err(self.out_of_range("negative")),
            Some(found) if found > most => Err(self.out_of_range("beyond all reason")),
            Some(found) => Ok(found),
        }
    }

    pub(super) fn not_a_number(self) -> RecordFault {
        RecordFault::NotANumber { column: self.name(), text: shorten(self.text) }
    }

    pub(super) fn number(self, most: f64) -> Result<f64, RecordFault> {
        self.over_zero(number(self.text).ok_or_else(|| self.not_a_number())?, most)
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
        let mut row = Self::default();
        for (column, untrimmed) in fields {
            let text = untrimmed.trim();
            if text.is_empty() || column.meaning == Meaning::Ignored {
                continue;
            }
            // PostgreSQL text cannot hold NUL.
            if text.contains('\0') {
                return Err(RecordFault::NotText { column: column.name.clone() });
            }
            let cell = Cell { column, text, untrimmed };
            if column.meaning.is_an_offer() {
                row.offers.push(cell);
                continue;
            }
            let same = |other: &Cell<'_>| other.column.meaning.competes_with(&column.meaning);
            match row.single.iter_mut().find(|other| same(other)) {
                Some(other) if column.rank < other.column.rank => *other = cell,
                Some(_) => {}
                None => row.single.push(cell),
            }
        }
        Ok(row)
    }

    pub(super) fn find(&self, wanted: impl Fn(&Meaning) -> bool) -> Option<Cell<'a>> {
        self.single.iter().copied().find(|cell| wanted(&cell.column.meaning))
    }

    pub(super) fn get(&self, wanted: &Meaning) -> Option<Cell<'a>> {
        self.find(|meaning| meaning == wanted)
    }

    pub(super) fn text(&self, wanted: &Meaning) -> Option<&'a str> {
        self.get(wanted).map(|cell| cell.text)
    }
}
