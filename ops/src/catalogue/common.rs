//! Common laboratory chemicals, in the catalogue beside the vendors' offers.

use catalogue::common_chemicals::{CHEMICALS, VENDOR, VENDOR_NAME};
use chem::Molecule;
use serde_json::json;
use sqlx::PgConnection;

use super::load;
use crate::{audit_log::LoggedAction, failure::Failure};

/// Adds the common laboratory chemicals to the catalogue, if they are missing.
///
/// # Errors
/// Fails if the database does.
pub async fn add(database: &mut PgConnection) -> Result<(), Failure> {
    if is_there(database).await? {
        return Ok(());
    }
    let mut act = LoggedAction::begin(database, "adding what every laboratory has").await?;
    let failed = act.failed();
    load::lock(act.connection()).await.map_err(&failed)?;
    let is_new = sqlx::query!(
        "insert into vendors (id, name) overriding system value values ($1, $2) on conflict do nothing",
        VENDOR,
        VENDOR_NAME
    )
    .execute(act.connection())
    .await
    .map_err(&failed)?;
    if is_new.rows_affected() == 0 {
        return Ok(());
    }
    for (name, smiles) in CHEMICALS {
        let molecule: Molecule = smiles.parse().expect("common chemicals: they are molecules");
        let mw = molecule.molecular_weight();
        sqlx::query!(
            "with block as (
                insert into building_blocks (smiles, mw, morgan_bits) values ($1, $2::float8::real, $3)
                on conflict (smiles) do update set smiles = excluded.smiles
                returning id
            )
            insert into offers (building_block_id, vendor_id, full_canonical, minor_components, full_mw, cs_id, cs_prefix, cs_url)
            select id, $4, $1, '', $2::float8, $5, '', '' from block",
            molecule.canonical_smiles(),
            mw,
            molecule.fingerprint().to_bytes(),
            VENDOR,
            name
        )
        .execute(act.connection())
        .await
        .map_err(&failed)?;
    }
    load::changed(act.connection()).await.map_err(failed)?;
    act.done("catalogue import", VENDOR_NAME, json!({ "loaded": CHEMICALS.len() })).await
}

/// Returns true if they are in the catalogue, so that this command does not wait for another one that changes it.
async fn is_there(database: &mut PgConnection) -> Result<bool, Failure> {
    sqlx::query_scalar!(r#"select exists (select from vendors where id = $1) as "is_there!""#, VENDOR)
        .fetch_one(database)
        .await
        .map_err(|error| Failure::database("reading the catalogue", &error))
}
