//! `retort model`, the program itself, on models that ship, on broken ones, and on what others publish.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its stage has failed")]

mod aizynth;
mod layout;
mod reinvent;
mod stage;
mod train;
