//! Tests of the queue against a real PostgreSQL. One program, since each takes half a minute to compile.

#![allow(clippy::unwrap_used, reason = "a test that cannot set up its stage has failed")]

mod background;
mod events;
mod fairness;
mod faults;
mod jobs;
mod operations;
mod routing;
mod support;
