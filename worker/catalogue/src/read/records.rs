//! Raw records of a file, for callers that need its structures but no offers: a list of targets as vendors,
//! spreadsheets and drawing programs write it.

use std::collections::VecDeque;

use super::{
    error::FileReadError,
    file_format::{BLANKS, FileFormat},
    json,
    record_source::RecordSource,
    sdf,
    text::decode,
    window::RawBatch,
};
use crate::{entry::RecordPosition, fault::RecordFault};

/// A record of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Position of the record.
    pub position: RecordPosition,
    /// Fields by column name in the file's order (for JSON, ordered by name), or the fault of the record. Fields of a
    /// list without a header are called `column 1` and so on, whatever their number. The connection table of an SDF
    /// is called `(connection table)`.
    pub fields: Result<Vec<(String, String)>, RecordFault>,
}

/// Iterator over the records of a file, in order.
pub struct Records {
    cutter: RecordSource,
    format: FileFormat,
    /// Columns of a format with a header.
    columns: Vec<String>,
    cut: VecDeque<Record>,
    is_over: bool,
}

impl Records {
    pub(crate) fn new(cutter: RecordSource, format: FileFormat, columns: Vec<String>) -> Self {
        Self { cutter, format, columns, cut: VecDeque::new(), is_over: false }
    }

    fn fields(&self, record: &[u8]) -> Result<Vec<(String, String)>, RecordFault> {
        match self.format {
            FileFormat::Delimited(_) | FileFormat::List(_) | FileFormat::Hdf5 => self.named(record),
            FileFormat::Sdf => {
                let record = decode(record.into());
                let fields = sdf::fields(&record)?.into_iter();
                Ok(fields.map(|(name, text)| (name.to_owned(), text)).collect())
            }
            // All rows of one object describe the same structure.
            FileFormat::JsonLines | FileFormat::Json | FileFormat::Parquet => {
                Ok(json::rows(record)?.into_iter().next().unwrap_or_default())
            }
        }
    }

    fn named(&self, record: &[u8]) -> Result<Vec<(String, String)>, RecordFault> {
        let fields = self.format.fields(record).into_iter().map(|field| decode(field).trim().to_owned());
        let fields: Vec<String> = fields.collect();
        if matches!(self.format, FileFormat::List(_)) {
            let numbered = (1..).map(|number| format!("column {number}"));
            return Ok(numbered.zip(fields).collect());
        }
        let expected = self.columns.len();
        if self.format == FileFormat::Delimited(BLANKS) {
            // Blanks within a name do not separate fields, and a name may be missing.
            let texts = (0..expected).map(|at| {
                let end = if at + 1 == expected { fields.len() } else { at + 1 };
                fields.get(at..end.max(at)).unwrap_or_default().join(" ")
            });
            return Ok(self.columns.iter().cloned().zip(texts).collect());
        }
        if fields.len() < expected || fields.iter().skip(expected).any(|field| !field.is_empty()) {
            return Err(RecordFault::FieldCount { found: fields.len(), expected });
        }
        Ok(self.columns.iter().cloned().zip(fields).collect())
    }
}

impl Iterator for Records {
    type Item = Result<Record, FileReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.cut.is_empty() && !self.is_over {
            let mut cut = RawBatch::default();
            let more = self.cutter.cut(&mut cut);
            let read = cut.records().map(|(position, record)| Record {
                position,
                fields: record.map_err(Clone::clone).and_then(|record| self.fields(record)),
            });
            self.cut = read.collect();
            match more {
                Ok(more) => self.is_over = !more,
                Err(error) => {
                    self.is_over = true;
                    return Some(Err(error));
                }
            }
        }
        self.cut.pop_front().map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use crate::{
        Rates,
        read::{ColumnProfile, Options, ReadInput, open},
    };

    use super::*;

    /// Each record with its line: its fields as `name=text`, or its fault.
    fn read(name: &str, text: &str) -> Vec<(u64, String)> {
        let options = Options {
            vendor: None,
            profile: ColumnProfile::default(),
            rates: Rates::default(),
            keys: std::sync::Arc::default(),
            threads: NonZeroUsize::MIN,
        };
        let opened = open(&ReadInput::Bytes(name.to_owned(), text.as_bytes().to_vec()), &options).unwrap();
        let shown = |record: Record| {
            let fields = |fields: Vec<(String, String)>| {
                fields.iter().map(|(name, text)| format!("{name}={text}")).collect::<Vec<_>>().join(" ")
            };
            (record.position.number, record.fields.map_or_else(|fault| fault.to_string(), fields))
        };
        opened.records().unwrap().map(|record| shown(record.unwrap())).collect()
    }

    fn expected(records: &[(u64, &str)]) -> Vec<(u64, String)> {
        records.iter().map(|(line, text)| (*line, (*text).to_owned())).collect()
    }

    #[test]
    fn records_are_their_fields_by_name_and_a_bad_one_costs_itself_alone() {
        assert_eq!(
            read("a.csv", "smiles,price\nCCO,free\nCCN\n\"C,C\",1\n"),
            expected(&[
                (2, "smiles=CCO price=free"),
                (3, "1 fields where the header has 2"),
                (4, "smiles=C,C price=1")
            ])
        );
        assert_eq!(read("a.smi", "CCO\nCCN\n"), expected(&[(1, "column 1=CCO"), (2, "column 1=CCN")]));
        assert_eq!(
            read("a.smi", "CCO ethyl alcohol\nCCN amine x\n"),
            expected(&[
                (1, "column 1=CCO column 2=ethyl column 3=alcohol"),
                (2, "column 1=CCN column 2=amine column 3=x")
            ])
        );
        assert_eq!(
            read("a.smi", "smiles name\nCCO ethyl alcohol\nCCN amine\nCC\n"),
            expected(&[
                (2, "smiles=CCO name=ethyl alcohol"),
                (3, "smiles=CCN name=amine"),
                (4, "smiles=CC name=")
            ])
        );
        assert_eq!(read("a.jsonl", "{\"smiles\": \"CCO\", \"n\": 1}\n"), expected(&[(1, "n=1 smiles=CCO")]));
        assert_eq!(
            read("a.sdf", "x\n\n\n\nM  END\n> <ID>\nZ\n\n$$$$\nno table\n$$$$\n"),
            expected(&[(1, "(connection table)=x\n\n\n\nM  END ID=Z"), (10, "structure: no `M  END`")])
        );
    }
}
