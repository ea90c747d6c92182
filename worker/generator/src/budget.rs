//! Deadline and cancellation of a caller.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

/// Limits that stop a computation before it is done.
#[derive(Debug, Clone, Default)]
pub struct SampleBudget {
    /// Instant after which the answer is no longer needed.
    pub deadline: Option<Instant>,
    /// Cancellation flag.
    pub cancelled: Arc<AtomicBool>,
}

impl SampleBudget {
    /// Returns a budget without limits.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::default()
    }

    /// Returns true if the computation has to stop now.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}
