//! HTTP process: authenticates and validates requests, submits the work to the queue and awaits its outcome.
//!
//! The process links neither candle nor the search. Chemistry is used only to parse a target while the request is
//! parsed. So an invalid target is refused with its location before a job exists. [`app::router`] is the whole
//! service as one value; `serve` and the tests run the same one.

// No input from outside may cause a panic or a silent numeric conversion.
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
mod answer_shape;
pub mod app;
mod body_validation;
mod concurrency_limit;
pub mod config;
mod connection_limiter;
pub mod connections;
mod console;
mod deadline;
mod docs;
mod embedded;
mod endpoints;
mod engine_answer;
mod examples;
mod fields;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod gauges;
mod gzip;
mod idempotency;
mod jobs;
pub mod lifecycle;
mod limits;
mod observe;
mod openapi;
mod operation;
mod pool;
mod prefer;
mod quota;
mod retention;
mod retention_times;
pub mod server;
mod streams;
mod word_pattern;

pub use app::document;
pub use gauges::gauges;
pub use pool::connect;
pub use retention::retention;
