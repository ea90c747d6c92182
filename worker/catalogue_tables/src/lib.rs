//! The catalogue in PostgreSQL: vendors, building blocks, offers, earlier prices and the version.
//!
//! This package alone writes these tables, apart from the service's deletion of old prices. Commands import and query
//! them; searchers read them into a snapshot, and read the offers of an answer.

pub mod common;
pub mod difference;
mod error;
pub mod export;
pub mod load;
mod offers;
pub mod query;
mod snapshot_rows;
pub mod structure_changes;
mod vendor_rules;
pub mod vendors;
pub mod verify;

pub use error::CatalogueError;
pub use offers::{Offers, OwnStock, entries, offers_for};
pub use snapshot_rows::{SnapshotReadError, content, read};
pub use vendor_rules::{VendorRules, terms};
