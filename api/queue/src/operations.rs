//! Operator actions on queues and jobs, and the views that operators see.
//!
//! An action runs on the caller's connection, in the transaction that also holds its entry in the audit log. Its
//! NOTIFY leaves with the commit, so that nobody is notified of an action that did not happen.

use std::fmt;

use chrono::{DateTime, Utc};
use contract::{FailedJob, JobFailure, JobInFlight, JobState, QueuePause, StoredSampleJob, WorkerState};
use database::interval;
use serde_json::Value;
use sqlx::{PgConnection, PgExecutor};

use crate::{Job, config::DEAD_AFTER, store};

/// The first items of a list, and the total.
#[derive(Debug)]
pub struct TruncatedList<T> {
    /// First items.
    pub first: Vec<T>,
    /// Total number of items.
    pub total: i64,
}

/// Returns the database's time.
///
/// # Errors
/// Fails when the database does, like everything here.
pub async fn now(database: impl PgExecutor<'_>) -> Result<DateTime<Utc>, sqlx::Error> {
    sqlx::query_scalar!(r#"select now() as "now!""#).fetch_one(database).await
}

/// Returns the paused queues.
pub async fn pauses(database: impl PgExecutor<'_>) -> Result<Vec<(String, QueuePause)>, sqlx::Error> {
    let rows =
        sqlx::query!("select queue, paused_at, paused_by from paused_queues").fetch_all(database).await?;
    let pause = |since, by| QueuePause { since, by };
    Ok(rows.into_iter().map(|row| (row.queue, pause(row.paused_at, row.paused_by))).collect())
}

/// Returns the workers that live or did until a moment ago, by queue and name.
pub async fn workers(database: impl PgExecutor<'_>) -> Result<Vec<WorkerState>, sqlx::Error> {
    sqlx::query_as!(
        WorkerState,
        r#"select worker.name, worker.queue, worker.host, worker.started_at, worker.last_seen,
            worker.last_seen > now() - $1::interval as "live!", worker.slots,
            worker.ready_places + worker.guest_places as "more_places!",
            array(select model_id from live_models where worker = worker.name order by model_id) as "models!",
            array(
                select id from jobs where holder = worker.name and finished_at is null order by id
            ) as "holds!"
        from live_workers as worker order by worker.queue, worker.name"#,
        interval(DEAD_AFTER)
    )
    .fetch_all(database)
    .await
}

/// Returns the jobs in flight, at most `most`: running ones first, each group in the order of its virtual start
/// times. Accounts appear by id.
pub async fn in_flight(
    database: impl PgExecutor<'_>,
    most: i64,
) -> Result<TruncatedList<JobInFlight>, sqlx::Error> {
    let rows = sqlx::query!(
        r#"select job.id, job.queue, job.account_id, job.kind, job.model_id, job.attempts, job.created_at, job.started_at,
            job.deadline, is_held as "is_held!", job.holder as worker, count(*) over () as "total!"
        from jobs as job cross join lateral (select coalesce(job.held_until > now(), false) as is_held) as hold
        where job.finished_at is null and job.cancelled_at is null and (job.deadline > now() or is_held)
        order by is_held desc, job.turn_begins, job.deadline limit $1"#,
        most
    )
    .fetch_all(database)
    .await?;
    let total = rows.first().map_or(0, |row| row.total);
    let jobs = rows.into_iter().map(|row| JobInFlight {
        id: row.id,
        queue: row.queue,
        account: row.account_id,
        kind: row.kind,
        model_id: row.model_id,
        state: if row.is_held { JobState::Running } else { JobState::Waiting },
        attempts: row.attempts,
        enqueued_at: row.created_at,
        started_at: row.started_at,
        deadline: row.deadline,
        worker: row.worker.filter(|_| row.is_held),
    });
    Ok(TruncatedList { first: jobs.collect(), total })
}

/// Returns the stored jobs that failed, at most `most`, the latest first. Accounts appear by id.
pub async fn failures(
    database: impl PgExecutor<'_>,
    most: i64,
) -> Result<TruncatedList<FailedJob>, sqlx::Error> {
    // A job that its caller left has not failed.
    let rows = sqlx::query!(
        r#"select id, queue, account_id, model_id, attempts, finished_at as "finished_at!",
            outcome -> 'Err' as "problem!", coalesce(cancelled_by, last_error) as detail, count(*) over () as "total!"
        from jobs
        where finished_at is not null and outcome ? 'Err' and outcome #>> '{Err,problem}' is distinct from 'cancelled'
        order by finished_at desc limit $1"#,
        most
    )
    .fetch_all(database)
    .await?;
    let total = rows.first().map_or(0, |row| row.total);
    let jobs = rows.into_iter().map(|row| FailedJob {
        id: row.id,
        queue: row.queue,
        account: row.account_id,
        model_id: row.model_id,
        attempts: row.attempts,
        failed_at: row.finished_at,
        problem: row.problem.get("problem").and_then(Value::as_str).unwrap_or_default().to_owned(),
        error: in_words(&row.problem, row.detail.as_deref()),
    });
    Ok(TruncatedList { first: jobs.collect(), total })
}

fn in_words(problem: &Value, detail: Option<&str>) -> String {
    // A later release may know more problems than this one; then the stored word is shown.
    let words = serde_json::from_value::<JobFailure>(problem.clone()).map_or_else(
        |_| problem["problem"].as_str().unwrap_or_default().to_owned(),
        |known| known.to_string(),
    );
    detail.map_or(words.clone(), |detail| format!("{words}: {detail}"))
}

/// Returns the number of molecules that live samplers keep ready, by model; the largest that a sampler states.
pub async fn ready_targets(database: impl PgExecutor<'_>) -> Result<Vec<(String, Option<i64>)>, sqlx::Error> {
    let rows = sqlx::query!(
        "select model_id, max(ready_target) as target
        from live_models join live_workers on live_workers.name = live_models.worker
        where last_seen > now() - $1::interval and queue = $2 group by model_id",
        interval(DEAD_AFTER),
        StoredSampleJob::QUEUE
    )
    .fetch_all(database)
    .await?;
    Ok(rows.into_iter().map(|row| (row.model_id, row.target)).collect())
}

/// Pauses `queue` in the name of `operator`; false if it is paused already.
pub async fn pause(connection: &mut PgConnection, queue: &str, operator: &str) -> Result<bool, sqlx::Error> {
    let done = sqlx::query!(
        "insert into paused_queues (queue, paused_by) values ($1, $2) on conflict do nothing",
        queue,
        operator
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Ends the pause of `queue` and wakes its workers; false if it is not paused.
pub async fn resume(connection: &mut PgConnection, queue: &str) -> Result<bool, sqlx::Error> {
    let done =
        sqlx::query!("delete from paused_queues where queue = $1", queue).execute(&mut *connection).await?;
    wake_workers(connection, queue).await?;
    Ok(done.rows_affected() == 1)
}

/// State of a job that forbids an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobStatus {
    /// Waiting for a worker.
    Waiting,
    /// Running on a worker.
    Running,
    /// Cancelled, but its worker has not stopped yet.
    Stopping,
    /// Ended without a result for its caller.
    Failed,
    /// Finished successfully.
    Done,
}

impl fmt::Display for JobStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Waiting => "waits",
            Self::Running => "runs",
            Self::Stopping => "is being stopped",
            Self::Failed => "has ended without an answer",
            Self::Done => "is done",
        })
    }
}

