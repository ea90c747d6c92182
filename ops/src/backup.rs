//! Backups of an installation: a folder with the database, the imported model packs, and a manifest of both.
//!
//! PostgreSQL's own `pg_dump` and `pg_restore` read and write the database. A backup is complete or absent: it is
//! written under a temporary name and moved into place. A restore is one transaction, so any failure leaves the
//! database as it was. Data of passing value (jobs, leases, live processes, precomputed molecules) is left out.

mod client;
mod dump;
mod manifest;
mod packs;
mod parts;
mod restore;

pub use dump::back_up;
pub use manifest::Manifest;
pub use restore::{DatabaseState, restore, state};
