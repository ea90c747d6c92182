//! Loading what can be bought: a vendor's file becomes building blocks and offers.
//!
//! A file is read as it is: comma or tab, gzip or not, by the field names of the contract. A row that
//! makes no sense is reported with its line and left out; the others load. `columns` reads the header,
//! `entry` a row, `price` its price, `import` drives, `load` has the SQL.

pub(crate) mod columns;
pub(crate) mod entry;
pub(crate) mod import;
pub(crate) mod load;
mod price;
mod report;

pub use import::{Import, import};
pub use load::info;
