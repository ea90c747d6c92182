//! Access to the table of samples, as a worker needs it.

use contract::{MoleculeDetails, SampleJob};
use futures::TryStreamExt;
use sqlx::{PgConnection, PgPool, types::Json};

use crate::conditions::ExcludedMolecules;

/// A sample that is complete and not yet stored.
#[derive(Debug, Clone, PartialEq)]
pub struct CompletedSample {
    /// Id of the model that the molecules were drawn from.
    pub model_id: String,
    /// Distinct canonical SMILES, in the number that the job asks for.
    pub smiles: Vec<String>,
    /// Details of each molecule, if the job asks for them.
    pub details: Option<MoleculeDetails>,
    /// Number of its molecules that lay ready.
    pub ready: usize,
}

/// Inserts the sample of `job`. A transaction must do this last: until the commit, nobody can read a list that the
/// sample belongs to. See `place_sample` in the migrations.
pub(crate) async fn insert(
    connection: &mut PgConnection,
    job: &SampleJob,
    sample: &CompletedSample,
) -> Result<(), sqlx::Error> {
    // The column `seed` is a signed integer with the same 64 bits.
    sqlx::query!(
        "insert into samples (id, account_id, model_id, num_smiles, smiles, seed, details)
        values ($1, $2, $3, $4, $5, $6, $7)",
        job.sample_id.to_string(),
        &job.account_id,
        &sample.model_id,
        i32::try_from(sample.smiles.len()).unwrap_or(i32::MAX),
        &sample.smiles,
        job.seed.cast_signed(),
        sample.details.as_ref().map(Json) as _
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Reads the molecules of these samples and of the completed chunks of these sample batches.
///
/// The API has checked that the caller sees them. One that was deleted since then excludes nothing.
pub(crate) async fn excluded(pool: &PgPool, ids: &[String]) -> Result<ExcludedMolecules, sqlx::Error> {
    let mut excluded = ExcludedMolecules::default();
    if ids.is_empty() {
        return Ok(excluded);
    }
    // Row by row: together they may have a million molecules.
    let mut samples = sqlx::query_scalar!(
        "select smiles from samples
        where id = any($1 || array(select id from sample_orders where batch_id = any($1)))",
        ids
    )
    .fetch(pool);
    while let Some(smiles) = samples.try_next().await? {
        excluded.extend(&smiles);
    }
    Ok(excluded)
}
