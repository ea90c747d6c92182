//! SQL of the catalogue: entries are copied to a temporary table and merged from there.
//!
//! One transaction holds the whole import: readers see the catalogue before it or after it, and a killed import
//! leaves nothing behind and is simply run again. Rows stream in by `COPY`, so the size of a file is limited by the
//! disk and not by memory.
//!
//! Statements with a temporary table are not checked at compile time, because no migration creates it.

use std::fmt::Write as _;

use catalogue::{Entry, read::EntryBatch, shipping_exclusions};
use chrono::SecondsFormat;
use contract::Country;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Postgres, Transaction, postgres::PgCopyIn};

use crate::CatalogueError;
use crate::structure_changes::{self, WITH_ENTRY};

/// Changes made by an import.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImportCounts {
    /// Building blocks that were new in the catalogue.
    pub new_building_blocks: u64,
    /// Offers that were new in the catalogue.
    pub new_offers: u64,
    /// Offers that were replaced.
    pub replaced_offers: u64,
    /// Offers removed because they are not in their vendor's complete file.
    pub removed_offers: u64,
}

/// Columns of the temporary table with their types, in the order of `push_row`. The lead times follow.
const STAGED_COLUMNS: [(&str, &str); 21] = [
    ("line", "bigint not null"),
    ("vendor_name", "text not null"),
    ("smiles", "text not null"),
    ("mw", "real not null"),
    ("morgan_bits", "bytea not null"),
    ("full_canonical", "text not null"),
    ("minor_components", "text not null"),
    ("full_mw", "double precision not null"),
    ("cs_id", "text"),
    ("cs_prefix", "text not null"),
    ("cs_url", "text not null"),
    ("pack", "double precision"),
    ("uom", "text"),
    ("price_usd", "double precision"),
    ("normalised_usd", "double precision"),
    ("amount", "double precision"),
    ("amount_uom", "text"),
    ("amount_grams", "double precision"),
    ("location", "text"),
    ("api_timestamp", "timestamptz"),
    ("refuses", "smallint not null"),
];

/// Columns of the temporary table that `offers` does not have, or that a merge fills in itself.
const NOT_OF_OFFERS: [&str; 7] =
    ["line", "vendor_name", "smiles", "mw", "morgan_bits", "cs_id", "api_timestamp"];

/// Begins an import: a transaction with an empty temporary table.
pub async fn begin(database: &mut PgConnection) -> Result<Transaction<'_, Postgres>, CatalogueError> {
    let import_error = CatalogueError::of("beginning the import");
    let mut transaction = database.begin().await.map_err(import_error)?;
    create_staging_table(&mut transaction).await.map_err(import_error)?;
    Ok(transaction)
}

/// Creates the empty temporary table, which is dropped at the end of the transaction.
pub async fn create_staging_table(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let columns = STAGED_COLUMNS.iter().map(|(name, kind)| format!("{name} {kind}"));
    let lead_times = lead_time_columns().map(|name| format!("{name} double precision"));
    let columns = columns.chain(lead_times).collect::<Vec<_>>().join(", ");
    let statement = format!("create temporary table staged ({columns}) on commit drop");
    sqlx::query(AssertSqlSafe(statement)).execute(connection).await?;
    Ok(())
}

/// Opens the stream of rows into the temporary table; `push_row` writes the rows.
async fn copy(connection: &mut PgConnection) -> Result<PgCopyIn<&mut PgConnection>, CatalogueError> {
    let columns = STAGED_COLUMNS.iter().map(|(name, _)| (*name).to_owned()).chain(lead_time_columns());
    let statement = format!("copy staged ({}) from stdin", columns.collect::<Vec<_>>().join(", "));
    connection.copy_in_raw(&statement).await.map_err(CatalogueError::of("copying rows"))
}

