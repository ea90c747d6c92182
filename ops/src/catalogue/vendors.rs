//! The vendors of the catalogue: list, visibility, and removal.

use anyhow::anyhow;
use clap::ValueEnum;
use identity::tables::organisations::{self, OrganisationHandle};
use serde_json::json;
use sqlx::PgConnection;

use super::load;
use crate::{audit_log::LoggedAction, failure::Failure};

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
pub async fn list(database: &mut PgConnection) -> Result<Vec<Vendor>, Failure> {
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
    .map_err(|error| Failure::database("reading the catalogue", &error))
}

/// Shows a vendor only to these organisations; to none if the list is empty.
///
/// # Errors
/// Fails, and changes nothing, if the vendor or one of the organisations is unknown.
pub async fn restrict(
    database: &mut PgConnection,
    vendor: &str,
    organisation_names: &[String],
) -> Result<(), Failure> {
    let mut act = LoggedAction::begin(database, "restricting the vendor").await?;
    let failed = act.failed();
    let id = set_visibility(act.connection(), vendor, true).await?;
    let mut shown_to = Vec::new();
    for name in organisation_names {
        let organisation = known(act.connection(), name).await?;
        sqlx::query!(
            "insert into vendor_organisations (vendor_id, organisation_id) values ($1, $2) on conflict do nothing",
            id,
            organisation.id()
        )
        .execute(act.connection())
        .await
        .map_err(&failed)?;
        shown_to.push(organisation.name);
    }
    load::changed(act.connection()).await.map_err(failed)?;
    act.done("catalogue restrict", vendor, json!({ "shown_to": shown_to })).await
}

/// Shows a vendor to everybody.
///
/// # Errors
/// Fails if the vendor is unknown.
pub async fn publish(database: &mut PgConnection, vendor: &str) -> Result<(), Failure> {
    let mut act = LoggedAction::begin(database, "publishing the vendor").await?;
    let failed = act.failed();
    set_visibility(act.connection(), vendor, false).await?;
    load::changed(act.connection()).await.map_err(failed)?;
    act.done("catalogue publish", vendor, json!({})).await
}

/// Sets the visibility of a vendor and clears its list of organisations; returns its number.
async fn set_visibility(database: &mut PgConnection, vendor: &str, is_private: bool) -> Result<i32, Failure> {
    let failed = |error| Failure::database("changing who sees the vendor", &error);
    let id = sqlx::query_scalar!(
        "update vendors set is_private = $2 where name = $1 returning id",
        vendor,
        is_private
    )
    .fetch_optional(&mut *database)
    .await
    .map_err(failed)?;
    let id = id.ok_or_else(|| unknown(vendor))?;
    sqlx::query!("delete from vendor_organisations where vendor_id = $1", id)
        .execute(database)
        .await
        .map_err(failed)?;
    Ok(id)
}

/// Preference of an installation or an organisation for a vendor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Preference {
    /// Restrict searches to the vendors marked this way.
    Only,
    /// Ignore its offers.
    Never,
    /// Prefer it in shopping lists, even if others are cheaper.
    First,
    /// No preference.
    None,
}

impl Preference {
    const fn name(self) -> Option<&'static str> {
        match self {
            Self::Only => Some("only"),
            Self::Never => Some("never"),
            Self::First => Some("first"),
            Self::None => None,
        }
    }
}

/// Sets the preference for a vendor, for an organisation's searches or as the default of all others.
///
/// # Errors
/// Fails, and changes nothing, if the vendor or the organisation is unknown.
pub async fn prefer(
    database: &mut PgConnection,
    vendor: &str,
    preference: Preference,
    organisation: Option<&str>,
) -> Result<(), Failure> {
    let mut act = LoggedAction::begin(database, "saying what is wanted of the vendor").await?;
    let failed = act.failed();
    let id = sqlx::query_scalar!("select id from vendors where name = $1 for update", vendor)
        .fetch_optional(act.connection())
        .await
        .map_err(&failed)?
        .ok_or_else(|| unknown(vendor))?;
    let organisation = match organisation {
        None => None,
        Some(name) => Some(known(act.connection(), name).await?),
    };
    let organisation_id = organisation.as_ref().map(OrganisationHandle::id);
    sqlx::query!(
        "delete from vendor_preferences where vendor_id = $1 and organisation_id is not distinct from $2",
        id,
        organisation_id
    )
    .execute(act.connection())
    .await
    .map_err(&failed)?;
    if let Some(preference) = preference.name() {
        sqlx::query!(
            "insert into vendor_preferences (vendor_id, organisation_id, preference) values ($1, $2, $3)",
            id,
            organisation_id,
            preference
        )
        .execute(act.connection())
        .await
        .map_err(failed)?;
    }
    let details =
        json!({ "preference": preference.name(), "organisation": organisation.map(|named| named.name) });
    act.done("catalogue prefer", vendor, details).await
}

async fn known(database: &mut PgConnection, organisation: &str) -> Result<OrganisationHandle, Failure> {
    let found = organisations::named(database, organisation).await;
    let found = found.map_err(|error| Failure::database("looking for the organisation", &error))?;
    found.ok_or_else(|| anyhow!("there is no organisation {organisation}").into())
}

/// Rows removed with a vendor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemovedRows {
    /// Offers of the vendor.
    pub offers: u64,
    /// Building blocks that no other vendor offers.
    pub building_blocks: u64,
}

/// Removes a vendor with its offers, and the building blocks that no other vendor offers.
///
/// # Errors
/// Fails if the vendor is unknown.
pub async fn remove(database: &mut PgConnection, vendor: &str) -> Result<RemovedRows, Failure> {
    let mut act = LoggedAction::begin(database, "removing the vendor").await?;
    let failed = act.failed();
    load::lock(act.connection()).await.map_err(&failed)?;
    let id = sqlx::query_scalar!("select id from vendors where name = $1", vendor)
        .fetch_optional(act.connection())
        .await
        .map_err(&failed)?
        .ok_or_else(|| unknown(vendor))?;
    // A block without any offer cannot be ordered.
    let alone = sqlx::query_scalar!(
        "select distinct building_block_id from offers as theirs where vendor_id = $1
            and not exists (select from offers where building_block_id = theirs.building_block_id and vendor_id <> $1)",
        id
    )
    .fetch_all(act.connection())
    .await
    .map_err(&failed)?;
    let offers = sqlx::query!("delete from offers where vendor_id = $1", id).execute(act.connection()).await;
    let blocks = sqlx::query!("delete from building_blocks where id = any($1)", &alone)
        .execute(act.connection())
        .await;
    let removed = RemovedRows {
        offers: offers.map_err(&failed)?.rows_affected(),
        building_blocks: blocks.map_err(&failed)?.rows_affected(),
    };
    sqlx::query!("delete from vendors where id = $1", id).execute(act.connection()).await.map_err(&failed)?;
    load::changed(act.connection()).await.map_err(failed)?;
    let details = json!({ "offers": removed.offers, "building_blocks": removed.building_blocks });
    act.done("catalogue remove", vendor, details).await?;
    Ok(removed)
}

fn unknown(vendor: &str) -> Failure {
    anyhow!("there is no vendor {vendor}; see `retort catalogue vendors`").into()
}
