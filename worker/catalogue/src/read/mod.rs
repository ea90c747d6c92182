//! Vendors' files read: from bytes to offers.
//!
//! The layers, each in its file: `source` unpacks, `layout` tells the format, `window` cuts the text into records at the ends that
//! `boundary` knows (`parquet` and `hdf5` have records of their own), `known` and `profile` say what columns hold, `row` sorts a record's fields and `offers` understands them,
//! and `reading` does that on all cores in the file's order. Who wants no offers reads `records`.

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