/// Copies the offers of all batches to the temporary table.
///
/// # Errors
/// Fails with the first failed batch, and if the database fails.
pub async fn stage<E: From<CatalogueError>>(
    connection: &mut PgConnection,
    batches: impl Iterator<Item = Result<EntryBatch, E>>,
) -> Result<(), E> {
    let import_error = CatalogueError::of("copying rows");
    let mut copy = copy(connection).await?;
    let mut text = String::new();
    let mut number = 0;
    for batch in batches {
        let batch = match batch {
            Ok(batch) => batch,
            Err(error) => {
                // The server must leave its copy mode before the transaction can end; the error to report is that of
                // the file.
                let _ = copy.abort("the file cannot be read").await;
                return Err(error);
            }
        };
        text.clear();
        for entry in &batch.entries {
            number += 1;
            push_row(&mut text, number, entry);
        }
        copy.send(text.as_bytes()).await.map_err(import_error)?;
    }
    copy.finish().await.map_err(import_error)?;
    Ok(())
}

/// Appends `entry` in the text format of `COPY`; `number` orders the entries of an import.
pub fn push_row(rows: &mut String, number: u64, entry: &Entry) {
    let structure = &*entry.structure;
    let _ = write!(rows, "{number}\t");
    push_text(rows, &entry.vendor_name);
    push_text(rows, &structure.smiles);
    let _ = write!(rows, "{}\t", structure.mw);
    rows.push_str("\\\\x");
    for byte in &structure.morgan_bits {
        for digit in [byte >> 4, byte & 15] {
            rows.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
        }
    }
    rows.push('\t');
    push_text(rows, &structure.full_canonical);
    push_text(rows, &structure.minor_components);
    let _ = write!(rows, "{}\t", structure.weights.full);
    push_optional(rows, entry.cs_id.as_deref(), push_text);
    push_text(rows, &entry.cs_prefix);
    push_text(rows, &entry.cs_url);
    push_optional(rows, entry.pack, push_number);
    push_optional(rows, entry.uom.as_deref(), push_text);
    push_optional(rows, entry.price_usd, push_number);
    push_optional(rows, entry.normalised_usd, push_number);
    let stock = entry.in_stock.as_ref();
    push_optional(rows, stock.map(|stock| stock.amount), push_number);
    push_optional(rows, stock.map(|stock| stock.uom.as_str()), push_text);
    push_optional(rows, stock.and_then(|stock| stock.grams), push_number);
    push_optional(rows, entry.location.as_deref(), push_text);
    push_optional(rows, entry.api_timestamp, |rows, time| {
        let _ = write!(rows, "{}\t", time.to_rfc3339_opts(SecondsFormat::Micros, true));
    });
    let refuses = shipping_exclusions::to_bits(entry.ships_to.map(|ships| ships == Some(false)));
    let _ = write!(rows, "{refuses}\t");
    for days in entry.lead_time_days {
        push_optional(rows, days, push_number);
    }
    // A line feed ends the last field, not a tab.
    rows.pop();
    rows.push('\n');
}

