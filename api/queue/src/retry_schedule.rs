//! Retry-after schedule for refused callers.
//!
//! If many callers are given one time, all come back at that time, and all but the first are refused again. So each
//! caller gets a time by which the earlier ones have been served. Each process keeps the schedule for its own callers
//! only, so several processes give times that are rather too early than too late.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Longest retry-after that is given; a client that is asked to wait longer does not come back.
const LONGEST: Duration = Duration::from_secs(120);

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
    pub(crate) fn keep(&self, queue: &str, account_id: &str) {
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
        let wait = Duration::try_from_secs_f64(wait).unwrap_or(LONGEST);
        if wait < LONGEST {
            let account_id = account_id.to_owned();
            all.push(ScheduledRetry { queue, account_id, at: now + wait, seconds: refused.seconds });
        }
        wait.clamp(SHORTEST, LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSED: RefusedJob = RefusedJob { seconds: 4.0, admitted_in: 10.0, slots: 2.0 };

    #[test]
    fn each_of_a_crowd_is_told_another_time() {
        let appointments = RetrySchedule::default();

        let told: Vec<_> = ["a", "b", "c"].map(|who| appointments.make("search", who, REFUSED)).into();
        let other_queue = appointments.make("sample", "a", REFUSED);

        assert_eq!(told, [10, 12, 14].map(Duration::from_secs));
        assert_eq!(other_queue, Duration::from_secs(10));
    }

    #[test]
    fn who_is_back_holds_up_nobody() {
        let appointments = RetrySchedule::default();
        let _ = appointments.make("search", "a", REFUSED);
        let _ = appointments.make("search", "b", REFUSED);

        appointments.keep("search", "a");

        assert_eq!(appointments.make("search", "c", REFUSED), Duration::from_secs(12));
    }

    #[test]
    fn nobody_is_told_to_wait_for_minutes_or_for_no_time() {
        let appointments = RetrySchedule::default();
        let of = |admitted_in| appointments.make("search", "a", RefusedJob { admitted_in, ..REFUSED });

        assert_eq!((of(1e9), of(f64::INFINITY), of(0.0)), (LONGEST, LONGEST, SHORTEST));
    }
}
