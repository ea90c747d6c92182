//! Embedded tables of chemical knowledge, which chemists extend without reading code.
//!
//! A table is TAB-separated text with a header. The last column names the source of each row. Recognising a group in a
//! molecule is code; names, orders and lists are tables.

use std::collections::HashSet;

/// Table of `N` columns.
#[derive(Debug)]
pub struct Table<const N: usize> {
    /// File name, for messages.
    pub file: &'static str,
    /// Content of the file.
    pub text: &'static str,
    /// Header. The last column is the source.
    pub columns: [&'static str; N],
    /// Number of leading columns that identify a row.
    pub keys: usize,
}

/// Fault of a table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}, line {line}: {fault}")]
pub struct TableError {
    /// File name.
    pub file: &'static str,
    /// Line of the file, from 1.
    pub line: usize,
    /// Fault of the line.
    pub fault: String,
}

impl<const N: usize> Table<N> {
    /// Reads all rows, in the order of the file.
    ///
    /// # Errors
    /// Fails at the first row that `row` refuses, that has another number of fields, no source, or the key of an
    /// earlier row; and if the header differs.
    pub fn read<T>(
        &self,
        row: impl Fn([&'static str; N]) -> Result<T, String>,
    ) -> Result<Vec<T>, TableError> {
        let mut keys = HashSet::new();
        let mut rows = Vec::new();
        for (line, text) in (1..).zip(self.text.lines()) {
            let fault = |fault| TableError { file: self.file, line, fault };
            let fields: Vec<&str> = text.split('\t').collect();
            let Ok(fields) = <[&str; N]>::try_from(fields) else {
                return Err(fault(format!("the number of fields is not {N}")));
            };
            if line == 1 {
                if fields != self.columns {
                    return Err(fault(format!("the header is not `{}`", self.columns.join(" "))));
                }
                continue;
            }
            if fields[N - 1].is_empty() {
                return Err(fault("no source".to_owned()));
            }
            let key = &fields[..self.keys];
            if !keys.insert(key.to_vec()) {
                return Err(fault(format!("`{}` is there twice", key.join(" "))));
            }
            rows.push(row(fields).map_err(fault)?);
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a table of names and numbers.
    fn read(text: &'static str) -> Result<Vec<(&'static str, i32)>, String> {
        let table = Table { file: "toy.tsv", text, columns: ["name", "rank", "source"], keys: 1 };
        let rows = table.read(|[name, rank, _]| match rank.parse() {
            Ok(rank) => Ok((name, rank)),
            Err(_) => Err(format!("`{rank}` is no rank")),
        });
        rows.map_err(|error| error.to_string())
    }

    #[test]
    fn a_table_is_read_in_its_order() {
        let rows = read("name\trank\tsource\nthiol\t58\tMayr\namine\t100\tMayr\n");

        assert_eq!(rows, Ok(vec![("thiol", 58), ("amine", 100)]));
    }

    #[test]
    fn a_fault_names_file_and_line() {
        for (text, expected) in [
            ("\n", "toy.tsv, line 1: the number of fields is not 3"),
            ("name\torder\tsource\n", "toy.tsv, line 1: the header is not `name rank source`"),
            ("name\trank\tsource\na\t1\n", "toy.tsv, line 2: the number of fields is not 3"),
            ("name\trank\tsource\na\t1\t\n", "toy.tsv, line 2: no source"),
            ("name\trank\tsource\na\tx\tMayr\n", "toy.tsv, line 2: `x` is no rank"),
            ("name\trank\tsource\na\t1\tMayr\na\t2\tMayr\n", "toy.tsv, line 3: `a` is there twice"),
        ] {
            assert_eq!(read(text), Err(expected.to_owned()));
        }
    }
}
