//! Decimal marks of a file's columns, decided from the first records before any of them counts.
//!
//! A column whose telling values all have one mark has that mark. A column without a telling value follows the other
//! columns: a spreadsheet is written in one locale. Later values that contradict the mark are faults of their records,
//! so a file is read once.

use std::collections::BTreeMap;

use super::{
    decimal_marks::ColumnStyles,
    file_format::{self, FileFormat},
    json,
    profile::{Column, fold},
    sdf,
    text::decode,
};
use crate::number::StyleEvidence;
use crate::number_style::NumberStyle;

/// Bytes at the start of a text file that decide on the decimal marks.
pub(crate) const SAMPLE_BYTES: usize = 1 << 17;

/// Rows at the start of a table without lines that decide on them.
pub(crate) const SAMPLE_ROWS: usize = 2_048;

/// Decides on the marks of `columns` from the first records. `usual` is the mark of a file without a telling
/// value.
pub(crate) fn decided(
    records: &[Vec<u8>],
    format: FileFormat,
    columns: &[Column],
    usual: NumberStyle,
) -> ColumnStyles {
    let mut evidence: BTreeMap<String, StyleEvidence> = BTreeMap::new();
    let numbers = columns.iter().filter(|column| column.meaning.is_number());
    evidence.extend(numbers.map(|column| (fold(&column.name), StyleEvidence::default())));
    let mut see = |name: &str, text: &str| {
        if let Some(evidence) = evidence.get_mut(&fold(name)) {
            evidence.see(text);
        }
    };
    for record in records {
        match format {
            FileFormat::Delimited(_) | FileFormat::List(_) | FileFormat::Hdf5 => {
                for (column, field) in columns.iter().zip(format.fields(record)) {
                    if column.meaning.is_number() {
                        see(&column.name, &decode(field));
                    }
                }
            }
            FileFormat::Sdf => {
                let record = decode(record.into());
                let fields = sdf::fields(&record);
                fields.iter().flatten().for_each(|(name, text)| see(name, text));
            }
            FileFormat::JsonLines | FileFormat::Json | FileFormat::Parquet => {
                let rows = json::rows(record).unwrap_or_default();
                rows.iter().flatten().for_each(|(name, text)| see(name, text));
            }
        }
    }
    let all = evidence.values().fold(StyleEvidence::default(), |sum, &column| sum.and(column));
    let own = evidence.into_iter().filter(|(_, evidence)| !evidence.is_empty());
    let by_name = own.map(|(name, evidence)| (name, evidence.style())).collect();
    ColumnStyles::new(by_name, if all.is_empty() { usual } else { all.style() })
}

/// The records at the start of a text. The last one is left out if the text goes on.
pub(crate) fn first_records(start: &[u8], format: FileFormat, is_whole: bool) -> Vec<Vec<u8>> {
    let mut records = file_format::sample(start, format.boundary(), usize::MAX);
    if !is_whole {
        records.pop();
    }
    records
}
