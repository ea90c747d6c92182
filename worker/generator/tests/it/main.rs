//! Tests of the crate's public face, in one binary: the packs that they need are made by `toy`.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its stage has failed")]

mod forward;
mod packs;
mod reference;
mod sampling;
mod shipped;
mod toy;
