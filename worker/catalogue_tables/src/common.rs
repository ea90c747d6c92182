//! Common laboratory chemicals, in the catalogue beside the vendors' offers.

use catalogue::common_chemicals::{CHEMICALS, VENDOR, VENDOR_NAME};
use chem::Molecule;
use sqlx::PgConnection;

use crate::load;

/// Adds the common laboratory chemicals to the catalogue; returns false if they are there. The caller holds the
/// [`lock`](load::lock).
///
/// # Errors
/// Fails if the database does.
pub async fn add(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    let is_new = sqlx::query!(
        "insert into vendors (id, name) overriding system value values ($1, $2) on conflict do nothing",
        VENDOR,
        VENDOR_NAME
    )
    .execute(&mut *connection)
    .await?;
    if is_new.rows_affected() == 0 {
        return Ok(false);
    }
    for &(name, smiles) in CHEMICALS.iter() {
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
        .execute(&mut *connection)
        .await?;
    }
    load::notify_workers(connection).await?;
    Ok(true)
}

/// Returns true if they are in the catalogue, so that a command need not wait for another one that changes it.
///
/// # Errors
/// Fails if the database does.
pub async fn is_there(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(r#"select exists (select from vendors where id = $1) as "is_there!""#, VENDOR)
        .fetch_one(connection)
        .await
}
