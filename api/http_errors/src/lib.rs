//! Request parsing within limits, and HTTP errors in the contract's shape.
//!
//! The lowest layer of the HTTP process: it holds no state, and all request handlers depend on it.

// No input from outside may cause a panic or be silently turned into another number.
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

mod deadline;
mod error;
mod request;

pub use deadline::{Deadline, enforce_deadline};
pub use error::{ApiError, Challenge, whole_seconds, with_header};
pub use request::{MAX_BODY, body, json_body_up_to, query_pairs};
