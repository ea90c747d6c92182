//! The edge of the service: how a request is read within its bounds, and how it fails in the contract's shape.
//!
//! The lowest layer of the HTTP process: it knows no state, and everything that answers requests stands on it.

mod deadline;
mod error;
mod request;

pub use deadline::{Deadline, in_time};
pub use error::{ApiError, Challenge, whole_seconds, with_header};
pub use request::{MAX_BODY, body, json_body_up_to, query_pairs};
