//! Tests of the crate's public API in one binary. `toy` makes the packs that they need.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its stage has failed")]

mod conditions;
mod forward;
mod packs;
mod parts;
mod reference;
mod sampling;
mod shipped;
mod toy;
