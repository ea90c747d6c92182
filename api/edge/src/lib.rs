//! The edge of the service: how a request is read within its bounds, and how it fails in the contract's shape.
//!
//! The lowest layer of the HTTP process: it knows no state, and everything that answers requests stands on it.

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

mod deadline;
mod error;
mod request;

pub use deadline::{Deadline, in_time};
pub use error::{ApiError, Challenge, whole_seconds, with_header};
pub use request::{MAX_BODY, body, json_body_up_to, query_pairs};
