//! The models of a running sampler, kept up with the folders of packs.
//!
//! A pack that is added, changed or removed is taken up within seconds, without a restart and without touching the
//! jobs that run: they hold the model that they began with. A folder being written is left alone until it has
//! looked the same twice.

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::Result;
use generator::Device;
use queue::LiveModel;
use tokio::sync::watch;
use tracing::{info, warn};

use crate::{Models, resources::stamp};

/// How often the folder is looked at.
const LOOK: Duration = Duration::from_secs(2);

/// The models, as they are now.
#[derive(Debug)]
pub struct Shelf {
    dirs: Vec<PathBuf>,
    wanted: Vec<String>,
    device: Device,
    models: watch::Sender<Arc<Models>>,
    announced: watch::Sender<Vec<LiveModel>>,
}

impl Shelf {
    /// Loads the packs in `dirs` onto `device`, see [`Models::load`].
    ///
    /// # Errors
    /// Fails when no pack can be used.
    pub fn load(dirs: Vec<PathBuf>, wanted: Vec<String>, device: Device) -> Result<Self> {
        let models = Models::load(&dirs, &wanted, &device)?;
        let announced = watch::Sender::new(models.announce());
        Ok(Self { dirs, wanted, device, models: watch::Sender::new(Arc::new(models)), announced })
    }

    /// The models to work with; what comes later does not change them.
    #[must_use]
    pub fn models(&self) -> Arc<Models> {
        Arc::clone(&self.models.borrow())
    }

    /// What the API is told of the models, now and later.
    #[must_use]
    pub fn announce(&self) -> watch::Receiver<Vec<LiveModel>> {
        self.announced.subscribe()
    }

    /// Takes up changes of the folders until dropped.
    pub async fn keep_up(self: Arc<Self>) {
        let mut taken_up = stamp(&self.dirs).ok();
        let mut last = taken_up.clone();
        loop {
            tokio::time::sleep(LOOK).await;
            let now = match stamp(&self.dirs) {
                Ok(now) => Some(now),
                Err(fault) => {
                    warn!("could not look for new models: {fault:#}");
                    continue;
                }
            };
            if now != taken_up && now == last {
                let shelf = Arc::clone(&self);
                // Loading is compute; a panic of it would be that of a pack, and costs only this look.
                let loaded = tokio::task::spawn_blocking(move || shelf.reload()).await;
                match loaded {
                    Ok(Ok(())) => info!("took up the model packs as they are now"),
                    Ok(Err(fault)) => warn!("the models stay as they were: {fault:#}"),
                    Err(panic) => warn!("the models stay as they were: {panic}"),
                }
                taken_up.clone_from(&now);
            }
            last = now;
        }
    }

    fn reload(&self) -> Result<()> {
        let models = Models::reload(&self.dirs, &self.wanted, &self.device, Some(&self.models()))?;
        self.announced.send_replace(models.announce());
        self.models.send_replace(Arc::new(models));
        Ok(())
    }
}
