//! Listeners of this process for events of jobs, any number of them for each job.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::sync::watch;

/// All listeners; one database connection notifies them.
#[derive(Debug, Default)]
pub(crate) struct JobListeners {
    by_job: Mutex<HashMap<String, watch::Sender<()>>>,
}

/// One listener, until dropped.
#[derive(Debug)]
pub(crate) struct JobListener {
    listeners: Arc<JobListeners>,
    id: String,
    /// `None` while it is being dropped.
    changes: Option<watch::Receiver<()>>,
}

impl JobListeners {
    /// Returns a listener for events of the job `id` from now on.
    pub(crate) fn open(self: &Arc<Self>, id: String) -> JobListener {
        let changes =
            self.by_job.lock().entry(id.clone()).or_insert_with(|| watch::Sender::new(())).subscribe();
        JobListener { listeners: Arc::clone(self), id, changes: Some(changes) }
    }

    /// Notifies the listeners of the job `id`.
    pub(crate) fn notify(&self, id: &str) {
        if let Some(listeners) = self.by_job.lock().get(id) {
            listeners.send_replace(());
        }
    }

    /// Notifies all listeners, since any event may have been missed.
    pub(crate) fn notify_all(&self) {
        for listeners in self.by_job.lock().values() {
            listeners.send_replace(());
        }
    }
}

impl JobListener {
    /// Waits until something has happened since the last time, `timeout` at most.
    pub(crate) async fn wait_for_change(&mut self, timeout: Duration) {
        let Some(changes) = &mut self.changes else { return };
        // The sender lives as long as this listener.
        let _ = tokio::time::timeout(timeout, changes.changed()).await;
    }
}

impl Drop for JobListener {
    fn drop(&mut self) {
        self.changes = None;
        let mut by_job = self.listeners.by_job.lock();
        if by_job.get(&self.id).is_some_and(watch::Sender::is_closed) {
            by_job.remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn all_listeners_are_notified_and_dropped_ones_leave_nothing() {
        let listeners = Arc::<JobListeners>::default();
        let (mut one, mut other) = (listeners.open("job".to_owned()), listeners.open("job".to_owned()));

        listeners.notify("job");
        listeners.notify("another");

        one.wait_for_change(LONG).await;
        other.wait_for_change(LONG).await;
        drop(one);
        listeners.notify_all();
        other.wait_for_change(LONG).await;
        drop(other);
        assert!(listeners.by_job.lock().is_empty());
    }
}
