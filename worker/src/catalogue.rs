//! Worker's view of the catalogue: a snapshot, replaced as a whole when the catalogue changes.
//!
//! The processes of a machine share one file, which the first of them builds from the database. A search keeps the
//! snapshot that it started with. An import sends a notification when it is done. As notifications may be lost, the
//! version is also polled every few seconds; both cost one row if nothing changed.

use std::{
    fs::File,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use ::catalogue::{FetchOutcome, OpenedSnapshot, Snapshot, SnapshotContent, SnapshotFolder, SnapshotOrigin};
use catalogue_tables::{SnapshotReadError, content, read};
use database::{Background, Database, ListenerEvent};
use parking_lot::RwLock;
use sqlx::PgPool;
use tokio::{runtime::Handle, sync::Notify};
use tracing::{info, warn};

use crate::{
    compute::{compute, compute_in_background},
    store::SnapshotStore,
};

/// Notification channel for finished imports.
const CHANGE_CHANNEL: &str = "catalogue_changed";

/// Polling interval of the catalogue's version, which is one row.
const POLL_INTERVAL: Duration = Duration::from_secs(15);

/// Delay before a reload: imports of several files follow each other, and one reload serves them all.
const RELOAD_DELAY: Duration = Duration::from_secs(1);

/// Pause before a failed reload is repeated.
const RETRY_PAUSE: Duration = Duration::from_secs(2);

/// Connections that a view uses beside the pool: its listener.
pub const LISTENER: u32 = 1;

/// Locations of the catalogue's snapshots.
#[derive(Debug, Clone)]
pub struct SnapshotLocations {
    /// Folder shared by the searchers of this machine.
    pub folder: SnapshotFolder,
    /// Store shared by the machines of the installation, if there is one.
    pub store: Option<SnapshotStore>,
}

impl From<SnapshotFolder> for SnapshotLocations {
    fn from(folder: SnapshotFolder) -> Self {
        Self { folder, store: None }
    }
}

/// Catalogue as last read; clones share it.
#[derive(Debug, Clone)]
pub struct CatalogueView {
    current: Arc<RwLock<Arc<Snapshot>>>,
    _watch: Arc<[Background]>,
}

impl CatalogueView {
    /// Loads the catalogue, which may be empty, from one of the locations `snapshots`, or builds it there, and
    /// repeats this on every change.
    ///
    /// # Errors
    /// Fails if the first load fails; later ones are repeated until they succeed.
    pub async fn load(
        database: &Database,
        snapshots: impl Into<SnapshotLocations>,
    ) -> Result<Self, sqlx::Error> {
        Self::load_with_poll_interval(database, snapshots, POLL_INTERVAL).await
    }

    /// Loads the catalogue like [`CatalogueView::load`], and polls for missed changes at the interval `poll_interval`.
    ///
    /// # Errors
    /// Fails if the first load fails.
    pub async fn load_with_poll_interval(
        database: &Database,
        snapshots: impl Into<SnapshotLocations>,
        poll_interval: Duration,
    ) -> Result<Self, sqlx::Error> {
        let snapshots = snapshots.into();
        let pool = database.pool.clone();
        let seen = content(&pool).await?;
        let first = open(&pool, &snapshots, OpenReason::First).await?;
        let current = Arc::new(RwLock::new(Arc::new(first)));
        let imports = Arc::new(ImportNotifications::default());
        let notifications = Arc::clone(&imports);
        let listener = database::listen(database, &[CHANGE_CHANNEL], move |event| match event {
            // Earlier notifications are lost.
            ListenerEvent::Connected => notifications.wake_up.notify_one(),
            ListenerEvent::Notification { .. } => notifications.notify(),
        });
        let watch =
            CatalogueWatcher { pool, snapshots, current: Arc::clone(&current), imports, poll_interval, seen };
        let watch = Background::supervise("watching the catalogue", move || watch.clone().run());
        Ok(Self { current, _watch: [listener, watch].into() })
    }

    /// Returns the current snapshot.
    #[must_use]
    pub fn now(&self) -> Arc<Snapshot> {
        Arc::clone(&self.current.read())
    }
}

/// Notifications of imports.
#[derive(Debug, Default)]
struct ImportNotifications {
    wake_up: Notify,
    /// Set when an import has finished since the catalogue was read.
    changed: AtomicBool,
}

impl ImportNotifications {
    fn notify(&self) {
        self.changed.store(true, Ordering::Release);
        self.wake_up.notify_one();
    }
}

/// Replaces `current` after a notification, or when polling finds a missed change.
#[derive(Clone)]
struct CatalogueWatcher {
    pool: PgPool,
    snapshots: SnapshotLocations,
    current: Arc<RwLock<Arc<Snapshot>>>,
    imports: Arc<ImportNotifications>,
    poll_interval: Duration,
    seen: SnapshotContent,
}

impl CatalogueWatcher {
    async fn run(mut self) {
        loop {
            let is_notified =
                tokio::time::timeout(self.poll_interval, self.imports.wake_up.notified()).await.is_ok();
            if is_notified && self.imports.changed.load(Ordering::Acquire) {
                tokio::time::sleep(RELOAD_DELAY).await;
            }
            while let Err(error) = self.refresh().await {
                warn!("the catalogue may be out of date, and will be read again: {error}");
                tokio::time::sleep(RETRY_PAUSE).await;
            }
        }
    }

    async fn refresh(&mut self) -> Result<(), sqlx::Error> {
        // Any notification from here on is of a later import.
        self.imports.changed.store(false, Ordering::Release);
        let content = content(&self.pool).await?;
        if content != self.seen {
            let snapshot = open(&self.pool, &self.snapshots, OpenReason::Renewed).await?;
            *self.current.write() = Arc::new(snapshot);
            self.seen = content;
        }
        Ok(())
    }
}

/// Reason for opening a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OpenReason {
    /// Initial load: no search begins before it.
    First,
    /// Reload: searches continue on the old snapshot, and building the new one yields to them.
    Renewed,
}

