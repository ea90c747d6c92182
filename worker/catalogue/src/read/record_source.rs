//! Cuts a file of any format into batches of records.

use super::{
    boundary::Boundary,
    error::FileReadError,
    hdf5::KeyReader,
    parquet::RowReader,
    window::{MAX_RECORD_BYTES, RawBatch, RecordCutter},
};
use crate::{entry::RecordPosition, fault::RecordFault};

/// Source of records.
pub(crate) enum RecordSource {
    /// A text file.
    Text { window: RecordCutter, boundary: Boundary, name: String },
    /// A Parquet table, and the index of the next row.
    Rows { rows: RowReader, next: u64, name: String },
    /// Keys in an HDF5 file, and the number of the next one.
    Keys { keys: KeyReader, next: u64, name: String },
}

impl RecordSource {
    /// Fills a batch; returns true if there may be more.
    pub(crate) fn cut(&mut self, cut: &mut RawBatch) -> Result<bool, FileReadError> {
        while !cut.is_full() {
            if !self.cut_one(cut)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn cut_one(&mut self, cut: &mut RawBatch) -> Result<bool, FileReadError> {
        match self {
            Self::Text { window, boundary, name } => {
                let begun = window.cut(boundary, cut);
                begun.map_err(|source| FileReadError::Broken {
                    name: name.clone(),
                    at: window.position().number,
                    source,
                })
            }
            Self::Rows { rows, next, name } => {
                let Some(row) = rows.next() else { return Ok(false) };
                let row = row.map_err(|error| FileReadError::Parquet {
                    name: name.clone(),
                    reason: error.to_string(),
                })?;
                let position = RecordPosition { number: *next, offset: 0 };
                if row.len() > MAX_RECORD_BYTES {
                    cut.reject(position, RecordFault::TooLong { limit: MAX_RECORD_BYTES });
                } else {
                    cut.push(position, &row);
                }
                *next += 1;
                Ok(true)
            }
            Self::Keys { keys, next, name } => {
                let Some(key) = keys.next() else {
                    let none = *next == 1;
                    return if none { Err(FileReadError::NoKeys { name: name.clone() }) } else { Ok(false) };
                };
                let broken = |source| FileReadError::Broken { name: name.clone(), at: *next, source };
                let (offset, key) = key.map_err(broken)?;
                cut.push(RecordPosition { number: *next, offset }, &key);
                *next += 1;
                Ok(true)
            }
        }
    }
}
