//! The worker's view of the catalogue: read in one query, replaced as a whole when the catalogue changes.
//!
//! A search keeps the view that it started with. An import says that it is done, and its version is looked at besides every
//! few seconds, since what is said may be lost; a reload costs one query and twice the view's memory for as long as old
//! searches run.

use std::{
    num::NonZeroUsize,
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use chem::Fingerprint;
use database::{Background, Database, Heard};
use futures::TryStreamExt;
use sqlx::PgPool;
use synth::{Catalogue, CatalogueRow, REGIONS};
use tokio::sync::Notify;
use tracing::{info, warn};

use crate::compute;

/// The channel on which an import says that it is done.
const CHANGED: &str = "catalogue_changed";

/// How often the catalogue's version is looked at, which is one row.
const LOOK: Duration = Duration::from_secs(15);

/// Imports of several files follow each other; one reload serves them all.
const SETTLE: Duration = Duration::from_secs(1);

/// Pause before a failed reload is tried again.
const RETRY: Duration = Duration::from_secs(2);

/// How long a row may keep its reader waiting; the first one comes when the offers of all are put together.
const ROW: Duration = Duration::from_secs(300);

/// How long the version may.
const VERSION: Duration = Duration::from_secs(10);

/// Connections that a view has to itself beside the pool's: its listener.
pub const LISTENER: u32 = 1;

/// The catalogue as it was last read; clones share it.
#[derive(Debug, Clone)]
pub struct CatalogueView {
    current: Arc<RwLock<Arc<Catalogue>>>,
    _watch: Arc<[Background]>,
}

impl CatalogueView {
    /// Reads the catalogue, which may be empty, on `threads` threads, and reads it again whenever it changes.
    ///
    /// # Errors
    /// Fails when the first reading does; later ones are repeated until they succeed.
    pub async fn load(database: &Database, threads: NonZeroUsize) -> Result<Self, sqlx::Error> {
        Self::load_looking(database, threads, LOOK).await
    }

    /// Reads the catalogue as [`CatalogueView::load`] does, and looks for changes that were not heard of at every `look`.
    ///
    /// # Errors
    /// Fails when the first reading does.
    pub async fn load_looking(
        database: &Database,
        threads: NonZeroUsize,
        look: Duration,
    ) -> Result<Self, sqlx::Error> {
        let pool = database.pool.clone();
        let seen = version(&pool).await?;
        let current = Arc::new(RwLock::new(Arc::new(read(&pool, threads).await?)));
        let told = Arc::new(Told::default());
        let ear = Arc::clone(&told);
        let listener = database::listen(database, &[CHANGED], move |heard| match heard {
            // What was said before is lost.
            Heard::Connected => ear.look.notify_one(),
            Heard::Notification { .. } => ear.hear(),
        });
        let watch = Watch { pool, threads, current: Arc::clone(&current), told, look, seen };
        let watch = Background::keep("watching the catalogue", move || watch.clone().keep());
        Ok(Self { current, _watch: [listener, watch].into() })
    }

    /// A view that never changes.
    #[must_use]
    pub fn fixed(catalogue: Catalogue) -> Self {
        Self { current: Arc::new(RwLock::new(Arc::new(catalogue))), _watch: Arc::new([]) }
    }

    /// The catalogue now.
    #[must_use]
    pub fn now(&self) -> Arc<Catalogue> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What imports say.
#[derive(Debug, Default)]
struct Told {
    look: Notify,
    /// Whether one said that it is done since the catalogue was read.
    changed: AtomicBool,
}

impl Told {
    fn hear(&self) {
        self.changed.store(true, Ordering::Release);
        self.look.notify_one();
    }
}

/// Replaces `current` whenever an import says so, or when it must have said so unheard.
#[derive(Clone)]
struct Watch {
    pool: PgPool,
    threads: NonZeroUsize,
    current: Arc<RwLock<Arc<Catalogue>>>,
    told: Arc<Told>,
    look: Duration,
    seen: i64,
}

impl Watch {
    async fn keep(mut self) {
        loop {
            let is_told = tokio::time::timeout(self.look, self.told.look.notified()).await.is_ok();
            if is_told && self.told.changed.load(Ordering::Acquire) {
                tokio::time::sleep(SETTLE).await;
            }
            while let Err(error) = self.look_once().await {
                warn!("the catalogue may be out of date, and will be read anew: {error}");
                tokio::time::sleep(RETRY).await;
            }
        }
    }

    async fn look_once(&mut self) -> Result<(), sqlx::Error> {
        let version = version(&self.pool).await?;
        if self.told.changed.load(Ordering::Acquire) || version != self.seen {
            // Whatever is said from here on is of a later import.
            self.told.changed.store(false, Ordering::Release);
            let catalogue = read(&self.pool, self.threads).await.inspect_err(|_| self.told.hear())?;
            *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(catalogue);
            self.seen = version;
        }
        Ok(())
    }
}

/// A number that every import changes.
async fn version(pool: &PgPool) -> Result<i64, sqlx::Error> {
    let version =
        sqlx::query_scalar!("select version from catalogue_version where is_the_only").fetch_one(pool);
    database::within(VERSION, version).await
}

/// A building block with its best price and lead time anywhere and by country, in the order of [`synth::Region`].
struct Row {
    id: i32,
    smiles: String,
    mw: f32,
    morgan_bits: Vec<u8>,
    usd_per_gram: Vec<Option<f32>>,
    lead_time_days: Vec<Option<f32>>,
}

async fn read(pool: &PgPool, threads: NonZeroUsize) -> Result<Catalogue, sqlx::Error> {
    let started = Instant::now();
    let mut rows = sqlx::query_as!(
        Row,
        r#"select
            building_blocks.id, smiles, mw, morgan_bits,
            array[
                min(normalised_usd),
                min(normalised_usd) filter (where lead_time_days_to_us is not null),
                min(normalised_usd) filter (where lead_time_days_to_ca is not null),
                min(normalised_usd) filter (where lead_time_days_to_gb is not null),
                min(normalised_usd) filter (where lead_time_days_to_fr is not null),
                min(normalised_usd) filter (where lead_time_days_to_ch is not null),
                min(normalised_usd) filter (where lead_time_days_to_de is not null),
                min(normalised_usd) filter (where lead_time_days_to_cn is not null),
                min(normalised_usd) filter (where lead_time_days_to_au is not null)
            ]::real[] as "usd_per_gram!: Vec<Option<f32>>",
            array[
                min(least(
                    lead_time_days_to_us, lead_time_days_to_ca, lead_time_days_to_gb, lead_time_days_to_fr,
                    lead_time_days_to_ch, lead_time_days_to_de, lead_time_days_to_cn, lead_time_days_to_au
                )),
                min(lead_time_days_to_us), min(lead_time_days_to_ca), min(lead_time_days_to_gb),
                min(lead_time_days_to_fr), min(lead_time_days_to_ch), min(lead_time_days_to_de),
                min(lead_time_days_to_cn), min(lead_time_days_to_au)
            ]::real[] as "lead_time_days!: Vec<Option<f32>>"
        from building_blocks left join offers on offers.building_block_id = building_blocks.id
        group by building_blocks.id"#
    )
    .fetch(pool);

    let mut blocks = Vec::new();
    let mut broken = 0_u64;
    while let Some(row) = database::within(ROW, rows.try_next()).await? {
        match block(row) {
            Some(block) => blocks.push(block),
            None => broken += 1,
        }
    }
    if broken > 0 {
        warn!(broken, "building blocks without a readable fingerprint are left out");
    }
    let catalogue = compute(move || Catalogue::from_rows_on(blocks, threads.get()))
        .await
        .map_err(|panic| sqlx::Error::Decode(Box::new(panic)))?;
    info!(
        building_blocks = catalogue.len(),
        elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        "read the catalogue"
    );
    Ok(catalogue)
}

fn block(row: Row) -> Option<CatalogueRow> {
    Some(CatalogueRow {
        id: row.id,
        smiles: row.smiles,
        mw: row.mw,
        fingerprint: Fingerprint::from_bytes(&row.morgan_bits)?,
        usd_per_gram: <[Option<f32>; REGIONS]>::try_from(row.usd_per_gram).ok()?,
        lead_time_days: <[Option<f32>; REGIONS]>::try_from(row.lead_time_days).ok()?,
    })
}
