//! Rules for the whole repository, checked against its files and `cargo metadata`.

#![allow(clippy::unwrap_used, reason = "a repository that cannot be read is a failed test")]

mod architecture;
mod comments;
mod documents;
mod imports;
mod names;
mod security;
mod tables;
