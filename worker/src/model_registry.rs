//! Model registry of a running sampler, which follows changes of the folders of packs.
//!
//! A pack that is added, changed or removed takes effect within seconds, without a restart. Running jobs keep the
//! model that they started with. A folder that is being written is left alone until two polls in a row see the same
//! state.

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::Result;
use parking_lot::Mutex;
use queue::LiveModel;
use tokio::sync::watch;
use tracing::{info, warn};

use crate::{
    ComputeDevice, Models, compute,
    resources::{FileStamps, stamp},
};

/// Interval at which the folders are polled.
const RESCAN_INTERVAL: Duration = Duration::from_secs(2);

/// Registry of the models that are loaded now.
#[derive(Debug)]
pub struct ModelRegistry {
    dirs: Vec<PathBuf>,
    selected: Vec<String>,
    machine: ComputeDevice,
    models: watch::Sender<Arc<Models>>,
    announced: watch::Sender<Vec<LiveModel>>,
    /// State of the folders at the last load, whether it succeeded or failed.
    loaded_packs: Mutex<Option<FileStamps>>,
}

impl ModelRegistry {
    /// Loads the packs in `dirs` onto `machine`; see [`Models::load`].
    ///
    /// # Errors
    /// Fails if no pack can be used.
    pub fn load(dirs: Vec<PathBuf>, selected: Vec<String>, machine: ComputeDevice) -> Result<Self> {
        // Stamped before loading, so that a change in the meantime is noticed later.
        let loaded_packs = Mutex::new(stamp(&dirs).ok());
        let models = Models::load(&dirs, &selected, &machine)?;
        let announced = watch::Sender::new(models.announce());
        Ok(Self {
            dirs,
            selected,
            machine,
            models: watch::Sender::new(Arc::new(models)),
            announced,
            loaded_packs,
        })
    }

    /// Returns the models as they are now; later changes do not affect the returned value.
    #[must_use]
    pub fn models(&self) -> Arc<Models> {
        Arc::clone(&self.models.borrow())
    }

    /// Subscribes to the models published to the API, now and later.
    #[must_use]
    pub fn announce(&self) -> watch::Receiver<Vec<LiveModel>> {
        self.announced.subscribe()
    }

    /// Reloads the models when the folders change, until dropped. May be called again afterwards.
    pub async fn poll(self: Arc<Self>) {
        let mut last = None;
        loop {
            tokio::time::sleep(RESCAN_INTERVAL).await;
            let now = match stamp(&self.dirs) {
                Ok(now) => Some(now),
                Err(fault) => {
                    warn!("could not look for new models: {fault:#}");
                    continue;
                }
            };
            if now == last && self.takes_up(&now) {
                let registry = Arc::clone(&self);
                // Loading is compute. A panic is caused by a pack and costs only this poll.
                let loaded = compute(move || registry.reload()).await;
                match loaded {
                    Ok(Ok(())) => info!("loaded the changed model packs"),
                    Ok(Err(fault)) => warn!("the models stay as they were: {fault:#}"),
                    Err(panic) => warn!("the models stay as they were: {panic}"),
                }
            }
            last = now;
        }
    }

    /// Returns true if the folder state `now` has not been loaded yet, and records it, so that it is not loaded
    /// twice.
    fn takes_up(&self, now: &Option<FileStamps>) -> bool {
        let mut loaded_packs = self.loaded_packs.lock();
        let changed = *loaded_packs != *now;
        loaded_packs.clone_from(now);
        changed
    }

    fn reload(&self) -> Result<()> {
        let models = Models::reload(&self.dirs, &self.selected, &self.machine, Some(&self.models()))?;
        self.announced.send_replace(models.announce());
        self.models.send_replace(Arc::new(models));
        Ok(())
    }
}
