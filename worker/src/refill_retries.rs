//! Retries of refilling while the database fails: one line in the log, and growing pauses.

use std::{fmt::Display, time::Duration};

use tracing::{debug, info, warn};

/// Pause after the database failed or refused molecules, doubled each time: a full disk does not empty itself.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(60);

/// Failures in a row of refilling.
#[derive(Debug)]
pub(crate) struct RefillRetries {
    /// Name of the reservoir, for the log.
    reservoir: &'static str,
    failures: u32,
}

impl RefillRetries {
    /// Creates the state before the first failure; `reservoir` is for the log, as in "the reservoir".
    pub(crate) fn new(reservoir: &'static str) -> Self {
        Self { reservoir, failures: 0 }
    }

    /// Counts and logs a failure, and returns the pause before the next attempt.
    pub(crate) fn failed(&mut self, fault: &impl Display) -> Duration {
        let reservoir = self.reservoir;
        // Logged once: a disk may be full for days.
        match self.failures {
            0 => warn!("could not refill {reservoir}; retrying: {fault}"),
            _ => debug!("could not refill {reservoir}: {fault}"),
        }
        let pause = FIRST_PAUSE.saturating_mul(1 << self.failures.min(10)).min(MAX_PAUSE);
        self.failures += 1;
        pause
    }

    /// Ends the failures, if there were any.
    pub(crate) fn succeeded(&mut self) {
        if self.failures > 0 {
            info!("{} is refilled again", self.reservoir);
            self.failures = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_minute_until_an_attempt_succeeds() {
        let mut retries = RefillRetries::new("the reservoir");

        let pauses: Vec<_> = (0..8).map(|_| retries.failed(&"no disk").as_secs()).collect();
        retries.succeeded();

        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(retries.failed(&"no disk").as_secs(), 1);
    }
}
