//! Worker access to the tables of asynchronous samples and sample batches.

use contract::{AsyncSampleJob, JobFailure, NotASampleId, SampleConditions, StoredAsyncSampleJob};
use sqlx::{PgConnection, PgExecutor, PgPool, types::Json};

use crate::feed::{BatchTables, NextPart, OpenBatch, feed};

/// Parameters of an asynchronous sample that its job does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AsyncSampleParameters {
    /// Account that will own the sample.
    pub(crate) account_id: String,
    /// Seed: the same seed and model give the same molecules, except those that other chunks of the batch have.
    pub(crate) seed: u64,
    /// Batch of the chunk, as its claims name it.
    pub(crate) batch: Option<i64>,
    /// Failure of a chunk of the batch for which too few molecules satisfied the conditions.
    pub(crate) too_narrow: Option<JobFailure>,
}

/// Reads the parameters of the asynchronous sample `id`; `None` if it was deleted or has ended.
pub(crate) async fn read_parameters(
    database: impl PgExecutor<'_>,
    id: &str,
) -> Result<Option<AsyncSampleParameters>, sqlx::Error> {
    let row = sqlx::query!(
        r#"select account_id, seed, (select number from sample_batches where sample_batches.id = batch_id) as batch, (
            select problem from sample_orders as other
            where other.batch_id = wanted.batch_id and status = 'failed' and problem ->> 'problem' = 'conditions_too_narrow'
            order by place limit 1
        ) as "too_narrow: Json<JobFailure>"
        from sample_orders as wanted where id = $1 and status = 'pending'"#,
        id
    )
    .fetch_optional(database)
    .await?;
    Ok(row.map(|row| AsyncSampleParameters {
        account_id: row.account_id,
        seed: row.seed.cast_unsigned(),
        batch: row.batch,
        too_narrow: row.too_narrow.map(|failure| failure.0),
    }))
}

/// Locks the asynchronous sample until the transaction ends; false if it was deleted or has ended. A deletion waits
/// for the lock.
pub(crate) async fn lock(connection: &mut PgConnection, id: &str) -> Result<bool, sqlx::Error> {
    let found = sqlx::query_scalar!(
        "select id from sample_orders where id = $1 and status = 'pending' for update",
        id
    )
    .fetch_optional(connection)
    .await?;
    Ok(found.is_some())
}

/// Returns the first molecules that no other chunk of the batch has, at most the requested number, in order.
pub(crate) async fn unclaimed(
    database: impl PgExecutor<'_>,
    batch: i64,
    molecules: &[String],
    most: usize,
) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select smiles as "smiles!" from unnest($2::text[]) with ordinality as drawn (smiles, place)
        where not exists (
            select from sample_claims where batch = $1 and digest = sha256(convert_to(smiles, 'UTF8'))
        )
        order by place limit $3"#,
        batch,
        molecules,
        i64::try_from(most).unwrap_or(i64::MAX)
    )
    .fetch_all(database)
    .await
}

/// Claims the molecules for a chunk of the batch; false if another chunk has one of them. The claims hold if the
/// transaction commits; another chunk that wants one of them waits for that.
pub(crate) async fn claim(
    connection: &mut PgConnection,
    batch: i64,
    molecules: &[String],
) -> Result<bool, sqlx::Error> {
    // Sorted by digest, so that chunks that claim at the same time cannot deadlock.
    let claimed = sqlx::query!(
        "insert into sample_claims (batch, digest)
        select $1, sha256(convert_to(smiles, 'UTF8')) as digest from unnest($2::text[]) as drawn (smiles) order by digest
        on conflict do nothing",
        batch,
        molecules
    )
    .execute(connection)
    .await?;
    Ok(usize::try_from(claimed.rows_affected()) == Ok(molecules.len()))
}

/// Marks the asynchronous sample as completed.
pub(crate) async fn complete(connection: &mut PgConnection, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("update sample_orders set status = 'completed' where id = $1", id)
        .execute(connection)
        .await?;
    Ok(())
}

