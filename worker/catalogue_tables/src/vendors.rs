//! The vendors of the catalogue: list, visibility, preferences and removal.

use anyhow::anyhow;
use sqlx::PgConnection;

use crate::CatalogueError;

/// One vendor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vendor {
    /// Name.
    pub name: String,
    /// Offers.
    pub offers: i64,
    /// Offers with a price per gram.
    pub priced_offers: i64,
    /// Distinct building blocks offered.
    pub building_blocks: i64,
    /// Organisations that see the vendor; `None` if everybody does.
    pub shown_to: Option<Vec<String>>,
}

/// Vendors, by name.
///
/// # Errors
/// Fails if the database does.
pub async fn list(database: &mut PgConnection) -> Result<Vec<Vendor>, CatalogueError> {
    sqlx::query_as!(
        Vendor,
        r#"select name, count(offers.id) as "offers!", count(offers.normalised_usd) as "priced_offers!",
            count(distinct offers.building_block_id) as "building_blocks!",
            case when is_private then array(select organisations_shown(vendors.id)) end as "shown_to: Vec<String>"
         from vendors left join offers on offers.vendor_id = vendors.id
         group by vendors.id order by name"#
    )
    .fetch_all(database)
    .await
    .map_err(CatalogueError::of("reading the catalogue"))
}

/// Sets the visibility of a vendor and clears its list of organisations; returns its number.
///
/// # Errors
/// Fails if the vendor is unknown, or if the database fails.
pub async fn set_visibility(
    connection: &mut PgConnection,
    vendor: &str,
    is_private: bool,
) -> Result<i32, CatalogueError> {
    let failed = CatalogueError::of("changing who sees the vendor");
    let id = sqlx::query_scalar!(
        "update vendors set is_private = $2 where name = $1 returning id",
        vendor,
        is_private
    )
    .fetch_optional(&mut *connection)
    .await
    .map_err(failed)?;
    let id = id.ok_or_else(|| unknown(vendor))?;
    sqlx::query!("delete from vendor_organisations where vendor_id = $1", id)
        .execute(connection)
        .await
        .map_err(failed)?;
    Ok(id)
}

/// Shows a private vendor to one more organisation.
///
/// # Errors
/// Fails if the database does.
pub async fn show_to(
    connection: &mut PgConnection,
    vendor_id: i32,
    organisation_id: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into vendor_organisations (vendor_id, organisation_id) values ($1, $2) on conflict do nothing",
        vendor_id,
        organisation_id
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Locks a vendor's row until the transaction's end; returns its number.
///
/// # Errors
/// Fails if the vendor is unknown, or if the database fails.
pub async fn lock(connection: &mut PgConnection, vendor: &str) -> Result<i32, CatalogueError> {
    sqlx::query_scalar!("select id from vendors where name = $1 for update", vendor)
        .fetch_optional(connection)
        .await
        .map_err(CatalogueError::of("saying what is wanted of the vendor"))?
        .ok_or_else(|| unknown(vendor))
}

/// Sets the preference for a vendor, of an organisation or of the installation; `None` removes it.
///
/// # Errors
/// Fails if the database does.
pub async fn set_preference(
    connection: &mut PgConnection,
    vendor_id: i32,
    organisation_id: Option<&str>,
    preference: Option<&str>,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from vendor_preferences where vendor_id = $1 and organisation_id is not distinct from $2",
        vendor_id,
        organisation_id
    )
    .execute(&mut *connection)
    .await?;
    if let Some(preference) = preference {
        sqlx::query!(
            "insert into vendor_preferences (vendor_id, organisation_id, preference) values ($1, $2, $3)",
            vendor_id,
            organisation_id,
            preference
        )
        .execute(connection)
        .await?;
    }
    Ok(())
}

/// Rows removed with a vendor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemovedRows {
    /// Offers of the vendor.
    pub offers: u64,
    /// Building blocks that no other vendor offers.
    pub building_blocks: u64,
}

/// Removes a vendor with its offers, and the building blocks that no other vendor offers. The caller holds the
/// [`lock`](crate::load::lock) of the catalogue.
///
/// # Errors
/// Fails if the vendor is unknown, or if the database fails.
pub async fn remove(connection: &mut PgConnection, vendor: &str) -> Result<RemovedRows, CatalogueError> {
    let failed = CatalogueError::of("removing the vendor");
    let id = sqlx::query_scalar!("select id from vendors where name = $1", vendor)
        .fetch_optional(&mut *connection)
        .await
        .map_err(failed)?
        .ok_or_else(|| unknown(vendor))?;
    // A block without any offer cannot be ordered.
    let alone = sqlx::query_scalar!(
        "select distinct building_block_id from offers as theirs where vendor_id = $1
            and not exists (select from offers where building_block_id = theirs.building_block_id and vendor_id <> $1)",
        id
    )
    .fetch_all(&mut *connection)
    .await
    .map_err(failed)?;
    let offers = sqlx::query!("delete from offers where vendor_id = $1", id).execute(&mut *connection).await;
    let blocks = sqlx::query!("delete from building_blocks where id = any($1)", &alone)
        .execute(&mut *connection)
        .await;
    let removed = RemovedRows {
        offers: offers.map_err(failed)?.rows_affected(),
        building_blocks: blocks.map_err(failed)?.rows_affected(),
    };
    sqlx::query!("delete from vendors where id = $1", id).execute(connection).await.map_err(failed)?;
    Ok(removed)
}

fn unknown(vendor: &str) -> CatalogueError {
    anyhow!("there is no vendor {vendor}; see `retort catalogue vendors`").into()
}
