//! Loading the catalogue: vendors' files become building blocks and offers.
//!
//! `catalogue::read` parses `files` to offers, `load` has the SQL, and `import` connects the two. An invalid record
//! is reported with its line and left out; the others load.

pub(crate) mod common;
pub(crate) mod difference;
pub(crate) mod export;
mod files;
pub(crate) mod import;
pub(crate) mod load;
pub(crate) mod query;
mod report;
pub(crate) mod vendors;
pub(crate) mod verify;

pub use files::Import;
pub use import::{import, known_keys, try_out};
pub use query::info;
