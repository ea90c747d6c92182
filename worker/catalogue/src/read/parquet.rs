//! Apache Parquet tables, read row by row; each row becomes a JSON object.

use std::{
    fs::File,
    panic::{self, AssertUnwindSafe},
};

use ::parquet::{
    errors::ParquetError,
    file::reader::{FileReader as _, SerializedFileReader},
    record::{Field, reader::RowIter},
};
use bytes::Bytes;
use serde_json::{Map, Value};

use super::source::ReadInput;

/// The rows of a table.
pub(crate) struct RowReader {
    rows: RowIter<'static>,
    /// Column names.
    pub(crate) names: Vec<String>,
}

impl RowReader {
    pub(crate) fn open(input: &ReadInput) -> Result<Self, ParquetError> {
        let open = || match input {
            ReadInput::File(path) => Self::of(SerializedFileReader::new(File::open(path)?)?),
            ReadInput::Bytes(_, bytes) => Self::of(SerializedFileReader::new(Bytes::copy_from_slice(bytes))?),
        };
        sound(open)?
    }

    fn of<R: ::parquet::file::reader::ChunkReader + 'static>(
        file: SerializedFileReader<R>,
    ) -> Result<Self, ParquetError> {
        let metadata = file.metadata().file_metadata();
        let names = metadata.schema().get_fields().iter().map(|field| field.name().to_owned()).collect();
        Ok(Self { rows: RowIter::from_file_into(Box::new(file)), names })
    }
}

impl Iterator for RowReader {
    type Item = Result<Vec<u8>, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        let row = match sound(|| self.rows.next()) {
            Ok(row) => row?,
            Err(damaged) => return Some(Err(damaged)),
        };
        Some(row.map(|row| {
            let columns = row.get_column_iter().map(|(name, field)| (name.clone(), value(field)));
            Value::Object(columns.collect::<Map<_, _>>()).to_string().into_bytes()
        }))
    }
}

/// Runs the crate's code, which panics on some damaged tables, and turns a panic into an error.
fn sound<T>(read: impl FnOnce() -> T) -> Result<T, ParquetError> {
    let damaged = |_| ParquetError::General("the table is damaged".into());
    panic::catch_unwind(AssertUnwindSafe(read)).map_err(damaged)
}

/// Converts a field to JSON; bytes of unknown type are taken for text.
fn value(field: &Field) -> Value {
    match field {
        Field::Bytes(bytes) => String::from_utf8_lossy(bytes.data()).into_owned().into(),
        field => field.to_json_value(),
    }
}
