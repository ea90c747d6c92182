//! Rules that hold for the whole repository, read from its files and from `cargo metadata`.

#![allow(clippy::unwrap_used, reason = "a repository that cannot be read is a failed test")]

mod architecture;
mod documents;
mod imports;
mod security;
mod tables;
