//! Errors of reading a file.

use std::io;

use super::profile::{HeaderError, ProfileError};

/// Reason why a file cannot be read, or not to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named in the docs of their variants")]
pub enum FileReadError {
    /// The file `name` cannot be opened.
    #[error("opening {name}: {source}")]
    Open { name: String, source: io::Error },
    /// The file `name` is truncated or its compression is corrupt, after line (or key) `at`.
    #[error("reading {name} at about line {at}: {source}")]
    Broken { name: String, at: u64, source: io::Error },
    /// The file `name` is empty.
    #[error("{name} is empty")]
    Empty { name: String },
    /// The file `name` is UTF-16.
    #[error("{name} is UTF-16: save it as UTF-8")]
    Utf16 { name: String },
    /// The extension of the file `name` does not match its content.
    #[error("{name} is not a valid {format} file")]
    NotWhatItIsCalled { name: String, format: &'static str },
    /// The file `name` is a Parquet table, which has its own compression and must not be compressed again.
    #[error("{name} is a packed Parquet table: unpack it first")]
    PackedTable { name: String },
    /// The Parquet table `name` cannot be read.
    #[error("reading {name}: {reason}")]
    Parquet { name: String, reason: String },
    /// The file `name` contains no InChIKey.
    #[error("no InChIKey in {name}; a stock that was written with `complib` must be written without")]
    NoKeys { name: String },
    /// The columns of the file `name` cannot be used.
    #[error("{name}: {source}")]
    Header { name: String, source: HeaderError },
    /// The given profile is invalid.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A reader thread panicked; its message is on standard error.
    #[error("reading stopped at an internal error of the reader")]
    Panicked,
}
