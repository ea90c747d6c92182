//! Retention times.
//!
//! To a client, a sample deleted for its age looks like one that never existed. Only paging differs: a cursor may be
//! a deleted sample, and paging still ends correctly, because all samples behind it are deleted too, or will be.

use std::time::{Duration, SystemTime};

use contract::SampleId;

/// Retention times; `None` keeps for ever.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RetentionTimes {
    /// Samples, counted from their storing.
    pub samples: Option<Duration>,
    /// Ended plans, and batches with their plans, counted from the request.
    pub plans: Option<Duration>,
    /// Lines of the operators' audit log.
    pub audit_log: Option<Duration>,
    /// Superseded prices of catalogue offers, counted from their replacement.
    pub prices: Option<Duration>,
}

impl RetentionTimes {
    /// Returns true if a sample with this id, if there was one, is past its retention time.
    pub(crate) fn has_expired(self, id: &str) -> bool {
        let made = id.parse().ok().map(|id: SampleId| id.made_at());
        let oldest = self.samples.and_then(|keep| SystemTime::now().checked_sub(keep));
        made.zip(oldest).is_some_and(|(made, oldest)| made < oldest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 3600);

    #[test]
    fn only_ids_of_samples_that_are_older_than_they_are_kept_are_let_go_of() {
        let keep = |days| RetentionTimes { samples: Some(days * DAY), ..RetentionTimes::default() };
        let old = "smp_01arz3ndektsv4rrffq69g5fav"; // of 2016
        let new = SampleId::generate().to_string();

        assert!(keep(30).has_expired(old));
        assert!(!keep(30).has_expired(&new));
        assert!(!keep(36500).has_expired(old));
        assert!(!RetentionTimes::default().has_expired(old));
        assert!(!keep(30).has_expired("01ARZ3NDEKTSV4RRFFQ69G5FAV"));
    }
}