/// Reason for which an action was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationRefusal {
    /// The job does not exist, or no longer.
    Unknown,
    /// The job is in a state in which the action makes no sense.
    Stands(JobStatus),
}

/// Cancels a job in the name of `operator`, just as if its caller hung up. Waiting callers are notified at once, or
/// when the worker that runs it has stopped.
pub async fn cancel(
    connection: &mut PgConnection,
    id: &str,
    operator: &str,
) -> Result<Result<(), OperationRefusal>, sqlx::Error> {
    match lock_state(connection, id).await? {
        None => return Ok(Err(OperationRefusal::Unknown)),
        Some((_, JobStatus::Waiting | JobStatus::Running)) => {}
        Some((_, standing)) => return Ok(Err(OperationRefusal::Stands(standing))),
    }
    sqlx::query!("update jobs set cancelled_at = now(), cancelled_by = $2 where id = $1", id, operator)
        .execute(&mut *connection)
        .await?;
    store::settle(connection, id).await?;
    Ok(Ok(()))
}

/// Requeues a failed job with all of its attempts and its original time limit. Nobody waits for it any more, so its
/// purpose is what it stores: a sample.
pub async fn retry(
    connection: &mut PgConnection,
    id: &str,
) -> Result<Result<(), OperationRefusal>, sqlx::Error> {
    // A job whose deadline passed unnoticed has ended as well.
    store::settle(&mut *connection, id).await?;
    let queue = match lock_state(connection, id).await? {
        None => return Ok(Err(OperationRefusal::Unknown)),
        Some((queue, JobStatus::Failed)) => queue,
        Some((_, standing)) => return Ok(Err(OperationRefusal::Stands(standing))),
    };
    // The job gets the virtual start time of an account that submits now. Its old one lies far in the past, and
    // others' start times would be measured by it.
    sqlx::query!(
        "with served as (
            select coalesce(max(turn_begins) filter (where held_until > now()), min(turn_begins), 0) as turn from jobs
            where queue = $2 and finished_at is null and cancelled_at is null and deadline > now()
        )
        update jobs set attempts = 0, created_at = now(), deadline = now() + (deadline - created_at),
            begin_by = now() + (begin_by - created_at), started_at = null, holder = null, held_until = null, caller = null,
            cancelled_at = null, cancelled_by = null, finished_at = null, outcome = null, last_error = null,
            turn_begins = greatest(turn_begins, turn), turn_ends = greatest(turn_begins, turn) + expected_seconds
        from served where id = $1",
        id,
        queue
    )
    .execute(&mut *connection)
    .await?;
    sqlx::query!(
        "update apalis.jobs set status = 'Pending', attempts = 0, run_at = now(), lock_by = null, lock_at = null,
            done_at = null, last_result = null
        where id = $1",
        id
    )
    .execute(&mut *connection)
    .await?;
    wake_workers(connection, &queue).await?;
    Ok(Ok(()))
}

/// Returns the queue and the state of a job, and locks the job until the transaction ends.
async fn lock_state(
    connection: &mut PgConnection,
    id: &str,
) -> Result<Option<(String, JobStatus)>, sqlx::Error> {
    let row = sqlx::query!(
        r#"select queue, finished_at is not null as "is_finished!", coalesce(outcome ? 'Err', false) as "has_failed!",
            cancelled_at is not null as "is_cancelled!", coalesce(held_until > now(), false) as "is_held!"
        from jobs where id = $1 for update"#,
        id
    )
    .fetch_optional(connection)
    .await?;
    Ok(row.map(|row| {
        let standing = match (row.is_finished, row.has_failed, row.is_cancelled, row.is_held) {
            (true, true, ..) => JobStatus::Failed,
            (true, false, ..) => JobStatus::Done,
            (false, _, true, _) => JobStatus::Stopping,
            (false, _, false, true) => JobStatus::Running,
            (false, _, false, false) => JobStatus::Waiting,
        };
        (row.queue, standing)
    }))
}

/// Wakes all workers of `queue`, as a new job does.
async fn wake_workers(connection: &mut PgConnection, queue: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("select pg_notify('job_waits', $1::text)", queue).execute(connection).await?;
    Ok(())
}
