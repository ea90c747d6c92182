//! The worker's view of the catalogue: read in one query, replaced as a whole when the catalogue changes.
//!
//! A search keeps the view that it started with. Between notifications nothing is asked of the database, so
//! a reload costs one query and twice the view's memory for as long as old searches run.

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::{Duration, Instant},
};

use chem::Fingerprint;
use chrono::{DateTime, Utc};
use futures::TryStreamExt;
use sqlx::{PgPool, postgres::PgListener};
use synth::{Catalogue, CatalogueRow, REGIONS};
use tokio::task::JoinHandle;
use tracing::{info, warn};

/// The channel on which an import says that it is done.
const CHANGED: &str = "catalogue_changed";

/// Imports of several files follow each other; one reload serves them all.
const SETTLE: Duration = Duration::from_secs(1);

/// Pause before a lost connection or a failed reload is tried again.
const RETRY: Duration = Duration::from_secs(2);

/// The catalogue as it was last read; clones share it.
#[derive(Debug, Clone)]
pub struct CatalogueView {
    current: Arc<RwLock<Arc<Catalogue>>>,
    _watch: Arc<Option<Watch>>,
}

impl CatalogueView {
    /// Reads the catalogue, which may be empty, and reads it again whenever it changes.
    ///
    /// # Errors
    /// Fails when the first reading does; later ones are repeated until they succeed.
    pub async fn load(pool: &PgPool) -> Result<Self, sqlx::Error> {
        let stamp = stamp(pool).await?;
        let current = Arc::new(RwLock::new(Arc::new(read(pool).await?)));
        let watch = tokio::spawn(watch(pool.clone(), Arc::clone(&current), stamp));
        Ok(Self { current, _watch: Arc::new(Some(Watch(watch))) })
    }

    /// A view that never changes.
    #[must_use]
    pub fn fixed(catalogue: Catalogue) -> Self {
        Self { current: Arc::new(RwLock::new(Arc::new(catalogue))), _watch: Arc::new(None) }
    }

    /// The catalogue now.
    #[must_use]
    pub fn now(&self) -> Arc<Catalogue> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

#[derive(Debug)]
struct Watch(JoinHandle<()>);

impl Drop for Watch {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Sizes and newest rows of the catalogue's tables: what tells a changed catalogue after lost notifications.
#[derive(PartialEq)]
struct Stamp {
    building_blocks: i64,
    newest_building_block: Option<i32>,
    offers: i64,
    newest_offer: Option<i64>,
    newest_import: Option<DateTime<Utc>>,
}

async fn stamp(pool: &PgPool) -> Result<Stamp, sqlx::Error> {
    sqlx::query_as!(
        Stamp,
        r#"select
            (select count(*) from building_blocks) as "building_blocks!",
            (select max(id) from building_blocks) as newest_building_block,
            (select count(*) from offers) as "offers!", (select max(id) from offers) as newest_offer,
            (select max(api_timestamp) from offers) as newest_import"#
    )
    .fetch_one(pool)
    .await
}

/// Replaces `current` whenever an import says so, or when it must have said so unheard.
async fn watch(pool: PgPool, current: Arc<RwLock<Arc<Catalogue>>>, mut seen: Stamp) {
    loop {
        if let Err(error) = listen(&pool, &current, &mut seen).await {
            warn!("the catalogue is not watched for the moment: {error}");
        }
        tokio::time::sleep(RETRY).await;
    }
}

async fn listen(
    pool: &PgPool,
    current: &RwLock<Arc<Catalogue>>,
    seen: &mut Stamp,
) -> Result<(), sqlx::Error> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.eager_reconnect(false);
    listener.listen(CHANGED).await?;
    let mut notified = false;
    loop {
        let stamp = stamp(pool).await?;
        if notified || stamp != *seen {
            let catalogue = Arc::new(read(pool).await?);
            *current.write().unwrap_or_else(PoisonError::into_inner) = catalogue;
            *seen = stamp;
        }
        if listener.try_recv().await?.is_none() {
            return Ok(());
        }
        tokio::time::sleep(SETTLE).await;
        while listener.next_buffered().is_some() {}
        notified = true;
    }
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

async fn read(pool: &PgPool) -> Result<Catalogue, sqlx::Error> {
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
    while let Some(row) = rows.try_next().await? {
        match block(row) {
            Some(block) => blocks.push(block),
            None => broken += 1,
        }
    }
    if broken > 0 {
        warn!(broken, "building blocks without a readable fingerprint are left out");
    }
    let catalogue = tokio::task::spawn_blocking(|| Catalogue::from_rows(blocks))
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
