//! When those who were refused are to come back.
//!
//! A crowd that is told one time comes back at that time, and all but the first are refused again. So each is told the time at
//! which those told before have had theirs. It is kept by each process for its own callers: several tell too early rather
//! than too late.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The longest that anybody is told to wait; who is told more does not come back.
const LONGEST: Duration = Duration::from_secs(120);

/// The shortest.
const SHORTEST: Duration = Duration::from_secs(1);

/// Who is to come back to which queue, with how many seconds of work.
#[derive(Debug, Default)]
pub(crate) struct Appointments(Mutex<Vec<Appointment>>);

#[derive(Debug)]
struct Appointment {
    queue: &'static str,
    account_id: String,
    at: Instant,
    seconds: f64,
}

/// What a refused job is, and what stands before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Refused {
    /// Seconds of a slot that it is expected to take.
    pub(crate) seconds: f64,
    /// Seconds until it would be taken if nothing else came.
    pub(crate) admitted_in: f64,
    /// Slots that may take it.
    pub(crate) slots: f64,
}

impl Appointments {
    /// The account is back, early or not: it waits for that time no more.
    pub(crate) fn keep(&self, queue: &str, account_id: &str) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = |one: &Appointment| one.queue == queue && one.account_id == account_id;
        if let Some(first) = all.iter().position(kept) {
            all.remove(first);
        }
    }

    /// In how long the account is to come back.
    pub(crate) fn make(&self, queue: &'static str, account_id: &str, refused: Refused) -> Duration {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        all.retain(|one| one.at > now);
        let before: f64 = all.iter().filter(|one| one.queue == queue).map(|one| one.seconds).sum();
        let wait = refused.admitted_in + before / refused.slots.max(1.0);
        let wait = Duration::try_from_secs_f64(wait).unwrap_or(LONGEST);
        if wait < LONGEST {
            let account_id = account_id.to_owned();
            all.push(Appointment { queue, account_id, at: now + wait, seconds: refused.seconds });
        }
        wait.clamp(SHORTEST, LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSED: Refused = Refused { seconds: 4.0, admitted_in: 10.0, slots: 2.0 };

    #[test]
    fn each_of_a_crowd_is_told_another_time() {
        let appointments = Appointments::default();

        let told: Vec<_> = ["a", "b", "c"].map(|who| appointments.make("search", who, REFUSED)).into();
        let other_queue = appointments.make("sample", "a", REFUSED);

        assert_eq!(told, [10, 12, 14].map(Duration::from_secs));
        assert_eq!(other_queue, Duration::from_secs(10));
    }

    #[test]
    fn who_is_back_holds_up_nobody() {
        let appointments = Appointments::default();
        let _ = appointments.make("search", "a", REFUSED);
        let _ = appointments.make("search", "b", REFUSED);

        appointments.keep("search", "a");

        assert_eq!(appointments.make("search", "c", REFUSED), Duration::from_secs(12));
    }

    #[test]
    fn nobody_is_told_to_wait_for_minutes_or_for_no_time() {
        let appointments = Appointments::default();
        let of = |admitted_in| appointments.make("search", "a", Refused { admitted_in, ..REFUSED });

        assert_eq!((of(1e9), of(f64::INFINITY), of(0.0)), (LONGEST, LONGEST, SHORTEST));
    }
}
