//! Tests of the rules on tables of steps. The templates of the search say what happens in a step.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may stop and report")]

mod steps;

/// The same allocator as in the worker.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
