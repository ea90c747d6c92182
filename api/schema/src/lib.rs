//! Database schema: the embedded migrations, their application, and the wait for a database that has them.
//!
//! The API and the workers need no right to change the schema and never change it. They wait ([`wait`]) until a role
//! with that right has run `retort-api migrate` ([`migrate`]). A database may be newer than a binary: migrations work
//! with the previous code, and a released one never changes (`migrations/released.txt`). So an older process can
//! restart on a newer schema.

mod migrations;
mod wait;

pub use migrations::{MIGRATIONS, MigrateError, migrate, pending};
pub use wait::{DatabaseUnusable, Missing, wait};
