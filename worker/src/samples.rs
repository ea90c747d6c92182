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

/// Inserts the sample of `job`.
pub(crate) async fn insert(
    connection: &mut PgConnection,
    job: &SampleJob,
    sample: &Drawn,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "insert into samples (id, account_id, model_id, num_smiles, smiles, seed)
        values ($1, $2, $3, $4, $5, $6)",
    )
    .bind(job.sample_id.to_string())
    .bind(&job.account_id)
    .bind(&sample.model_id)
    .bind(i32::try_from(sample.smiles.len()).unwrap_or(i32::MAX))
    .bind(&sample.smiles)
    // The column is signed: the same 64 bits.
    .bind(job.seed.cast_signed())
    .execute(connection)
    .await?;
    Ok(())
}