/// Opens the snapshot of the database's content: from the folder, else from the store, else built for both.
async fn open(
    pool: &PgPool,
    snapshots: &SnapshotLocations,
    need: OpenReason,
) -> Result<Snapshot, sqlx::Error> {
    let started = Instant::now();
    let (pool, SnapshotLocations { folder, store }) = (pool.clone(), snapshots.clone());
    // A store that could not be read is not written either; one warning is enough.
    let is_reached = Arc::new(AtomicBool::new(true));
    let (asked, reached) = (store.clone(), Arc::clone(&is_reached));
    let runtime = Handle::current();
    // Waiting for another process and parsing molecules would block an async thread.
    let opening = move || {
        folder.open_or_build::<SnapshotReadError>(
            || Ok(runtime.block_on(content(&pool))?),
            |content, path| match &asked {
                Some(store) => runtime.block_on(fetch(store, content, path, &reached)),
                None => FetchOutcome::Nothing,
            },
            |builder| runtime.block_on(read(&pool, builder)),
        )
    };
    let opened = match need {
        OpenReason::First => compute(opening),
        OpenReason::Renewed => compute_in_background(opening),
    };
    let OpenedSnapshot { snapshot, origin, refused } =
        opened.await.map_err(|panic| sqlx::Error::Decode(Box::new(panic)))??;
    if let Some(error) = refused {
        warn!("the catalogue's snapshot was rejected and built again: {error}");
    }
    let elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let (building_blocks, bytes, left_out) = (snapshot.len(), snapshot.bytes().0, snapshot.unreadable());
    let what = match origin {
        SnapshotOrigin::Found => "mapped the catalogue's snapshot",
        SnapshotOrigin::Fetched => "fetched the catalogue's snapshot",
        SnapshotOrigin::Made(content, path) => {
            if let Some(store) = store.filter(|_| is_reached.load(Ordering::Relaxed)) {
                put(store, content, path);
            }
            "made the catalogue's snapshot"
        }
        SnapshotOrigin::Alone(error) => {
            warn!("the catalogue's snapshot is in this process's own memory: {error}");
            "read the catalogue"
        }
    };
    info!(building_blocks, bytes, left_out, elapsed_ms, version = snapshot.version(), "{what}");
    Ok(snapshot)
}

/// Fetches a snapshot from the store; if the store fails, the snapshot is built instead.
async fn fetch(
    store: &SnapshotStore,
    content: &SnapshotContent,
    path: &Path,
    is_reached: &AtomicBool,
) -> FetchOutcome {
    match store.fetch(content, path).await {
        Ok(true) => FetchOutcome::Written,
        Ok(false) => FetchOutcome::Nothing,
        Err(error) => {
            is_reached.store(false, Ordering::Relaxed);
            warn!("the catalogue's snapshot could not be fetched from {store}, and is made here: {error}");
            FetchOutcome::Nothing
        }
    }
}

/// Uploads a snapshot to the store, while searches begin on it.
fn put(store: SnapshotStore, content: SnapshotContent, path: PathBuf) {
    let put = async move {
        let put = async { store.put(&content, File::open(&path)?).await };
        match put.await {
            Ok(()) => info!(version = content.version, "put the catalogue's snapshot into {store}"),
            Err(error) => warn!("the catalogue's snapshot could not be put into {store}: {error}"),
        }
    };
    // Reading hundreds of megabytes would block an async thread.
    let runtime = Handle::current();
    drop(compute(move || runtime.block_on(put)));
}
