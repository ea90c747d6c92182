//! How many molecules lie ready of each model that a sampler serves, kept up to date for whoever asks the process.
//!
//! Counted every second, since other processes take and fill as well; what this one does it adds by itself at once.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use sqlx::PgPool;
use tokio::sync::watch;
use tracing::debug;

use crate::{Shelf, reservoir, resources::Model};

/// How often all is counted.
const COUNT: Duration = Duration::from_secs(1);

/// Molecules that lie ready, by model; clones share it.
#[derive(Debug, Clone)]
pub struct Ready(watch::Sender<BTreeMap<String, usize>>);

impl Default for Ready {
    fn default() -> Self {
        Self(watch::Sender::new(BTreeMap::new()))
    }
}

impl Ready {
    /// The counts of the versions that are served, now and later; a model that has not been counted yet is absent.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<BTreeMap<String, usize>> {
        self.0.subscribe()
    }

    /// So many more of `model` lie ready than were counted.
    pub(crate) fn more(&self, model: &Model, molecules: usize) {
        self.change(model, |count| count.saturating_add(molecules));
    }

    /// So many fewer of `model` lie ready than were counted.
    pub(crate) fn fewer(&self, model: &Model, molecules: usize) {
        self.change(model, |count| count.saturating_sub(molecules));
    }

    fn change(&self, model: &Model, change: impl FnOnce(usize) -> usize) {
        self.0.send_if_modified(|counts| {
            let Some(count) = counts.get_mut(model.id()) else { return false };
            let before = std::mem::replace(count, change(*count));
            *count != before
        });
    }

    /// Counts until dropped, and may begin again.
    pub async fn keep_up(self, pool: PgPool, shelf: Arc<Shelf>) {
        loop {
            match reservoir::levels(&pool).await {
                Ok(levels) => {
                    let models = shelf.models();
                    let counts = models.iter().map(|model| (model.id().to_owned(), levels.of(model)));
                    self.set(counts.collect());
                }
                // The queue's beats, which fail with it, say so.
                Err(fault) => debug!("could not count what lies ready: {fault}"),
            }
            tokio::time::sleep(COUNT).await;
        }
    }

    fn set(&self, counted: BTreeMap<String, usize>) {
        self.0.send_if_modified(|counts| {
            let changed = *counts != counted;
            *counts = counted;
            changed
        });
    }
}
