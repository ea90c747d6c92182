//! What a worker does with each kind of job.

mod sample;
mod search;

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use contract::Problem;

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

/// The wall clock's `deadline` on the clock that budgets use.
fn instant(deadline: DateTime<Utc>) -> Instant {
    let left: Duration = (deadline - Utc::now()).to_std().unwrap_or_default();
    Instant::now() + left
}
