//! What a worker does with each kind of job.

mod plan;
mod sample;
mod search;

use std::time::Duration;

use contract::Problem;

pub use plan::Plans;
pub use sample::{Sampling, draw};
pub use search::{Search, search};

/// How long an act of a handler may wait for the database before its attempt has failed.
const DATABASE: Duration = Duration::from_secs(30);

/// How a computation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended<T> {
    /// With what was wanted.
    Done(T),
    /// With a reason why there is nothing.
    Refused(Problem),
    /// Early, because the caller left.
    Cancelled,
}
