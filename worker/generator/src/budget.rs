//! How long a caller is willing to wait.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

/// What ends a piece of work before it is done.
#[derive(Debug, Clone, Default)]
pub struct Budget {
    /// The instant after which nobody waits for the answer.
    pub deadline: Option<Instant>,
    /// Set by whoever gives the work up.
    pub cancelled: Arc<AtomicBool>,
}

impl Budget {
    /// A budget that never ends.
    #[must_use]
    pub fn unlimited() -> Self {
        Self::default()
    }

    /// Says whether to stop now.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}
