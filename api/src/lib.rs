//! The HTTP process: checks who asks and what is asked, hands the work to the queue, awaits its outcome.
//!
//! It links neither candle nor the search. Chemistry is here only to parse a target at the edge, so that a
//! request which cannot be searched is refused with its place before a job exists. [`app::router`] is the
//! whole service as one value; `serve` and the tests run the same one.

// Nothing that a stranger wrote ends a request by a panic, or becomes another number.
#![cfg_attr(
    not(test),
    warn(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        clippy::indexing_slicing,
        clippy::string_slice
    )
)]

mod access;
pub mod app;
mod checks;
pub mod config;
pub mod connections;
mod console;
mod crowd;
mod deadline;
mod docs;
mod door;
mod embedded;
mod endpoints;
mod engine_answer;
mod examples;
mod fields;
pub mod front;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod gauges;
mod gzip;
mod idempotency;
mod jobs;
mod keep;
mod limits;
mod observe;
mod openapi;
mod pool;
mod prefer;
mod quota;
mod retention;
pub mod server;
mod streams;
mod words;

pub use gauges::gauges;
pub use openapi::document;
pub use pool::connect;
pub use retention::retention;
