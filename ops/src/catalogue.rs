//! Loading what can be bought: vendors' files become building blocks and offers.
//!
//! `catalogue::read` makes offers of `files`, `load` has the SQL, and `import` brings the one to the other. A record that makes no
//! sense is reported with its line and left out; the others load.

pub(crate) mod common;
pub(crate) mod difference;
pub(crate) mod export;
mod files;
pub(crate) mod import;
pub(crate) mod load;
pub(crate) mod look;
mod report;
pub(crate) mod vendors;
pub(crate) mod verify;

pub use files::Import;
pub use import::{import, known_keys, try_out};
pub use look::info;
