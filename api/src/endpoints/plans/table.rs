//! Table of plans, as the API reads and writes it. Workers write the results (`worker/src/plans.rs`).
//!
//! An account that may read another's samples may read its plans, as `accounts_readable_by` says. A plan of a batch
//! has the batch's parameters, and the result of the first plan of the batch with the same target. A plan is being
//! processed while a worker holds its job; no column records that.

use std::time::Duration;

use chrono::{DateTime, Utc};
use contract::{
    BatchProgress, Plan, PlanFigures, PlanObject, PlanParameters, PlanStatus, ShapedResult, TreeSearchRequest,
};
use queue::retention::BATCH_ROWS;
use serde_json::Value;
use sqlx::{PgConnection, PgPool, types::Json};

use crate::endpoints::{
    ownership::{Detail, OwnedRow},
    paging::PageRequest,
    problem_text,
};

/// A plan to be stored.
#[derive(Debug)]
pub struct NewPlan<'a> {
    pub id: &'a str,
    pub parameters: &'a PlanParameters,
    pub name: Option<String>,
    pub description: Option<String>,
    /// Job that makes it, where it is still to be made.
    pub job_id: Option<&'a str>,
    /// Gzipped result and figures of a finished search.
    pub found: Option<(&'a [u8], &'a PlanFigures)>,
}

/// A plan as it is stored.
#[derive(Debug)]
pub struct PlanRow {
    pub id: String,
    pub account_id: String,
    pub batch_id: Option<String>,
    search_smiles: String,
    parameters: Value,
    engine: String,
    name: Option<String>,
    description: Option<String>,
    /// Status in the table, or `processing`.
    status: String,
    /// Job that makes the plan; `None` if there is none yet.
    pub job_id: Option<String>,
    problem: Option<Value>,
    figures: Option<Value>,
    /// Gzipped JSON; `None` if it was not requested.
    pub result: Option<Vec<u8>>,
    /// Private vendors whose offers the reader may not see; empty if the result was not requested.
    pub hidden_vendors: Vec<String>,
    /// True if the reader may see all offers that the figures may rest on.
    pub sees_prices: bool,
    created_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
}

impl PlanRow {
    /// Returns true if the plan neither waits nor runs.
    pub fn has_ended(&self) -> bool {
        !matches!(&*self.status, "pending" | "processing")
    }

    /// Builds the plan with its `result`.
    pub fn into_plan(self, result: Option<ShapedResult>) -> Plan {
        let request = TreeSearchRequest::stored(self.parameters);
        let request = TreeSearchRequest { search_smiles: self.search_smiles, ..request };
        // A later release may store other words: then the plan has not ended.
        let status = serde_json::from_value(Value::String(self.status)).unwrap_or(PlanStatus::Pending);
        let problem = self.problem.filter(|_| status == PlanStatus::Failed);
        // A later release may store other figures.
        let figures: Option<PlanFigures> =
            self.figures.and_then(|figures| serde_json::from_value(figures).ok());
        let sees_prices = self.sees_prices;
        Plan {
            id: self.id,
            object: PlanObject::Plan,
            created_at: self.created_at,
            updated_at: self.updated_at,
            batch_id: self.batch_id,
            status,
            parameters: PlanParameters { request, engine: self.engine },
            name: self.name,
            description: self.description,
            result,
            figures: figures.map(|figures| if sees_prices { figures } else { figures.without_offers() }),
            error: problem.map(problem_text),
        }
    }
}

/// Stores a plan outside batches and returns it; an existing plan stays as it is, and is not returned.
pub async fn insert(
    connection: &mut PgConnection,
    account_id: &str,
    new: NewPlan<'_>,
) -> Result<Option<PlanRow>, sqlx::Error> {
    let (result, figures) = new.found.unzip();
    sqlx::query_as!(
        PlanRow,
        r#"insert into plans (id, account_id, search_smiles, parameters, engine, name, description, job_id, short_parameters, status,
            result, figures)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, case when $10::bytea is null then 'pending' else 'completed' end, $10, $11)
        on conflict (id) do nothing
        returning id, account_id, batch_id, search_smiles, parameters as "parameters!", engine, name, description, status, job_id, problem,
            figures, result, '{}'::text[] as "hidden_vendors!", true as "sees_prices!", created_at, updated_at"#,
        new.id,
        account_id,
        new.parameters.request.search_smiles,
        Json(&new.parameters.request) as _,
        new.parameters.engine,
        new.name,
        new.description,
        new.job_id,
        new.parameters.request.without_lists().map(Json) as _,
        result,
        figures.map(Json) as _
    )
    .fetch_optional(connection)
    .await
}

