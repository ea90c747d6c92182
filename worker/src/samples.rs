//! Inserts into the table of samples, as a worker needs them.

use contract::SampleJob;
use sqlx::PgConnection;

/// A sample that is complete and not yet stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletedSample {
    /// Id of the model that the molecules were drawn from.
    pub model_id: String,
    /// Distinct canonical SMILES, in the number that the job asks for.
    pub smiles: Vec<String>,
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
        "insert into samples (id, account_id, model_id, num_smiles, smiles, seed)
        values ($1, $2, $3, $4, $5, $6)",
        job.sample_id.to_string(),
        &job.account_id,
        &sample.model_id,
        i32::try_from(sample.smiles.len()).unwrap_or(i32::MAX),
        &sample.smiles,
        job.seed.cast_signed()
    )
    .execute(connection)
    .await?;
    Ok(())
}
