//! Whom a job is for.

use std::time::Duration;

/// Whom a job is for, and what he may ask of the queue.
#[derive(Debug, Clone, Copy)]
pub struct Caller<'a> {
    /// The account: accounts share the workers.
    pub account_id: &'a str,
    /// How long he waits for the outcome.
    pub patience: Duration,
    /// The most jobs of one queue that the account may have in flight; `None`: any number.
    pub most_in_flight: Option<u32>,
}
