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
    ears: Arc<JobListeners>,
    id: String,
    /// `None` while it is being dropped.
    heard: Option<watch::Receiver<()>>,
}

impl JobListeners {
    /// Returns a listener for events of the job `id` from now on.
    pub(crate) fn open(self: &Arc<Self>, id: String) -> JobListener {
        let heard =
            self.by_job.lock().entry(id.clone()).or_insert_with(|| watch::Sender::new(())).subscribe();
        JobListener { ears: Arc::clone(self), id, heard: Some(heard) }
    }

    /// Notifies the listeners of the job `id`.
    pub(crate) fn tell(&self, id: &str) {
        if let Some(ears) = self.by_job.lock().get(id) {
            ears.send_replace(());
        }
    }

    /// Notifies all listeners, since any event may have been missed.
    pub(crate) fn tell_all(&self) {
        for ears in self.by_job.lock().values() {
            ears.send_replace(());
        }
    }
}

impl JobListener {
    /// Waits until something has happened since the last time, `patience` at most.
    pub(crate) async fn heard(&mut self, patience: Duration) {
        let Some(heard) = &mut self.heard else { return };
        // The sender lives as long as this listener.
        let _ = tokio::time::timeout(patience, heard.changed()).await;
    }
}

impl Drop for JobListener {
    fn drop(&mut self) {
        self.heard = None;
        let mut by_job = self.ears.by_job.lock();
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
    async fn all_who_listen_hear_and_nothing_is_left_of_those_who_went() {
        let ears = Arc::<JobListeners>::default();
        let (mut one, mut other) = (ears.open("job".to_owned()), ears.open("job".to_owned()));

        ears.tell("job");
        ears.tell("another");

        one.heard(LONG).await;
        other.heard(LONG).await;
        drop(one);
        ears.tell_all();
        other.heard(LONG).await;
        drop(other);
        assert!(ears.by_job.lock().is_empty());
    }
}
