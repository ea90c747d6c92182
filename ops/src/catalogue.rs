//! Changes of the catalogue by commands: vendors' files become building blocks and offers.
//!
//! `catalogue::read` parses `files` to offers, and `catalogue_tables` has the SQL. An invalid record is reported with
//! its line and left out; the others load. Each change has its line in the audit log.

pub(crate) mod common;
pub(crate) mod difference;
mod entry_structures;
mod files;
pub(crate) mod import;
mod report;
pub(crate) mod stock_list;
pub(crate) mod vendors;

pub use files::CatalogueImport;
pub use import::{import, known_keys, try_out};

/// Notes that a command waits for another one that changes the catalogue.
fn note_waiting() {
    crate::terminal::note("another command changes the catalogue: waiting for its end");
}
