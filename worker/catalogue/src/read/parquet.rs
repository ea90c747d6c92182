//! Apache Parquet tables, read row by row; each row becomes a JSON object, with times as RFC 3339.
//!
//! Times without a zone are taken for UTC. The row reader knows only times of the older converted types; the others
//! (nanoseconds, or a logical type alone) are numbers to it, so the schema says what they are (Parquet Format,
//! "LogicalTypes").

use std::{
    fs::File,
    panic::{self, AssertUnwindSafe},
};

use ::parquet::{
    basic::{LogicalType, TimeUnit},
    errors::ParquetError,
    file::reader::{FileReader as _, SerializedFileReader},
    record::{Field, reader::RowIter},
    schema::types::Type as SchemaType,
};
use bytes::Bytes;
use chrono::{DateTime, SecondsFormat};
use serde_json::{Map, Value};

use super::{json::number_text, source::ReadInput};

/// The rows of a table.
pub(crate) struct RowReader {
    rows: RowIter<'static>,
    /// Column names.
    pub(crate) names: Vec<String>,
    /// Kinds of time that the columns hold.
    times: Vec<Option<TimeKind>>,
}

/// Kind of a stored time.
#[derive(Debug, Clone, Copy)]
enum TimeKind {
    /// Days since 1970.
    Days,
    /// Time since 1970, with this many units in a second.
    UnitsPerSecond(i64),
}

impl TimeKind {
    fn of(column: &SchemaType) -> Option<Self> {
        match column.get_basic_info().logical_type_ref()? {
            LogicalType::Date => Some(Self::Days),
            LogicalType::Timestamp(kind) => Some(Self::UnitsPerSecond(match kind.unit {
                TimeUnit::MILLIS => 1_000,
                TimeUnit::MICROS => 1_000_000,
                TimeUnit::NANOS => 1_000_000_000,
            })),
            _ => None,
        }
    }

    /// Text of a time; `None` for one beyond all calendars.
    fn text(self, stored: i64) -> Option<String> {
        let per_second = match self {
            Self::Days => {
                return Some(DateTime::from_timestamp(stored.checked_mul(86_400)?, 0)?.to_rfc3339());
            }
            Self::UnitsPerSecond(count) => count,
        };
        let nanoseconds = stored.rem_euclid(per_second) * (1_000_000_000 / per_second);
        let time = DateTime::from_timestamp(stored.div_euclid(per_second), u32::try_from(nanoseconds).ok()?)?;
        Some(time.to_rfc3339_opts(SecondsFormat::AutoSi, true))
    }
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
        let fields = metadata.schema().get_fields();
        let names = fields.iter().map(|field| field.name().to_owned()).collect();
        let times = fields.iter().map(|field| TimeKind::of(field)).collect();
        Ok(Self { rows: RowIter::from_file_into(Box::new(file)), names, times })
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
            let columns = row.get_column_iter().zip(&self.times);
            let columns = columns.map(|((name, field), time)| (name.clone(), value(field, *time)));
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
fn value(field: &Field, time: Option<TimeKind>) -> Value {
    let of_time = |kind: TimeKind, stored| kind.text(stored).map_or(Value::Null, Value::from);
    match (field, time) {
        (Field::Long(stored), Some(kind)) => of_time(kind, *stored),
        (Field::Int(stored), Some(kind)) => of_time(kind, i64::from(*stored)),
        (Field::Date(days), _) => of_time(TimeKind::Days, i64::from(*days)),
        (Field::TimestampMillis(stored), _) => of_time(TimeKind::UnitsPerSecond(1_000), *stored),
        (Field::TimestampMicros(stored), _) => of_time(TimeKind::UnitsPerSecond(1_000_000), *stored),
        (Field::Bytes(bytes), _) => String::from_utf8_lossy(bytes.data()).into_owned().into(),
        (Field::Decimal(_), _) => match field.to_json_value() {
            Value::String(number) => number_text(&number).into(),
            other => other,
        },
        (field, _) => field.to_json_value(),
    }
}
