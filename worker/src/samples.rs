//! The table of samples, as far as a worker writes it.

use contract::SampleJob;
use sqlx::PgConnection;

/// A sample that is complete and not yet stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    /// The model that it came from.
    pub model_id: String,
    /// Canonical SMILES, as many as the job wants, no two the same.
    pub smiles: Vec<String>,
}

/// Inserts the sample of `job`, which is what a transaction does last: from here to the commit nobody reads a list that
/// it belongs to, see `place_sample` in the migrations.
pub(crate) async fn insert(
    connection: &mut PgConnection,
    job: &SampleJob,
    sample: &Drawn,
) -> Result<(), sqlx::Error> {
    // The column `seed` is signed: the same 64 bits.
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
