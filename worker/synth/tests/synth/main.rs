//! Tests of the search, its model and its steps. They are one program, because each takes half a minute to compile.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may stop and report")]

mod algorithms;
mod bad_input;
mod constraints;
mod drugs;
mod events;
mod forwards;
mod isotopes;
mod kit;
mod model;
mod one_step;
mod search;
mod toy;

/// The same allocator as in the worker.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
