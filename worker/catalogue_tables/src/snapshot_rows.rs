//! The catalogue as rows of a snapshot.

use std::time::Duration;

use catalogue::{BlockRow, Builder, Offer, SnapshotContent, shipping_exclusions};
use chem::Fingerprint;
use futures::TryStreamExt as _;
use sha2::{Digest as _, Sha256};
use sqlx::{PgConnection, PgPool};
use tracing::warn;

/// Timeout of reading one row.
const ROW_TIMEOUT: Duration = Duration::from_secs(60);

/// Timeout of reading the version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

/// Reason why the catalogue could not be read into a snapshot.
#[derive(Debug)]
pub struct SnapshotReadError(sqlx::Error);

impl From<sqlx::Error> for SnapshotReadError {
    fn from(error: sqlx::Error) -> Self {
        Self(error)
    }
}

impl From<catalogue::BuildError> for SnapshotReadError {
    fn from(error: catalogue::BuildError) -> Self {
        Self(sqlx::Error::Decode(Box::new(error)))
    }
}

impl From<SnapshotReadError> for sqlx::Error {
    fn from(SnapshotReadError(error): SnapshotReadError) -> Self {
        error
    }
}

/// Identifies the catalogue's content without reading it: every import makes a new version of the one row, and a
/// restored database has a new row.
///
/// # Errors
/// Fails if the database does.
pub async fn content(executor: impl sqlx::PgExecutor<'_>) -> Result<SnapshotContent, sqlx::Error> {
    let row = sqlx::query!(
        r#"select
            version, xmin::text as "row!", imported_at,
            (select oid::bigint from pg_database where datname = current_database()) as "database!",
            (select system_identifier from pg_control_system()) as "server!"
        from catalogue_version where is_the_only"#
    )
    .fetch_one(executor);
    let row = database::within(VERSION_TIMEOUT, row).await?;
    Ok(SnapshotContent {
        database: digest(&format!("{} {}", row.server, row.database)),
        version: row.version,
        digest: digest(&format!("{} {:?}", row.row, row.imported_at)),
    })
}

fn digest(text: &str) -> u64 {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(8).fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Reads the whole catalogue in one consistent transaction.
///
/// # Errors
/// Fails if the database does, or if the builder takes no more.
pub async fn read(
    pool: &PgPool,
    mut builder: Builder,
) -> Result<(SnapshotContent, Builder), SnapshotReadError> {
    let mut transaction = database::within(VERSION_TIMEOUT, pool.begin()).await?;
    database::within(
        VERSION_TIMEOUT,
        sqlx::query!("set transaction isolation level repeatable read, read only").execute(&mut *transaction),
    )
    .await?;
    let content = content(&mut *transaction).await?;
    let private = sqlx::query_scalar!("select id from vendors where is_private").fetch_all(&mut *transaction);
    database::within(ROW_TIMEOUT, private).await?.into_iter().for_each(|vendor| builder.private(vendor));
    read_offers(&mut transaction, &mut builder).await?;
    read_blocks(&mut transaction, &mut builder).await?;
    Ok((content, builder))
}

async fn read_offers(connection: &mut PgConnection, builder: &mut Builder) -> Result<(), SnapshotReadError> {
    let mut rows = sqlx::query!(
        "select
            building_block_id, vendor_id, normalised_usd, refuses,
            lead_time_days_to_us, lead_time_days_to_ca, lead_time_days_to_gb, lead_time_days_to_fr,
            lead_time_days_to_ch, lead_time_days_to_de, lead_time_days_to_cn, lead_time_days_to_au
        from offers"
    )
    .fetch(connection);
    while let Some(row) = database::within(ROW_TIMEOUT, rows.try_next()).await? {
        let days = [
            row.lead_time_days_to_us,
            row.lead_time_days_to_ca,
            row.lead_time_days_to_gb,
            row.lead_time_days_to_fr,
            row.lead_time_days_to_ch,
            row.lead_time_days_to_de,
            row.lead_time_days_to_cn,
            row.lead_time_days_to_au,
        ];
        let rounded = |value: Option<f64>| value.map(|value| value as f32);
        let offer = Offer {
            usd_per_gram: rounded(row.normalised_usd),
            lead_time_days: days.map(rounded),
            refuses: shipping_exclusions::of_bits(row.refuses),
            vendor: row.vendor_id,
        };
        builder.offer(row.building_block_id, &offer)?;
    }
    Ok(())
}

async fn read_blocks(connection: &mut PgConnection, builder: &mut Builder) -> Result<(), SnapshotReadError> {
    let blocks = sqlx::query!("select id, smiles, mw, morgan_bits from building_blocks");
    let mut rows = blocks.fetch(connection);
    let mut broken = 0_u64;
    while let Some(row) = database::within(ROW_TIMEOUT, rows.try_next()).await? {
        match Fingerprint::from_bytes(&row.morgan_bits) {
            Some(fingerprint) => {
                builder.block(BlockRow { id: row.id, smiles: row.smiles, mw: row.mw, fingerprint });
            }
            None => broken += 1,
        }
    }
    if broken > 0 {
        warn!(broken, "building blocks without a readable fingerprint are left out");
    }
    Ok(())
}