/// Deletes the batch's claims if all of its chunks are made, since they are no longer needed.
pub(crate) async fn forget_claims(pool: &PgPool, batch: i64) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "delete from sample_claims where batch = $1 and not exists (
            select from sample_batches join sample_orders on sample_orders.batch_id = sample_batches.id
            where sample_batches.number = $1 and status <> 'completed'
        )",
        batch
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Enqueues jobs for chunks of sample batches, until dropped.
pub async fn feed_orders(pool: PgPool) {
    feed::<SampleBatchTables>(pool).await;
}

/// Sample batches.
struct SampleBatchTables;

impl BatchTables for SampleBatchTables {
    type Job = StoredAsyncSampleJob;
    type Parameters = ();

    async fn open(connection: &mut PgConnection) -> Result<Vec<OpenBatch<()>>, sqlx::Error> {
        // A statement of its own: the next one sees what the process that had the lock before has committed.
        let is_locked = sqlx::query_scalar!(
            r#"select pg_try_advisory_xact_lock(hashtextextended('chunks of sample batches are given their jobs', 0)) as "locked!""#
        )
        .fetch_one(&mut *connection)
        .await?;
        if !is_locked {
            return Ok(Vec::new());
        }
        let rows = sqlx::query!(
            r#"select distinct on (account_id) id, account_id, (
                select count(*) from sample_orders
                where sample_orders.account_id = sample_batches.account_id and status = 'pending' and job_id is not null
                    and batch_id is not null
            ) as "in_flight!"
            from sample_batches
            where is_begun is not true and exists (select from accounts where accounts.id = account_id and disabled_at is null)
                and not (conditions -> 'seed' is not null and exists (
                    select from sample_orders where batch_id = sample_batches.id and status = 'pending' and job_id is not null
                ))
            order by account_id, id"#
        )
        .fetch_all(connection)
        .await?;
        let open = |id, account_id, in_flight| OpenBatch { id, account_id, parameters: (), in_flight };
        Ok(rows.into_iter().map(|row| open(row.id, row.account_id, row.in_flight)).collect())
    }

    async fn lock(connection: &mut PgConnection, id: &str) -> Result<bool, sqlx::Error> {
        let found = sqlx::query_scalar!(
            "select id from sample_batches where id = $1 and is_begun is not true for update skip locked",
            id
        )
        .fetch_optional(connection)
        .await?;
        Ok(found.is_some())
    }

    async fn next(
        connection: &mut PgConnection,
        batch: &OpenBatch<()>,
        most: i64,
    ) -> Result<Vec<NextPart<StoredAsyncSampleJob>>, sqlx::Error> {
        let terms = sqlx::query!(
            r#"select conditions as "conditions: Json<SampleConditions>", details from sample_batches where id = $1"#,
            batch.id
        )
        .fetch_one(&mut *connection)
        .await?;
        let conditions = terms.conditions.map(|conditions| conditions.0).unwrap_or_default();
        let rows = sqlx::query!(
            "select id, model_id, size from sample_orders
            where batch_id = $1 and status = 'pending' and job_id is null
            order by place limit $2 for update",
            batch.id,
            if conditions.seed.is_some() { most.min(1) } else { most }
        )
        .fetch_all(connection)
        .await?;
        let next = rows.into_iter().map(|row| {
            let sample_id =
                row.id.parse().map_err(|error: NotASampleId| sqlx::Error::Decode(error.into()))?;
            let job = AsyncSampleJob {
                sample_id,
                model_id: row.model_id,
                size: row.size.unsigned_abs(),
                conditions: conditions.clone(),
                details: terms.details,
            };
            Ok(NextPart { id: row.id, job: StoredAsyncSampleJob::of_chunk(job) })
        });
        next.collect()
    }

    async fn begin(connection: &mut PgConnection, part: &str, job_id: &str) -> Result<(), sqlx::Error> {
        sqlx::query!("update sample_orders set job_id = $2 where id = $1", part, job_id)
            .execute(connection)
            .await?;
        Ok(())
    }

    async fn all_begun(connection: &mut PgConnection, id: &str) -> Result<(), sqlx::Error> {
        // A batch with a seed gets one job at a time.
        sqlx::query!(
            "update sample_batches set is_begun = true where id = $1 and not exists (
                select from sample_orders where batch_id = $1 and status = 'pending' and job_id is null
            )",
            id
        )
        .execute(connection)
        .await?;
        Ok(())
    }
}