/// Merges the temporary table into the catalogue.
///
/// An entry is one vendor's pack of one catalogue number; importing it again replaces the offer. Within a file the
/// last line counts, and the rows of one number have one structure ([`structure_changes::settle`]). Offers of a number
/// that had another structure before are removed. Missing catalogue numbers are derived from the structures. A building block that loses its last
/// offer is removed. If the file is complete, offers of its vendors that it lacks are removed.
///
/// `on_wait` is called if another command changes the catalogue.
///
/// # Errors
/// Fails if the database does.
pub async fn merge(
    transaction: &mut Transaction<'_, Postgres>,
    is_complete: bool,
    on_wait: impl FnOnce(),
) -> Result<ImportCounts, CatalogueError> {
    let import_error = CatalogueError::of("merging the import");
    let connection = &mut **transaction;
    lock(connection, on_wait).await.map_err(import_error)?;
    sqlx::query("analyze staged").execute(&mut *connection).await.map_err(import_error)?;
    sqlx::query(
        "insert into vendors (name)
         select distinct vendor_name from staged
         where not exists (select from vendors where vendors.name = staged.vendor_name)
         order by vendor_name",
    )
    .execute(&mut *connection)
    .await
    .map_err(import_error)?;
    let blocks = sqlx::query(
        "insert into building_blocks (smiles, mw, morgan_bits)
         select smiles, mw, morgan_bits
         from (select distinct on (smiles) line, smiles, mw, morgan_bits from staged order by smiles, line) as fresh
         where not exists (select from building_blocks where building_blocks.smiles = fresh.smiles)
         order by line",
    )
    .execute(&mut *connection)
    .await
    .map_err(import_error)?;
    structure_changes::note(connection).await.map_err(import_error)?;
    let (new_offers, replaced_offers) = merge_offers(connection).await.map_err(import_error)?;
    let mut removed_offers =
        structure_changes::remove_earlier_offers(connection).await.map_err(import_error)?;
    if is_complete {
        removed_offers += remove_missing_offers(connection).await.map_err(import_error)?;
    }
    remove_orphans(connection).await.map_err(import_error)?;
    // Searches that follow need up-to-date statistics for their query plans.
    sqlx::query("analyze building_blocks, offers").execute(&mut *connection).await.map_err(import_error)?;
    Ok(ImportCounts {
        new_building_blocks: blocks.rows_affected(),
        new_offers,
        replaced_offers,
        removed_offers,
    })
}

/// Removes offers of the import's vendors that are not in the import. Imported offers are recognised as rows that
/// this transaction wrote, whatever their time stamp and whichever transaction began first.
async fn remove_missing_offers(connection: &mut PgConnection) -> Result<u64, sqlx::Error> {
    let removed: i64 = sqlx::query_scalar(
        "with removed as (
            delete from offers using vendors
            where vendors.id = vendor_id and vendors.name in (select vendor_name from staged)
                and offers.xmin <> pg_current_xact_id()::xid
            returning building_block_id
        ), noted as (
            insert into orphan_candidates select distinct building_block_id from removed
        )
        select count(*) from removed",
    )
    .fetch_one(connection)
    .await?;
    Ok(removed.unsigned_abs())
}

