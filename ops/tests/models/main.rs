//! Tests of the program `retort model`: with models that ship, with broken ones, and with models that others publish.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its stage has failed")]

mod aizynth;
mod layout;
mod reinvent;
mod stage;
mod train;
