//! Loading what can be bought: vendors' files become building blocks and offers.
//!
//! `catalogue::read` makes offers of `files`, `load` has the SQL, and `import` brings the one to the other. A record that makes no
//! sense is reported with its line and left out; the others load.

mod files;
pub(crate) mod import;
pub(crate) mod load;
mod report;

pub use files::Import;
pub use import::{import, known_keys, try_out};
pub use load::info;
