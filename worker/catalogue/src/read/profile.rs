//! Meanings of a file's columns, from known headers or from the user.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    decimal_marks::ColumnStyles,
    known_profiles::{ColumnMeanings, KnownProfile},
    meaning::{Meaning, UnknownMeaning},
};
use crate::{fault::shorten, number_style::NumberStyle};

/// User's statements about a file's columns, which can be saved and reused as JSON: `{"profile": "enamine",
/// "columns": {"Preis": "price:EUR"}, "numbers": "comma"}`. A column may also be named by its number, from 1.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnProfile {
    /// Profile for the columns that `columns` does not name; detected from the columns if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Meanings by column.
    #[serde(default)]
    pub columns: BTreeMap<String, String>,
    /// Decimal mark of all numbers; decided from each column's values if it is not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub numbers: Option<NumberStyle>,
}

/// An invalid profile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "fields are named in the docs of their variants")]
pub enum ProfileError {
    /// There is no profile `name`.
    #[error("no profile `{name}` (known: {})", KnownProfile::names().collect::<Vec<_>>().join(", "))]
    NoSuchProfile { name: String },
    /// A column has an unknown meaning.
    #[error(transparent)]
    Meaning(#[from] UnknownMeaning),
}

/// Maximum number of columns: more than a fingerprint has bits. A wider table is the wrong file or a broken one.
const MAX_COLUMNS: usize = 10_000;

/// An unusable header.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "fields are named in the docs of their variants")]
pub enum HeaderError {
    /// None of the columns `found` holds structures.
    #[error(
        "no column `smiles` or `full_canonical` in the header ({found}); name it with --column COLUMN=smiles"
    )]
    NoSmiles { found: String },
    /// The user's column `name` is not among `found`.
    #[error("no column `{name}` in the header ({found})")]
    NoSuchColumn { name: String, found: String },
    /// The header has `count` columns, more than the limit.
    #[error("{count} columns in the header, more than {MAX_COLUMNS}")]
    TooMany { count: usize },
    /// Two columns are called `name`.
    #[error("two columns `{name}` in the header")]
    Twice { name: String },
}

/// A column and its meaning.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Name in the file.
    pub name: String,
    /// Meaning.
    pub meaning: Meaning,
    /// Decimal mark of its numbers.
    pub numbers: NumberStyle,
    /// Rank among the columns for one meaning; the lower one wins.
    pub(crate) rank: usize,
}

impl Column {
    /// Returns true if the values have a decimal mark.
    #[must_use]
    pub fn has_numbers(&self) -> bool {
        self.meaning.is_number()
    }
}

/// Rules for assigning meanings to columns by name.
#[derive(Clone)]
pub(crate) struct ColumnMapper {
    pub(crate) known: &'static KnownProfile,
    meanings: ColumnMeanings,
    own: BTreeMap<String, Meaning>,
    /// Meanings that the user states by the number of a column, counted from 0.
    own_by_number: BTreeMap<usize, Meaning>,
    styles: ColumnStyles,
}

impl ColumnMapper {
    /// Combines the user's meanings with the profile that the user names or that the columns identify, with their
    /// values in the first record.
    pub(crate) fn new(
        profile: &ColumnProfile,
        columns: &[String],
        first: &[(String, String)],
    ) -> Result<Self, ProfileError> {
        let known = match &profile.profile {
            Some(name) => {
                KnownProfile::named(name).ok_or_else(|| ProfileError::NoSuchProfile { name: name.clone() })?
            }
            None => KnownProfile::of_columns(columns.iter().map(String::as_str), first),
        };
        let (mut own, mut own_by_number) = (BTreeMap::new(), BTreeMap::new());
        for (name, meaning) in &profile.columns {
            let meaning: Meaning = meaning.parse()?;
            let is_name = columns.iter().any(|column| fold(column) == fold(name));
            match column_number(name).filter(|&at| !is_name && at < columns.len()) {
                Some(at) => drop(own_by_number.insert(at, meaning)),
                None => drop(own.insert(fold(name), meaning)),
            }
        }
        let styles = ColumnStyles::stated(profile.numbers);
        Ok(Self { known, meanings: known.meanings(columns), own, own_by_number, styles })
    }

    /// Sets the decimal marks of the columns.
    pub(crate) fn with_styles(mut self, styles: ColumnStyles) -> Self {
        self.styles = styles;
        self
    }

    /// Index of the column for which the user states by its number that it holds the structures.
    pub(crate) fn numbered_structure(&self) -> Option<usize> {
        self.own_by_number.iter().find(|(_, meaning)| holds_structures(meaning)).map(|(&at, _)| at)
    }

    /// Assigns a meaning to a column by its name.
    pub(crate) fn column(&self, name: &str) -> Column {
        let (rank, meaning) = match self.own.get(&fold(name)) {
            Some(meaning) => (0, meaning.clone()),
            None => self.meanings.of(name),
        };
        Column { name: name.trim().to_owned(), meaning, numbers: self.styles.of_column(&fold(name)), rank }
    }

