//! Why a file cannot be read.

use std::io;

use super::profile::{HeaderError, ProfileError};

/// Why a file cannot be read, or no further.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "fields are named in the docs of their variants")]
pub enum ReadError {
    /// The file `name` cannot be opened.
    #[error("opening {name}: {source}")]
    Open { name: String, source: io::Error },
    /// The file `name` ends too soon or is packed wrongly, after line (or key) `at`.
    #[error("reading {name} at about line {at}: {source}")]
    Broken { name: String, at: u64, source: io::Error },
    /// There is nothing in the file `name`.
    #[error("{name} is empty")]
    Empty { name: String },
    /// The file `name` is UTF-16.
    #[error("{name} is UTF-16: save it as UTF-8")]
    Utf16 { name: String },
    /// The file `name` is called what its bytes are not.
    #[error("{name} is no {format} file")]
    NotWhatItIsCalled { name: String, format: &'static str },
    /// The file `name` is a table, which is packed within and must not be packed again.
    #[error("{name} is a packed Parquet table: unpack it first")]
    PackedTable { name: String },
    /// The table `name` cannot be read.
    #[error("reading {name}: {reason}")]
    Parquet { name: String, reason: String },
    /// There is no InChIKey in the file `name`.
    #[error("no InChIKey in {name}; a stock that was written with `complib` must be written without")]
    NoKeys { name: String },
    /// The columns of the file `name` cannot be used.
    #[error("{name}: {source}")]
    Header { name: String, source: HeaderError },
    /// The profile given makes no sense.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A thread of the reader panicked; its message is on standard error.
    #[error("reading broke off by a fault of the reader")]
    Panicked,
}
