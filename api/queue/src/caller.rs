//! Caller of a job.

use std::time::Duration;

/// Caller of a job and its limits in the queue.
#[derive(Debug, Clone, Copy)]
pub struct JobCaller<'a> {
    /// Account id: accounts share the workers fairly.
    pub account_id: &'a str,
    /// Time that the caller waits for the outcome.
    pub timeout: Duration,
    /// Largest number of jobs of one queue that the account may have in flight; `None`: no limit.
    pub max_in_flight: Option<u32>,
}