    /// Assigns meanings to the columns of a header; of several columns for one meaning only the first by rank is
    /// used. An unknown column takes the meaning that `defaults` has at its index.
    ///
    /// # Errors
    /// Fails when no column holds structures, when a column named by the user is missing, when a name occurs twice,
    /// or when there are too many columns.
    pub(crate) fn header(&self, names: &[String], defaults: &[Meaning]) -> Result<Vec<Column>, HeaderError> {
        if names.len() > MAX_COLUMNS {
            return Err(HeaderError::TooMany { count: names.len() });
        }
        let absent = self.own.keys().find(|own| !names.iter().any(|name| fold(name) == **own));
        if let Some(name) = absent {
            return Err(HeaderError::NoSuchColumn { name: name.clone(), found: shorten(&names.join(", ")) });
        }
        let mut columns: Vec<Column> = names.iter().map(|name| self.column(name)).collect();
        for (column, default) in columns.iter_mut().zip(defaults) {
            if column.rank == usize::MAX && *default != Meaning::Ignored {
                column.meaning = default.clone();
            }
        }
        for (&at, meaning) in &self.own_by_number {
            let name = fold(&names[at]);
            let same = columns.iter_mut().filter(|column| fold(&column.name) == name);
            same.for_each(|column| column.meaning = Meaning::Ignored);
            (columns[at].meaning, columns[at].rank) = (meaning.clone(), 0);
        }
        let used = |column: &&Column| column.meaning != Meaning::Ignored;
        let twice = columns.iter().filter(used).find(|column| {
            columns.iter().filter(used).filter(|other| fold(&other.name) == fold(&column.name)).count() > 1
        });
        if let Some(column) = twice {
            return Err(HeaderError::Twice { name: fold(&column.name) });
        }
        without_duplicates(columns)
    }

    /// Assigns meanings to the names in the first records of a file; later records may add others.
    pub(crate) fn names(&mut self, names: &[String]) -> Result<Vec<Column>, HeaderError> {
        let numbered = std::mem::take(&mut self.own_by_number).into_iter();
        self.own.extend(numbered.map(|(at, meaning)| (fold(&names[at]), meaning)));
        without_duplicates(names.iter().map(|name| self.column(name)).collect())
    }
}

/// Keeps one column for each meaning, the first by rank and then by position.
fn without_duplicates(mut columns: Vec<Column>) -> Result<Vec<Column>, HeaderError> {
    for at in 0..columns.len() {
        let this = &columns[at];
        let beaten = !this.meaning.is_an_offer()
            && columns.iter().enumerate().any(|(position, other)| {
                this.meaning.competes_with(&other.meaning) && (other.rank, position) < (this.rank, at)
            });
        if beaten {
            columns[at].meaning = Meaning::Ignored;
        }
    }
    if columns.iter().any(|column| holds_structures(&column.meaning)) {
        return Ok(columns);
    }
    let found = columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ");
    Err(HeaderError::NoSmiles { found: shorten(&found) })
}

/// Returns true if a column of this meaning holds the structure.
pub(crate) const fn holds_structures(meaning: &Meaning) -> bool {
    matches!(meaning, Meaning::Smiles | Meaning::Molfile | Meaning::InchiKey)
}

/// Normalises a name for comparison with the user's.
pub(crate) fn fold(name: &str) -> String {
    name.trim().to_lowercase()
}

/// Index of a column that is named by its number: `2` or `column 2` is 1.
#[must_use]
pub(crate) fn column_number(name: &str) -> Option<usize> {
    let name = fold(name);
    name.strip_prefix("column ").unwrap_or(&name).parse::<usize>().ok()?.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(names: &[&str], own: &[(&str, &str)]) -> Result<String, HeaderError> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let columns = own.iter().map(|&(name, meaning)| (name.to_owned(), meaning.to_owned())).collect();
        let profile = ColumnProfile { columns, ..ColumnProfile::default() };
        let reader = ColumnMapper::new(&profile, &names, &[]).unwrap();
        let columns = reader.header(&names, &[])?;
        Ok(columns.iter().map(|column| column.meaning.to_string()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn columns_go_by_the_contracts_names_in_any_order_and_case() {
        let found = header(&["id", "Price_USD", "lead_time_days_to_CN", "SMILES"], &[]);

        assert_eq!(found, Ok("id price:USD lead_time:CN smiles".into()));
    }

    #[test]
    fn the_users_word_wins() {
        let found = header(&["smiles", "salt_smiles", "Nr."], &[("Salt_SMILES", "smiles"), ("nr.", "id")]);

        assert_eq!(found, Ok("ignore smiles id".into()));
    }

    #[test]
    fn of_two_columns_for_one_thing_the_tables_choose() {
        assert_eq!(header(&["smiles", "full_canonical"], &[]), Ok("ignore smiles".into()));
        assert_eq!(
            header(&["priceEur", "priceUsd", "packMg", "smiles"], &[]),
            Ok("ignore price:USD pack:mg smiles".into())
        );
    }

    #[test]
    fn a_column_is_named_by_its_number_too() {
        assert_eq!(header(&["Nr", "Formel"], &[("2", "smiles")]), Ok("ignore smiles".into()));
        assert_eq!(header(&["smiles", "smiles"], &[("column 2", "smiles")]), Ok("ignore smiles".into()));
        assert_eq!(header(&["x", "2"], &[("2", "smiles")]), Ok("ignore smiles".into()));
        assert_eq!(
            header(&["Nr", "Formel"], &[("3", "smiles")]),
            Err(HeaderError::NoSuchColumn { name: "3".into(), found: "Nr, Formel".into() })
        );
    }

    #[test]
    fn a_header_without_structures_or_with_two_prices_is_refused() {
        assert_eq!(header(&["CCO", "1"], &[]), Err(HeaderError::NoSmiles { found: "CCO, 1".into() }));
        assert_eq!(
            header(&vec![""; MAX_COLUMNS + 1], &[]),
            Err(HeaderError::TooMany { count: MAX_COLUMNS + 1 })
        );
        assert_eq!(header(&["smiles", "pack", "Pack"], &[]), Err(HeaderError::Twice { name: "pack".into() }));
        assert_eq!(
            header(&["smiles"], &[("cost", "price")]),
            Err(HeaderError::NoSuchColumn { name: "cost".into(), found: "smiles".into() })
        );
    }
}
