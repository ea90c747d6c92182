//! The table of plans, as far as a worker reads and writes it.

use contract::{PlanFigures, TreeSearchRequest};
use sqlx::{PgConnection, PgExecutor, types::Json};
use synth::Urgency;

/// What a plan asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Wanted {
    /// Who asks, and so sees their organisation's vendors.
    pub(crate) account_id: String,
    /// What is searched for.
    pub(crate) request: TreeSearchRequest,
    /// Whether it is one of many.
    pub(crate) urgency: Urgency,
}

/// What the plan `id` asks for; `None` where it is gone, has ended, or nobody can read it any more.
pub(crate) async fn wanted(database: impl PgExecutor<'_>, id: &str) -> Result<Option<Wanted>, sqlx::Error> {
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
    Ok(Some(Wanted {
        account_id: row.account_id,
        request: TreeSearchRequest { search_smiles: row.search_smiles, ..request },
        urgency: if row.batch_id.is_some() { Urgency::Batch } else { Urgency::Asked },
    }))
}

/// Stores what was found for the plan, as JSON that is gzipped, and what it is like; false where the plan is gone or has ended.
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

/// A batch with plans that are to be begun.
#[derive(Debug)]
pub(crate) struct OpenBatch {
    pub(crate) id: String,
    pub(crate) account_id: String,
    /// Without a target.
    pub(crate) parameters: TreeSearchRequest,
    /// Jobs that the account has in flight for its batches.
    pub(crate) in_flight: i64,
}

/// The oldest batch of each account that has plans to be begun; none while another process looks.
pub(crate) async fn open_batches(connection: &mut PgConnection) -> Result<Vec<OpenBatch>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"select distinct on (account_id) id, account_id, parameters, (
            select count(*) from plans
            where plans.account_id = batches.account_id and status = 'pending' and job_id is not null and batch_id is not null
        ) as "in_flight!"
        from batches
        where not is_begun and cancelled_at is null and deleted_at is null
            and pg_try_advisory_xact_lock(hashtextextended('plans of batches are given their jobs', 0))
        order by account_id, id"#
    )
    .fetch_all(connection)
    .await?;
    let open = rows.into_iter().map(|row| {
        let parameters =
            serde_json::from_value(row.parameters).map_err(|error| sqlx::Error::Decode(error.into()))?;
        Ok(OpenBatch { id: row.id, account_id: row.account_id, parameters, in_flight: row.in_flight })
    });
    open.collect()
}

/// Holds a batch until the transaction ends; false where it is not to be begun any more, or somebody else holds it.
pub(crate) async fn lock(connection: &mut PgConnection, id: &str) -> Result<bool, sqlx::Error> {
    let found = sqlx::query_scalar!(
        "select id from batches where id = $1 and not is_begun and cancelled_at is null and deleted_at is null
        for update skip locked",
        id
    )
    .fetch_optional(connection)
    .await?;
    Ok(found.is_some())
}

/// A plan that is to be begun.
#[derive(Debug)]
pub(crate) struct Next {
    pub(crate) id: String,
    pub(crate) engine: String,
}

/// The next plans of the batch that wait for a job, at most so many.
pub(crate) async fn next_of(
    connection: &mut PgConnection,
    batch_id: &str,
    most: i64,
) -> Result<Vec<Next>, sqlx::Error> {
    sqlx::query_as!(
        Next,
        "select id, engine from plans
        where batch_id = $1 and status = 'pending' and job_id is null and same_as is null
        order by place limit $2 for update",
        batch_id,
        most
    )
    .fetch_all(connection)
    .await
}

/// Says which job makes the plan.
pub(crate) async fn begin(connection: &mut PgConnection, id: &str, job_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("update plans set job_id = $2 where id = $1", id, job_id).execute(connection).await?;
    Ok(())
}

/// Says that no plan of the batch waits for a job.
pub(crate) async fn all_begun(connection: &mut PgConnection, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("update batches set is_begun = true where id = $1", id).execute(connection).await?;
    Ok(())
}
