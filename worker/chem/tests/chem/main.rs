//! Chemistry tests against RDKit.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may stop and report")]

mod extensions;
mod figures;
mod forms;
mod laws;
mod molecules;
mod own_set;
mod properties;
mod salts;
mod shared;
mod templates;
