//! Worker access to the table of plans.

use contract::{PlanFigures, PlanJob, StoredPlanJob, TreeSearchRequest};
use queue::search_estimate;
use sqlx::{PgConnection, PgExecutor, PgPool, types::Json};
use synth::SearchUrgency;

use crate::feed::{BatchTables, NextPart, OpenBatch, feed};

/// Parameters of a plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueuedPlan {
    /// Account of the plan, which decides the visible vendors of its organisation.
    pub(crate) account_id: String,
    /// Search request.
    pub(crate) request: TreeSearchRequest,
    /// Scheduling class: a single plan or part of a batch.
    pub(crate) urgency: SearchUrgency,
}

/// Reads the parameters of the plan `id`; `None` if it was deleted, has ended, or cannot be read by anybody any more.
pub(crate) async fn read_parameters(
    database: impl PgExecutor<'_>,
    id: &str,
) -> Result<Option<QueuedPlan>, sqlx::Error> {
    let row = sqlx::query!(
        r#"select plan.account_id, search_smiles, coalesce(plan.parameters, batch.parameters) as "parameters!", batch_id
        from plans as plan left join batches as batch on batch.id = plan.batch_id
        where plan.id = $1 and status = 'pending' and batch.deleted_at is null"#,
        id
    )
    .fetch_optional(database)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let request: TreeSearchRequest =
        serde_json::from_value(row.parameters).map_err(|error| sqlx::Error::Decode(error.into()))?;
    Ok(Some(QueuedPlan {
        account_id: row.account_id,
        request: TreeSearchRequest { search_smiles: row.search_smiles, ..request },
        urgency: if row.batch_id.is_some() { SearchUrgency::Batch } else { SearchUrgency::Background },
    }))
}

/// Stores the result of the plan, as gzipped JSON, and its figures; false if the plan was deleted or has ended.
pub(crate) async fn complete(
    connection: &mut PgConnection,
    id: &str,
    result: &[u8],
    figures: &PlanFigures,
) -> Result<bool, sqlx::Error> {
    let done = sqlx::query!(
        "update plans set status = 'completed', result = $2, figures = $3, updated_at = now()
        where id = $1 and status = 'pending'",
        id,
        result,
        Json(figures) as _
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Enqueues jobs for plans of batches, until dropped.
pub async fn feed_plans(pool: PgPool) {
    feed::<PlanBatchTables>(pool).await;
}

/// Batches of plans.
struct PlanBatchTables;

impl BatchTables for PlanBatchTables {
    type Job = StoredPlanJob;
    /// Request without a target.
    type Parameters = TreeSearchRequest;

    async fn open(connection: &mut PgConnection) -> Result<Vec<OpenBatch<TreeSearchRequest>>, sqlx::Error> {
        let rows = sqlx::query!(
            r#"select distinct on (account_id) id, account_id, parameters, (
                select count(*) from plans
                where plans.account_id = batches.account_id and status = 'pending' and job_id is not null and batch_id is not null
            ) as "in_flight!"
            from batches
            where not is_begun and cancelled_at is null and deleted_at is null
                and exists (select from accounts where accounts.id = account_id and disabled_at is null)
                and pg_try_advisory_xact_lock(hashtextextended('plans of batches are given their jobs', 0))
            order by account_id, id"#
        )
        .fetch_all(connection)
        .await?;
        // Unknown fields of a batch fail each of its plans, which are parsed strictly when they run.
        let open = rows.into_iter().map(|row| OpenBatch {
            id: row.id,
            account_id: row.account_id,
            parameters: TreeSearchRequest::stored(row.parameters),
            in_flight: row.in_flight,
        });
        Ok(open.collect())
    }

    async fn lock(connection: &mut PgConnection, id: &str) -> Result<bool, sqlx::Error> {
        let found = sqlx::query_scalar!(
            "select id from batches where id = $1 and not is_begun and cancelled_at is null and deleted_at is null
            for update skip locked",
            id
        )
        .fetch_optional(connection)
        .await?;
        Ok(found.is_some())
    }

    async fn next(
        connection: &mut PgConnection,
        batch: &OpenBatch<TreeSearchRequest>,
        most: i64,
    ) -> Result<Vec<NextPart<StoredPlanJob>>, sqlx::Error> {
        let (_, expected_seconds) = search_estimate(&batch.parameters);
        let rows = sqlx::query!(
            "select id, engine from plans
            where batch_id = $1 and status = 'pending' and job_id is null and same_as is null
            order by place limit $2 for update",
            batch.id,
            most
        )
        .fetch_all(connection)
        .await?;
        let next = rows.into_iter().map(|row| {
            let job = PlanJob { plan_id: row.id.clone(), engine: row.engine, expected_seconds };
            NextPart { id: row.id, job: StoredPlanJob::V1(job) }
        });
        Ok(next.collect())
    }

    async fn begin(connection: &mut PgConnection, part: &str, job_id: &str) -> Result<(), sqlx::Error> {
        sqlx::query!("update plans set job_id = $2 where id = $1", part, job_id).execute(connection).await?;
        Ok(())
    }

    async fn all_begun(connection: &mut PgConnection, id: &str) -> Result<(), sqlx::Error> {
        sqlx::query!("update batches set is_begun = true where id = $1", id).execute(connection).await?;
        Ok(())
    }
}
