//! The database's schema: the migrations that this binary knows, their applying, and the wait for a database that has them.
//!
//! Who serves or works needs no right to change the schema and never does: it waits ([`wait`]) until somebody who has that right
//! has run `retort-api migrate` ([`migrate`]). A database may be further than a binary: migrations work with the code before
//! them, and a released one never changes (`migrations/released.txt`), so an older process starts again beside a newer schema.

mod migrations;
mod wait;

pub use migrations::{MIGRATIONS, MigrateError, migrate, pending};
pub use wait::{Missing, Unusable, wait};
