//! Number of ready molecules of each model that a sampler serves, kept up to date within the process.
//!
//! They are counted every second, since other processes take and refill too. Changes by this process are added
//! immediately.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use sqlx::PgPool;
use tokio::sync::watch;
use tracing::debug;

use crate::{ModelRegistry, reservoir, resources::LoadedModel};

/// Interval of counting.
const COUNT: Duration = Duration::from_secs(1);

/// Ready molecules by model; clones share them.
#[derive(Debug, Clone)]
pub struct ReadyCounts(watch::Sender<BTreeMap<String, usize>>);

impl Default for ReadyCounts {
    fn default() -> Self {
        Self(watch::Sender::new(BTreeMap::new()))
    }
}

impl ReadyCounts {
    /// Returns the counts of the served versions, now and later; a model that has not been counted yet is absent.
    #[must_use]
    pub fn subscribe(&self) -> watch::Receiver<BTreeMap<String, usize>> {
        self.0.subscribe()
    }

    /// Adds molecules of `model` to the last count.
    pub(crate) fn more(&self, model: &LoadedModel, molecules: usize) {
        self.change(model, |count| count.saturating_add(molecules));
    }

    /// Subtracts molecules of `model` from the last count.
    pub(crate) fn fewer(&self, model: &LoadedModel, molecules: usize) {
        self.change(model, |count| count.saturating_sub(molecules));
    }

    fn change(&self, model: &LoadedModel, change: impl FnOnce(usize) -> usize) {
        self.0.send_if_modified(|counts| {
            let Some(count) = counts.get_mut(model.id()) else { return false };
            let before = std::mem::replace(count, change(*count));
            *count != before
        });
    }

    /// Counts until dropped, and may be restarted.
    pub async fn poll(self, pool: PgPool, registry: Arc<ModelRegistry>) {
        loop {
            match reservoir::levels(&pool).await {
                Ok(levels) => {
                    let models = registry.models();
                    let counts = models.iter().map(|model| (model.id().to_owned(), levels.of(model)));
                    self.set(counts.collect());
                }
                // The queue's heartbeats fail too, and log the error.
                Err(fault) => debug!("could not count the ready molecules: {fault}"),
            }
            tokio::time::sleep(COUNT).await;
        }
    }

    /// Replaces the last counts.
    pub(crate) fn set(&self, counted: BTreeMap<String, usize>) {
        self.0.send_if_modified(|counts| {
            let changed = *counts != counted;
            *counts = counted;
            changed
        });
    }
}
