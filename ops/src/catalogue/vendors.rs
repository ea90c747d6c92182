//! Changes of the catalogue's vendors, each with its line in the audit log: visibility, preferences and removal.

use anyhow::anyhow;
use catalogue_tables::{
    load,
    vendors::{self, RemovedRows},
    verify,
};
use clap::ValueEnum;
use identity::tables::organisations::{self, OrganisationHandle};
use serde_json::json;
use sqlx::PgConnection;

use super::note_waiting;
use crate::{audit_log::LoggedAction, failure::Failure};

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
    let id = vendors::set_visibility(act.connection(), vendor, true).await?;
    let mut shown_to = Vec::new();
    for name in organisation_names {
        let organisation = known(act.connection(), name).await?;
        vendors::show_to(act.connection(), id, organisation.id()).await.map_err(&failed)?;
        shown_to.push(organisation.name);
    }
    load::notify_workers(act.connection()).await.map_err(failed)?;
    act.done("catalogue restrict", vendor, json!({ "shown_to": shown_to })).await
}

/// Shows a vendor to everybody.
///
/// # Errors
/// Fails if the vendor is unknown.
pub async fn publish(database: &mut PgConnection, vendor: &str) -> Result<(), Failure> {
    let mut act = LoggedAction::begin(database, "publishing the vendor").await?;
    let failed = act.failed();
    vendors::set_visibility(act.connection(), vendor, false).await?;
    load::notify_workers(act.connection()).await.map_err(failed)?;
    act.done("catalogue publish", vendor, json!({})).await
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
    let id = vendors::lock(act.connection(), vendor).await?;
    let organisation = match organisation {
        None => None,
        Some(name) => Some(known(act.connection(), name).await?),
    };
    let organisation_id = organisation.as_ref().map(OrganisationHandle::id);
    vendors::set_preference(act.connection(), id, organisation_id, preference.name())
        .await
        .map_err(failed)?;
    let details =
        json!({ "preference": preference.name(), "organisation": organisation.map(|named| named.name) });
    act.done("catalogue prefer", vendor, details).await
}

async fn known(database: &mut PgConnection, organisation: &str) -> Result<OrganisationHandle, Failure> {
    let found = organisations::named(database, organisation).await;
    let found = found.map_err(|error| Failure::database("looking for the organisation", &error))?;
    found.ok_or_else(|| anyhow!("there is no organisation {organisation}").into())
}

/// Removes a vendor with its offers, and the building blocks that no other vendor offers.
///
/// # Errors
/// Fails if the vendor is unknown.
pub async fn remove(database: &mut PgConnection, vendor: &str) -> Result<RemovedRows, Failure> {
    let mut act = LoggedAction::begin(database, "removing the vendor").await?;
    let failed = act.failed();
    load::lock(act.connection(), note_waiting).await.map_err(&failed)?;
    let removed = vendors::remove(act.connection(), vendor).await?;
    load::notify_workers(act.connection()).await.map_err(failed)?;
    let details = json!({ "offers": removed.offers, "building_blocks": removed.building_blocks });
    act.done("catalogue remove", vendor, details).await?;
    Ok(removed)
}

/// Removes the building blocks that nobody offers; returns their numbers and SMILES.
///
/// # Errors
/// Fails if the database does.
pub async fn remove_orphans(database: &mut PgConnection) -> Result<Vec<(i32, String)>, Failure> {
    let mut act = LoggedAction::begin(database, "repairing the catalogue").await?;
    let failed = act.failed();
    load::lock(act.connection(), note_waiting).await.map_err(&failed)?;
    let removed = verify::remove_orphans(act.connection()).await.map_err(&failed)?;
    if removed.is_empty() {
        return Ok(removed);
    }
    load::notify_workers(act.connection()).await.map_err(failed)?;
    act.done(
        "catalogue repair",
        "building blocks without offers",
        json!({ "building_blocks": removed.len() }),
    )
    .await?;
    Ok(removed)
}
