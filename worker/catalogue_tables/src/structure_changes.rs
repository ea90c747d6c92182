//! Entries whose structure changes: one vendor's number with two structures in an import, or with another structure
//! than before.
//!
//! A vendor's number names one structure. The later row counts, so that no building block stays without an offer, and
//! each change is reported.
//!
//! Statements with a temporary table are not checked at compile time, because no migration creates it.

use futures::TryStreamExt as _;
use sqlx::{AssertSqlSafe, FromRow, PgConnection};

use crate::CatalogueError;

/// Adds the catalogue number of a staged line: the vendor's own, or one derived from the structure.
pub(crate) const WITH_ENTRY: &str =
    "cross join lateral (select coalesce(cs_id, left(md5(full_canonical), 16)) as id) as entry";

/// Change of an entry's structure.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, FromRow)]
pub struct StructureChange {
    /// Vendor.
    pub vendor_name: String,
    /// Catalogue number.
    pub cs_id: String,
    /// Canonical SMILES of the earlier building block, which no longer counts.
    pub before: String,
    /// Canonical SMILES of the later one.
    pub after: String,
}

/// Removes staged offers whose entry has another structure in a later row, and passes each change to `report`.
///
/// # Errors
/// Fails if the database does, or if `report` does.
pub async fn settle<E: From<CatalogueError>>(
    connection: &mut PgConnection,
    report: impl FnMut(&StructureChange) -> Result<(), E>,
) -> Result<(), E> {
    let failed = CatalogueError::of("comparing the rows of one entry");
    // Derived numbers come from the structure.
    let doubled = sqlx::query(
        "create temporary table doubled_entries on commit drop as
         select vendor_name, cs_id from staged where cs_id is not null
         group by vendor_name, cs_id having min(smiles collate \"C\") <> max(smiles collate \"C\")",
    );
    let count = doubled.execute(&mut *connection).await.map_err(failed)?.rows_affected();
    if count > 0 {
        let statement = "with latest as (
                select distinct on (vendor_name, cs_id) vendor_name, cs_id, smiles
                from staged join doubled_entries using (vendor_name, cs_id)
                order by vendor_name, cs_id, line desc
            ), removed as (
                delete from staged using latest
                where staged.vendor_name = latest.vendor_name and staged.cs_id = latest.cs_id
                    and staged.smiles <> latest.smiles
                returning staged.vendor_name, staged.cs_id, staged.smiles as before, latest.smiles as after
            )
            select distinct vendor_name, cs_id, before, after from removed order by vendor_name, cs_id, before";
        tell(connection, statement, report).await?;
    }
    sqlx::query("drop table doubled_entries").execute(connection).await.map_err(failed)?;
    Ok(())
}

/// Notes the entries of this import that had another structure before, and their building blocks, which may lose
/// their last offer.
pub(crate) async fn note(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    let statement = format!(
        "create temporary table changed_entries on commit drop as
         select distinct building_blocks.id, vendors.id as vendor_id, vendor_name, entries.id as cs_id,
            building_blocks.smiles as before, entries.smiles as after
         from (select distinct vendor_name, entry.id, smiles from staged {}) as entries
         join vendors on vendors.name = entries.vendor_name
         join offers on offers.vendor_id = vendors.id and offers.cs_id = entries.id
         join building_blocks
             on building_blocks.id = offers.building_block_id and building_blocks.smiles <> entries.smiles",
        WITH_ENTRY
    );
    sqlx::query(AssertSqlSafe(statement)).execute(&mut *connection).await?;
    let candidates =
        "create temporary table orphan_candidates on commit drop as select distinct id from changed_entries";
    sqlx::query(candidates).execute(connection).await?;
    Ok(())
}

/// Removes offers in other packs of the noted entries, which still have the earlier structure; returns their number.
pub(crate) async fn remove_earlier_offers(connection: &mut PgConnection) -> Result<u64, sqlx::Error> {
    let removed = sqlx::query(
        "delete from offers using changed_entries
         where offers.vendor_id = changed_entries.vendor_id and offers.cs_id = changed_entries.cs_id
             and offers.building_block_id = changed_entries.id",
    );
    Ok(removed.execute(connection).await?.rows_affected())
}

/// Passes the entries of a merged import that had another structure before to `report`.
///
/// # Errors
/// Fails if the database does, or if `report` does.
pub async fn since_before<E: From<CatalogueError>>(
    connection: &mut PgConnection,
    report: impl FnMut(&StructureChange) -> Result<(), E>,
) -> Result<(), E> {
    let statement =
        "select vendor_name, cs_id, before, after from changed_entries order by vendor_name, cs_id, before";
    tell(connection, statement, report).await
}

async fn tell<E: From<CatalogueError>>(
    connection: &mut PgConnection,
    statement: &'static str,
    mut report: impl FnMut(&StructureChange) -> Result<(), E>,
) -> Result<(), E> {
    let failed = CatalogueError::of("comparing the rows of one entry");
    let mut changes = sqlx::query_as::<_, StructureChange>(statement).fetch(connection);
    while let Some(change) = changes.try_next().await.map_err(failed)? {
        report(&change)?;
    }
    Ok(())
}
