//! Retry-after schedule for refused callers.
//!
//! If many callers are given one time, all come back at that time, and all but the first are refused again. So each
//! caller gets a time by which the earlier ones have been served. Each process keeps the schedule for its own callers
//! only, so several processes give times that are rather too early than too late.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Longest retry-after that is given; a client that is asked to wait longer does not come back.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(120);

/// Shortest retry-after.
const SHORTEST: Duration = Duration::from_secs(1);

/// Accounts that are to come back, with their queue and the seconds of work that each brings.
#[derive(Debug, Default)]
pub(crate) struct RetrySchedule(Mutex<Vec<ScheduledRetry>>);

#[derive(Debug)]
struct ScheduledRetry {
    queue: &'static str,
    account_id: String,
    at: Instant,
    seconds: f64,
}

/// A refused job and the load ahead of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RefusedJob {
    /// Expected duration, in slot seconds.
    pub(crate) seconds: f64,
    /// Seconds until it would be admitted if no other job came.
    pub(crate) admitted_in: f64,
    /// Slots that can run the job.
    pub(crate) slots: f64,
}

impl RetrySchedule {
    /// Removes the entry of an account that has come back, early or not.
    pub(crate) fn remove(&self, queue: &str, account_id: &str) {
        let mut all = self.0.lock();
        let kept = |one: &ScheduledRetry| one.queue == queue && one.account_id == account_id;
        if let Some(first) = all.iter().position(kept) {
            all.remove(first);
        }
    }

    /// Schedules the account's return and returns the wait until then.
    pub(crate) fn make(&self, queue: &'static str, account_id: &str, refused: RefusedJob) -> Duration {
        let mut all = self.0.lock();
        let now = Instant::now();
        all.retain(|one| one.at > now);
        let before: f64 = all.iter().filter(|one| one.queue == queue).map(|one| one.seconds).sum();
        let wait = refused.admitted_in + before / refused.slots.max(1.0);
        let wait = Duration::try_from_secs_f64(wait).unwrap_or(MAX_RETRY_AFTER);
        if wait < MAX_RETRY_AFTER {
            let account_id = account_id.to_owned();
            all.push(ScheduledRetry { queue, account_id, at: now + wait, seconds: refused.seconds });
        }
        wait.clamp(SHORTEST, MAX_RETRY_AFTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSED: RefusedJob = RefusedJob { seconds: 4.0, admitted_in: 10.0, slots: 2.0 };

    #[test]
    fn concurrent_refused_callers_get_different_times() {
        let schedule = RetrySchedule::default();

        let retry_afters: Vec<_> = ["a", "b", "c"].map(|who| schedule.make("search", who, REFUSED)).into();
        let other_queue = schedule.make("sample", "a", REFUSED);

        assert_eq!(retry_afters, [10, 12, 14].map(Duration::from_secs));
        assert_eq!(other_queue, Duration::from_secs(10));
    }

    #[test]
    fn a_returning_caller_delays_nobody() {
        let schedule = RetrySchedule::default();
        let _ = schedule.make("search", "a", REFUSED);
        let _ = schedule.make("search", "b", REFUSED);

        schedule.remove("search", "a");

        assert_eq!(schedule.make("search", "c", REFUSED), Duration::from_secs(12));
    }

    #[test]
    fn a_retry_after_is_neither_zero_nor_minutes() {
        let schedule = RetrySchedule::default();
        let of = |admitted_in| schedule.make("search", "a", RefusedJob { admitted_in, ..REFUSED });

        assert_eq!((of(1e9), of(f64::INFINITY), of(0.0)), (MAX_RETRY_AFTER, MAX_RETRY_AFTER, SHORTEST));
    }
}
