//! Readers of vendors' files: from bytes to offers.
//!
//! Each layer has its own file. `source` decompresses, `layout` detects the format, and `window` cuts the text into
//! records at the ends that `boundary` finds (`parquet` and `hdf5` have their own records). `known` and `profile`
//! assign meanings to columns, `row` sorts a record's fields, `offers` parses them, and `reading` runs this on all
//! cores in the file's order. Callers that need no offers use `records`.

mod boundary;
mod cutter;
mod error;
mod hdf5;
mod inchikey;
mod json;
mod known;
mod layout;
mod meaning;
mod offers;
mod opening;
mod parquet;
mod profile;
mod reading;
mod records;
mod row;
mod sdf;
mod source;
mod stock;
mod text;
mod window;

pub use self::{
    error::ReadError,
    inchikey::KnownKeys,
    layout::Format,
    meaning::{Meaning, NotAMeaning},
    opening::{Opened, Options, Outline, open},
    profile::{Column, HeaderError, Profile, ProfileError},
    reading::{Batch, Reading},
    records::{Record, Records},
    source::{Compression, Input},
    window::LIMIT,
};
