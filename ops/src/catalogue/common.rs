//! Common laboratory chemicals, in the catalogue beside the vendors' offers.

use catalogue::common_chemicals::{CHEMICALS, VENDOR_NAME};
use catalogue_tables::{common, load};
use serde_json::json;
use sqlx::PgConnection;

use super::note_waiting;
use crate::{audit_log::LoggedAction, failure::Failure};

/// Adds the common laboratory chemicals to the catalogue, if they are missing.
///
/// # Errors
/// Fails if the database does.
pub async fn add(database: &mut PgConnection) -> Result<(), Failure> {
    let reading = |error| Failure::database("reading the catalogue", &error);
    if common::is_there(database).await.map_err(reading)? {
        return Ok(());
    }
    let mut act = LoggedAction::begin(database, "adding what every laboratory has").await?;
    let failed = act.failed();
    load::lock(act.connection(), note_waiting).await.map_err(&failed)?;
    if !common::add(act.connection()).await.map_err(failed)? {
        return Ok(());
    }
    act.done("catalogue import", VENDOR_NAME, json!({ "loaded": CHEMICALS.len() })).await
}
