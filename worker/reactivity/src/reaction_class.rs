//! Names and categories of reactions: `tables/reaction_classes.tsv`.
//!
//! The categories are the ten of the RSC's name reaction ontology and of NameRxn, which Schneider and others (J. Med.
//! Chem. 2016, 59, 4385) use to count the reactions of medicinal chemists. The names are those of textbooks: Smith,
//! "March's Advanced Organic Chemistry"; Wuts and Greene, "Protective Groups in Organic Synthesis"; Joule and Mills,
//! "Heterocyclic Chemistry". The compiler reads the table, so code cannot use a name that is not in it.

use std::fmt;

/// Category of a reaction. The number is the category's in NameRxn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Heteroatom alkylation and arylation.
    HeteroatomAlkylation = 1,
    /// Acylation and related processes.
    Acylation = 2,
    /// C–C bond formation.
    CarbonCarbon = 3,
    /// Heterocycle formation.
    Heterocycle = 4,
    /// Protection.
    Protection = 5,
    /// Deprotection.
    Deprotection = 6,
    /// Reduction.
    Reduction = 7,
    /// Oxidation.
    Oxidation = 8,
    /// Functional group interconversion.
    Interconversion = 9,
    /// Functional group addition.
    Addition = 10,
    /// Reaction without a name here.
    Other = 0,
}

/// Name and category of a reaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReactionClass {
    /// Category of the reaction.
    pub category: Category,
    /// Name of the reaction, in lower case except for names of people.
    pub name: &'static str,
}

/// Reaction class by its name, which has to be in the table.
macro_rules! class {
    ($name:literal) => {
        const {
            match crate::reaction_class::ReactionClass::named($name) {
                Some(class) => class,
                None => panic!(concat!("reaction_classes.tsv has no `", $name, "`")),
            }
        }
    };
}

pub(crate) use class;

const TABLE: &str = include_str!("../tables/reaction_classes.tsv");
const CLASSES: [ReactionClass; rows()] = read();

/// All names that a [`ReactionClass`] may have, ascending.
pub const CLASS_NAMES: &[&str] = &{
    let mut names = [""; CLASSES.len()];
    let mut row = 0;
    while row < names.len() {
        names[row] = CLASSES[row].name;
        row += 1;
    }
    names
};

impl ReactionClass {
    /// Looks up a class by its name.
    #[must_use]
    pub const fn named(name: &str) -> Option<Self> {
        let mut row = 0;
        while row < CLASSES.len() {
            if is_same(CLASSES[row].name.as_bytes(), name.as_bytes()) {
                return Some(CLASSES[row]);
            }
            row += 1;
        }
        None
    }
}

impl Default for ReactionClass {
    fn default() -> Self {
        class!("other reaction")
    }
}

impl Category {
    const ALL: [Self; 11] = [
        Self::HeteroatomAlkylation,
        Self::Acylation,
        Self::CarbonCarbon,
        Self::Heterocycle,
        Self::Protection,
        Self::Deprotection,
        Self::Reduction,
        Self::Oxidation,
        Self::Interconversion,
        Self::Addition,
        Self::Other,
    ];

    const fn title(self) -> &'static str {
        match self {
            Self::HeteroatomAlkylation => "heteroatom alkylation and arylation",
            Self::Acylation => "acylation and related processes",
            Self::CarbonCarbon => "C-C bond formation",
            Self::Heterocycle => "heterocycle formation",
            Self::Protection => "protection",
            Self::Deprotection => "deprotection",
            Self::Reduction => "reduction",
            Self::Oxidation => "oxidation",
            Self::Interconversion => "functional group interconversion",
            Self::Addition => "functional group addition",
            Self::Other => "other",
        }
    }

    const fn titled(title: &[u8]) -> Self {
        let mut at = 0;
        while !is_same(Self::ALL[at].title().as_bytes(), title) {
            at += 1;
        }
        Self::ALL[at]
    }
}

impl fmt::Display for Category {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.title())
    }
}

/// Number of rows below the header.
const fn rows() -> usize {
    let (mut rows, mut rest) = (0, after_header());
    while !rest.is_empty() {
        rest = cut(rest, b'\n').1;
        rows += 1;
    }
    rows
}

const fn read() -> [ReactionClass; rows()] {
    let mut classes = [ReactionClass { category: Category::Other, name: "" }; rows()];
    let (mut row, mut rest) = (0, after_header());
    while !rest.is_empty() {
        let (line, later) = cut(rest, b'\n');
        let (name, line) = cut(line, b'\t');
        let (category, _source) = cut(line, b'\t');
        let Ok(name) = str::from_utf8(name) else { panic!("reaction_classes: the file is UTF-8") };
        classes[row] = ReactionClass { category: Category::titled(category), name };
        (row, rest) = (row + 1, later);
    }
    classes
}

const fn after_header() -> &'static [u8] {
    cut(TABLE.as_bytes(), b'\n').1
}

/// Splits text at the first `end`.
const fn cut(text: &[u8], end: u8) -> (&[u8], &[u8]) {
    let mut at = 0;
    while text[at] != end {
        at += 1;
    }
    let (before, rest) = text.split_at(at);
    (before, rest.split_at(1).1)
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

#[cfg(test)]
mod tests {
    use chem::Table;

    use super::*;

    #[test]
    fn the_compiler_reads_the_table_as_any_other_is_read() {
        let table = Table {
            file: "reaction_classes.tsv",
            text: TABLE,
            columns: ["name", "category", "source"],
            keys: 1,
        };

        let rows = table.read(|[name, category, _]| Ok((name, category.to_owned()))).unwrap();

        let compiled: Vec<_> = CLASSES.iter().map(|class| (class.name, class.category.to_string())).collect();
        assert_eq!(compiled, rows);
        assert!(CLASS_NAMES.is_sorted());
    }
}