/// Removes the noted building blocks that have no offer left.
async fn remove_orphans(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    sqlx::query(
        "delete from building_blocks using orphan_candidates
         where building_blocks.id = orphan_candidates.id
             and not exists (select from offers where offers.building_block_id = building_blocks.id)",
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Merges the offers and keeps the prices that they replace; returns the numbers of new and of replaced offers.
async fn merge_offers(connection: &mut PgConnection) -> Result<(u64, u64), sqlx::Error> {
    let of_offers = STAGED_COLUMNS.iter().map(|(name, _)| *name).filter(|name| !NOT_OF_OFFERS.contains(name));
    let columns: Vec<String> = of_offers.map(str::to_owned).chain(lead_time_columns()).collect();
    let replaced: String = ["building_block_id", "api_timestamp"]
        .into_iter()
        .chain(columns.iter().map(String::as_str))
        .map(|column| format!("{column} = excluded.{column}"))
        .collect::<Vec<_>>()
        .join(", ");
    let columns = columns.join(", ");
    // All parts of a statement see the offers as they were before it.
    let statement = format!(
        "with fresh as materialized (
            select distinct on (vendors.id, entry.id, coalesce(pack, -1), coalesce(uom, ''))
                building_blocks.id as building_block_id, vendors.id as vendor_id, entry.id as entry_id, {columns},
                coalesce(api_timestamp, now()) as said_at
            from staged
            join vendors on vendors.name = staged.vendor_name
            join building_blocks on building_blocks.smiles = staged.smiles
            {WITH_ENTRY}
            order by vendors.id, entry.id, coalesce(pack, -1), coalesce(uom, ''), line desc
        ), kept as (
            insert into offer_prices
                (building_block_id, vendor_id, cs_id, pack, uom, price_usd, normalised_usd, said_at)
            select fresh.building_block_id, offers.vendor_id, offers.cs_id, offers.pack, offers.uom, offers.price_usd,
                offers.normalised_usd, offers.api_timestamp
            from fresh
            join offers on offers.vendor_id = fresh.vendor_id and offers.cs_id = fresh.entry_id
                and coalesce(offers.pack, -1) = coalesce(fresh.pack, -1)
                and coalesce(offers.uom, '') = coalesce(fresh.uom, '')
            where (offers.price_usd, offers.normalised_usd)
                is distinct from (fresh.price_usd, fresh.normalised_usd)
        ), changed as (
            insert into offers (building_block_id, vendor_id, cs_id, api_timestamp, {columns})
            select building_block_id, vendor_id, entry_id, said_at, {columns} from fresh
            on conflict (vendor_id, cs_id, coalesce(pack, -1), coalesce(uom, '')) do update set {replaced}
            returning xmax = 0 as is_new
        )
        select count(*) filter (where is_new), count(*) filter (where not is_new) from changed"
    );
    let (new, replaced): (i64, i64) =
        sqlx::query_as(AssertSqlSafe(statement)).fetch_one(&mut *connection).await?;
    Ok((new.unsigned_abs(), replaced.unsigned_abs()))
}

/// Commits and notifies the workers.
///
/// # Errors
/// Fails if the database does.
pub async fn commit(mut transaction: Transaction<'_, Postgres>) -> Result<(), CatalogueError> {
    let import_error = CatalogueError::of("committing the import");
    notify_workers(&mut transaction).await.map_err(import_error)?;
    transaction.commit().await.map_err(import_error)
}

/// Notifies the workers on commit: by a notification, and by the version for workers that miss it. This is the last
/// statement of a transaction, so that concurrent ones wait for each other only at their ends.
pub async fn notify_workers(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    sqlx::query!("select pg_notify('catalogue_changed', '')").execute(&mut *connection).await?;
    sqlx::query!(
        "update catalogue_version set version = version + 1, imported_at = now(),
            building_blocks = (select count(*) from building_blocks), offers = (select count(*) from offers)"
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Waits until no other command changes the catalogue, and calls `on_wait` if one does. Two at once could deadlock on
/// each other's rows.
///
/// # Errors
/// Fails if the database does.
pub async fn lock(connection: &mut PgConnection, on_wait: impl FnOnce()) -> Result<(), sqlx::Error> {
    let is_free = sqlx::query_scalar!(
        r#"select pg_try_advisory_xact_lock(hashtext('retort catalogue import')) as "is_free!""#
    )
    .fetch_one(&mut *connection)
    .await?;
    if is_free {
        return Ok(());
    }
    on_wait();
    sqlx::query!("select pg_advisory_xact_lock(hashtext('retort catalogue import'))")
        .execute(connection)
        .await?;
    Ok(())
}

/// Canonical SMILES of all building blocks.
pub async fn structures(database: &mut PgConnection) -> Result<Vec<String>, CatalogueError> {
    sqlx::query_scalar!("select smiles from building_blocks order by id")
        .fetch_all(database)
        .await
        .map_err(CatalogueError::of("reading the catalogue"))
}

/// Lead-time columns, in the order of countries.
pub fn lead_time_columns() -> impl Iterator<Item = String> {
    Country::ALL.into_iter().map(|country| format!("lead_time_days_to_{}", country.code().to_lowercase()))
}

/// Appends text and a tab, escaped for `COPY`.
fn push_text(rows: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '\\' => rows.push_str("\\\\"),
            '\t' => rows.push_str("\\t"),
            '\n' => rows.push_str("\\n"),
            '\r' => rows.push_str("\\r"),
            _ => rows.push(character),
        }
    }
    rows.push('\t');
}

fn push_number(rows: &mut String, number: f64) {
    let _ = write!(rows, "{number}\t");
}

fn push_optional<T>(rows: &mut String, value: Option<T>, push: impl Fn(&mut String, T)) {
    match value {
        Some(value) => push(rows, value),
        None => rows.push_str("\\N\t"),
    }
}