impl OwnedRow for PlanRow {
    async fn read(
        pool: &PgPool,
        reader: &str,
        ids: &[String],
        detail: Detail,
    ) -> Result<Vec<Self>, sqlx::Error> {
        sqlx::query_as!(
            PlanRow,
            r#"select plan.id, plan.account_id, plan.batch_id, plan.search_smiles,
                case when $3 then coalesce(plan.parameters, batch.parameters)
                    else coalesce(plan.short_parameters, batch.short_parameters, plan.parameters, batch.parameters)
                end as "parameters!", plan.engine, plan.name, plan.description,
                plan_standing(plan.status, made.status, made.job_id) as "status!", made.job_id, made.problem, made.figures,
                case when $3 then made.result end as result,
                array(select hidden.name from vendors_hidden_from($1) hidden where $3) as "hidden_vendors!",
                sees_prices_of($1, made.private_vendors) as "sees_prices!", plan.created_at,
                greatest(plan.updated_at, made.updated_at) as "updated_at!"
            from plans as plan
                join plans as made on made.id = coalesce(plan.same_as, plan.id)
                left join batches as batch on batch.id = plan.batch_id
            where plan.id = any($2) and plan.account_id in (select owner from accounts_readable_by($1) owner)
                and batch.deleted_at is null
            order by array_position($2, plan.id)"#,
            reader,
            ids,
            detail == Detail::Whole
        )
        .fetch_all(pool)
        .await
    }

    fn account_id(&self) -> &str {
        &self.account_id
    }
}

/// Cancels the plan unless it has ended; returns the jobs to cancel with it.
pub async fn cancel(connection: &mut PgConnection, id: &str) -> Result<Vec<Option<String>>, sqlx::Error> {
    sqlx::query_scalar!(
        "update plans set status = 'cancelled', updated_at = now() where id = $1 and status = 'pending' returning job_id",
        id
    )
    .fetch_all(connection)
    .await
}

/// Deletes the plan; returns the job to cancel.
pub async fn delete(connection: &mut PgConnection, id: &str) -> Result<Vec<Option<String>>, sqlx::Error> {
    sqlx::query_scalar!("delete from plans where id = $1 returning job_id", id).fetch_all(connection).await
}

/// Deletes plans outside batches that ended longer ago than `max_age`, of all accounts, the oldest first; at most one
/// transaction's worth.
pub async fn delete_older(connection: &mut PgConnection, max_age: Duration) -> Result<u64, sqlx::Error> {
    sqlx::query!(
        "delete from plans where id = any(array(
            select id from plans
            where batch_id is null and status <> 'pending' and created_at < now() - make_interval(secs => $1)
                and updated_at < now() - make_interval(secs => $1)
            order by created_at limit $2 for update skip locked
        ))",
        max_age.as_secs_f64(),
        BATCH_ROWS
    )
    .execute(connection)
    .await
    .map(|done| done.rows_affected())
}

/// A target of a batch.
#[derive(Debug)]
pub struct BatchTarget {
    /// Id of its plan.
    pub id: String,
    pub smiles: String,
    /// Name of its plan.
    pub name: Option<String>,
    /// Plan with the same molecule, whose result this one shares.
    pub same_as: Option<String>,
}

/// Fields that the plans of a batch share.
#[derive(Debug)]
pub struct BatchFields<'a> {
    pub account_id: &'a str,
    pub batch_id: &'a str,
    pub engine: &'a str,
}

/// Stores a plan for each of the targets, with positions from `first` on.
pub async fn insert_of_batch(
    connection: &mut PgConnection,
    batch: &BatchFields<'_>,
    first: i32,
    targets: &[BatchTarget],
) -> Result<(), sqlx::Error> {
    let ids: Vec<&str> = targets.iter().map(|target| target.id.as_str()).collect();
    let smiles: Vec<&str> = targets.iter().map(|target| target.smiles.as_str()).collect();
    let names: Vec<Option<&str>> = targets.iter().map(|target| target.name.as_deref()).collect();
    let same_as: Vec<Option<&str>> = targets.iter().map(|target| target.same_as.as_deref()).collect();
    sqlx::query!(
        "insert into plans (id, account_id, batch_id, engine, place, search_smiles, name, same_as)
        select target.id, $1, $2, $3, $4 + number::int - 1, target.smiles, target.name, target.same_as
        from unnest($5::text[], $6::text[], $7::text[], $8::text[]) with ordinality as target (id, smiles, name, same_as, number)",
        batch.account_id,
        batch.batch_id,
        batch.engine,
        first,
        &ids as &[&str],
        &smiles as &[&str],
        &names as &[Option<&str>],
        &same_as as &[Option<&str>]
    )
    .execute(connection)
    .await.map(drop)
}

