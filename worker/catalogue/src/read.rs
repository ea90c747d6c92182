//! Readers of vendors' files: from bytes to offers.
//!
//! Each layer has its own file. `source` decompresses, `layout` detects the format, and `window` cuts the text into
//! records at the ends that `boundary` finds (`parquet` and `hdf5` have their own records). `known` and `profile`
//! assign meanings to columns, `structure_column` and `column_styles` look at their values, `row` sorts a record's
//! fields, `offers` parses them, and `reading` runs this on all cores in the file's order. Callers that need no offers use `records`.

mod batch_reader;
mod boundary;
mod column_styles;
mod decimal_marks;
mod error;
mod file_format;
mod hdf5;
mod inchikey;
mod json;
mod known_profiles;
mod meaning;
mod numbered;
mod offers;
mod opening;
mod parquet;
mod profile;
mod record_source;
mod records;
mod row;
mod sdf;
mod source;
mod stock;
mod structure_column;
mod text;
mod window;

pub use self::{
    batch_reader::{BatchReader, EntryBatch},
    error::FileReadError,
    file_format::FileFormat,
    inchikey::KnownKeys,
    meaning::{Meaning, UnknownMeaning},
    opening::{FileDescription, OpenedFile, Options, open},
    profile::{Column, ColumnProfile, HeaderError, ProfileError},
    records::{Record, Records},
    source::{Compression, ReadInput},
    window::MAX_RECORD_BYTES,
};
