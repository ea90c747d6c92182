//! For how long things are kept.
//!
//! What a caller sees of a sample that went for its age is what it sees of one that never was. Only a list goes on: who pages through
//! it holds the id of the last sample that it saw, and all that lay behind that one is gone as well, or will be.

use std::time::{Duration, SystemTime};

use contract::SampleId;

/// For how long things are kept; `None` is for ever.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Keep {
    /// Samples, since they were stored.
    pub samples: Option<Duration>,
    /// Plans that have ended, and batches with theirs, since they were asked for.
    pub plans: Option<Duration>,
    /// Lines of the operators' journal.
    pub journal: Option<Duration>,
    /// Prices that offers of the catalogue had, since they were said to be others.
    pub prices: Option<Duration>,
}

impl Keep {
    /// Whether a sample of this id, if there was one, is older than what is kept.
    pub(crate) fn has_let_go_of(self, id: &str) -> bool {
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
        let keep = |days| Keep { samples: Some(days * DAY), ..Keep::default() };
        let old = "smp_01arz3ndektsv4rrffq69g5fav"; // of 2016
        let new = SampleId::generate().to_string();

        assert!(keep(30).has_let_go_of(old));
        assert!(!keep(30).has_let_go_of(&new));
        assert!(!keep(36500).has_let_go_of(old));
        assert!(!Keep::default().has_let_go_of(old));
        assert!(!keep(30).has_let_go_of("01ARZ3NDEKTSV4RRFFQ69G5FAV"));
    }
}