/// Returns the ids of a page of the batch's plans, the nearest to the cursor first; `None` if the cursor is not a plan
/// of the batch.
pub async fn page_of_batch(
    pool: &PgPool,
    batch_id: &str,
    page_request: &PageRequest,
) -> Result<Option<Vec<String>>, sqlx::Error> {
    sqlx::query_scalar!(
        "select case when $2::text is null or listed.place is not null then array(
            select id from (
                (select id, place from plans where batch_id = $1 and place < coalesce(listed.place, 2147483647) and not $3
                    order by place desc limit $4)
                union all
                (select id, place from plans where batch_id = $1 and place > listed.place and $3 order by place limit $4)
            ) as page order by case when $3 then place else -place end
        ) end as ids
        from (select (select place from plans where batch_id = $1 and id = $2) as place) as listed",
        batch_id,
        page_request.from.as_deref(),
        page_request.is_newer(),
        page_request.count
    )
    .fetch_one(pool)
    .await
}

/// Returns the number of plans of the batch in each state. The counts are updated with every change
/// (`progress_of_batch`).
pub async fn progress_of_batch(pool: &PgPool, batch_id: &str) -> Result<BatchProgress, sqlx::Error> {
    let found = sqlx::query!(
        r#"select pending as "pending!", processing as "processing!", completed as "completed!", failed as "failed!",
            cancelled as "cancelled!", extract(epoch from now() - first_end)::float8 as seconds
        from progress_of_batch($1)"#,
        batch_id
    )
    .fetch_one(pool)
    .await?;
    let ended = found.completed + found.failed;
    let left = found.pending + found.processing;
    let pace = found.seconds.map(|seconds| seconds / ended.max(1) as f64);
    Ok(BatchProgress {
        pending: found.pending,
        processing: found.processing,
        completed: found.completed,
        failed: found.failed,
        cancelled: found.cancelled,
        seconds_left: if left == 0 { Some(0.0) } else { pace.map(|pace| pace * left as f64) },
    })
}

/// Cancels the plans of the batch that have not ended; returns the jobs to cancel with them.
pub async fn cancel_of_batch(
    connection: &mut PgConnection,
    batch_id: &str,
) -> Result<Vec<Option<String>>, sqlx::Error> {
    sqlx::query_scalar!(
        // A plan that shares another's result follows that one's state.
        "update plans set status = 'cancelled', updated_at = now()
        where batch_id = $1 and status = 'pending' and same_as is null
        returning job_id",
        batch_id
    )
    .fetch_all(connection)
    .await
}

/// Makes the cancelled plans of the batch wait again.
pub async fn resume_of_batch(connection: &mut PgConnection, batch_id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update plans set status = 'pending', job_id = null, problem = null, updated_at = now()
        where batch_id = $1 and status = 'cancelled'",
        batch_id
    )
    .execute(connection)
    .await
    .map(drop)
}

/// Returns the jobs of the batch's plans that have not ended.
pub async fn jobs_of_batch(
    connection: &mut PgConnection,
    batch_id: &str,
) -> Result<Vec<Option<String>>, sqlx::Error> {
    sqlx::query_scalar!(
        "select job_id from plans where batch_id = $1 and status = 'pending' and job_id is not null",
        batch_id
    )
    .fetch_all(connection)
    .await
}

/// Deletes plans of batches that are marked as deleted; at most one transaction's worth.
pub async fn delete_of_deleted(connection: &mut PgConnection) -> Result<u64, sqlx::Error> {
    sqlx::query!(
        "delete from plans where id = any(array(
            select plans.id from batches join plans on plans.batch_id = batches.id
            where batches.deleted_at is not null limit $1 for update of plans skip locked
        ))",
        BATCH_ROWS
    )
    .execute(connection)
    .await
    .map(|done| done.rows_affected())
}
