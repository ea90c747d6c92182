//! Waiters of this process for the outcomes of jobs.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::Notify;

/// Waiters by job id; one listening connection wakes them all.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    by_job: Mutex<HashMap<String, Arc<Waiter>>>,
}

/// A waiter.
#[derive(Debug, Default)]
pub(crate) struct Waiter {
    woken: Notify,
    outcome: Mutex<Option<String>>,
}

impl Waiter {
    /// Waits until there is something to read.
    pub(crate) async fn woken(&self) {
        self.woken.notified().await;
    }

    /// Takes the outcome, if it came with the notification.
    pub(crate) fn take_outcome(&self) -> Option<String> {
        self.outcome.lock().take()
    }
}

impl Waiters {
    /// Wakes the waiter for the job `id`, now or at its next wait.
    pub(crate) fn wake(&self, id: &str) {
        if let Some(waiter) = self.by_job.lock().get(id) {
            waiter.woken.notify_one();
        }
    }

    /// Delivers an outcome to the waiter: `message` is the id, a space, and the outcome.
    pub(crate) fn notify(&self, message: &str) {
        let Some((id, outcome)) = message.split_once(' ') else { return };
        if let Some(waiter) = self.by_job.lock().get(id) {
            *waiter.outcome.lock() = Some(outcome.to_owned());
            waiter.woken.notify_one();
        }
    }

    /// Wakes all waiters, since notifications may have been lost.
    pub(crate) fn wake_all(&self) {
        for waiter in self.by_job.lock().values() {
            waiter.woken.notify_one();
        }
    }

    /// Registers a waiter for the job `id`.
    pub(crate) fn register(&self, id: String) -> Arc<Waiter> {
        let waiter = Arc::<Waiter>::default();
        self.by_job.lock().insert(id, Arc::clone(&waiter));
        waiter
    }

    /// Removes the waiter for the job `id`.
    pub(crate) fn remove(&self, id: &str) {
        self.by_job.lock().remove(id);
    }
}
