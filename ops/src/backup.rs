//! Backups of an installation: a folder with the database, the model packs that were imported, and a manifest of both.
//!
//! PostgreSQL's own `pg_dump` and `pg_restore` read and write the database. A backup is there whole or not at all: it is made under
//! another name and moved into place. A restore is one transaction with all that goes with it: whatever fails, the database stays as
//! it was. What is worth something only while it happens (jobs, leases, who is alive, molecules that lie ready) is left out.

mod client;
mod dump;
mod manifest;
mod packs;
mod parts;
mod restore;

pub use dump::back_up;
pub use manifest::Manifest;
pub use restore::{State, restore, state};
