//! The models of a running sampler, kept up with the folders of packs.
//!
//! A pack that is added, changed or removed is taken up within seconds, without a restart and without touching the
//! jobs that run: they hold the model that they began with. A folder being written is left alone until it has
//! looked the same twice.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use anyhow::Result;
use queue::LiveModel;
use tokio::sync::watch;
use tracing::{info, warn};

use crate::{
    Machine, Models, compute,
    resources::{Stamp, stamp},
};

/// How often the folder is looked at.
const LOOK: Duration = Duration::from_secs(2);

/// The models, as they are now.
#[derive(Debug)]
pub struct Shelf {
    dirs: Vec<PathBuf>,
    wanted: Vec<String>,
    machine: Machine,
    models: watch::Sender<Arc<Models>>,
    announced: watch::Sender<Vec<LiveModel>>,
    /// What the folders looked like when they were last loaded, well or badly.
    taken_up: Mutex<Option<Stamp>>,
}

impl Shelf {
    /// Loads the packs in `dirs` onto `machine`, see [`Models::load`].
    ///
    /// # Errors
    /// Fails when no pack can be used.
    pub fn load(dirs: Vec<PathBuf>, wanted: Vec<String>, machine: Machine) -> Result<Self> {
        // Looked at first: what changes meanwhile is taken up later.
        let taken_up = Mutex::new(stamp(&dirs).ok());
        let models = Models::load(&dirs, &wanted, &machine)?;
        let announced = watch::Sender::new(models.announce());
        Ok(Self { dirs, wanted, machine, models: watch::Sender::new(Arc::new(models)), announced, taken_up })
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

    /// Takes up changes of the folders until dropped, and may begin again.
    pub async fn keep_up(self: Arc<Self>) {
        let mut last = None;
        loop {
            tokio::time::sleep(LOOK).await;
            let now = match stamp(&self.dirs) {
                Ok(now) => Some(now),
                Err(fault) => {
                    warn!("could not look for new models: {fault:#}");
                    continue;
                }
            };
            if now == last && self.takes_up(&now) {
                let shelf = Arc::clone(&self);
                // Loading is compute; a panic of it would be that of a pack, and costs only this look.
                let loaded = compute(move || shelf.reload()).await;
                match loaded {
                    Ok(Ok(())) => info!("took up the model packs as they are now"),
                    Ok(Err(fault)) => warn!("the models stay as they were: {fault:#}"),
                    Err(panic) => warn!("the models stay as they were: {panic}"),
                }
            }
            last = now;
        }
    }

    /// Whether the folders that look like `now` are still to be loaded; they are not a second time.
    fn takes_up(&self, now: &Option<Stamp>) -> bool {
        let mut taken_up = self.taken_up.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = *taken_up != *now;
        taken_up.clone_from(now);
        changed
    }

    fn reload(&self) -> Result<()> {
        let models = Models::reload(&self.dirs, &self.wanted, &self.machine, Some(&self.models()))?;
        self.announced.send_replace(models.announce());
        self.models.send_replace(Arc::new(models));
        Ok(())
    }
}
