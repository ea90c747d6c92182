//! What operators see of queues and jobs, and what they do to them.
//!
//! An act is done on a connection of the caller's, in the transaction that also holds its line of the journal. What goes with it
//! by NOTIFY leaves with the commit, so that nobody hears of what did not happen.

use std::fmt;

use chrono::{DateTime, Utc};
use contract::{FailedJob, JobInFlight, JobState, Problem, QueuePause, StoredSampleJob, WorkerState};
use database::interval;
use serde_json::Value;
use sqlx::{PgConnection, PgExecutor};

use crate::{Job, config::DEAD_AFTER, store};

/// The first of a list, and how many there are.
#[derive(Debug)]
pub struct Bounded<T> {
    /// The first ones.
    pub first: Vec<T>,
    /// All of them.
    pub total: i64,
}

/// The database's time.
///
/// # Errors
/// Fails when the database does, like everything here.
pub async fn now(database: impl PgExecutor<'_>) -> Result<DateTime<Utc>, sqlx::Error> {
    sqlx::query_scalar!(r#"select now() as "now!""#).fetch_one(database).await
}

/// The queues that are paused.
pub async fn pauses(database: impl PgExecutor<'_>) -> Result<Vec<(String, QueuePause)>, sqlx::Error> {
    let rows =
        sqlx::query!("select queue, paused_at, paused_by from paused_queues").fetch_all(database).await?;
    let pause = |since, by| QueuePause { since, by };
    Ok(rows.into_iter().map(|row| (row.queue, pause(row.paused_at, row.paused_by))).collect())
}

/// The workers that live or did until a moment ago, by queue and name.
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

/// The jobs in flight: at most `most` of them, those that run first, each in the order of its turn. Accounts are told by their ids.
pub async fn in_flight(
    database: impl PgExecutor<'_>,
    most: i64,
) -> Result<Bounded<JobInFlight>, sqlx::Error> {
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
    Ok(Bounded { first: jobs.collect(), total })
}

/// The jobs that ended without what their callers wanted and are remembered still: at most `most`, the last one first. Accounts are
/// told by their ids.
pub async fn failures(database: impl PgExecutor<'_>, most: i64) -> Result<Bounded<FailedJob>, sqlx::Error> {
    // What a caller left has not failed.
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
    Ok(Bounded { first: jobs.collect(), total })
}

fn in_words(problem: &Value, detail: Option<&str>) -> String {
    // Where a later release knows more problems than this one, its word will do.
    let words = serde_json::from_value::<Problem>(problem.clone()).map_or_else(
        |_| problem["problem"].as_str().unwrap_or_default().to_owned(),
        |known| known.to_string(),
    );
    detail.map_or(words.clone(), |detail| format!("{words}: {detail}"))
}

/// How much of each of its models the live samplers keep ready, by model; the most that one of them says.
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

/// Pauses `queue` in the name of `operator`; false where it is paused already.
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

/// Ends the pause of `queue`, and has workers look for what waited; false where it is not paused.
pub async fn resume(connection: &mut PgConnection, queue: &str) -> Result<bool, sqlx::Error> {
    let done =
        sqlx::query!("delete from paused_queues where queue = $1", queue).execute(&mut *connection).await?;
    ring(connection, queue).await?;
    Ok(done.rows_affected() == 1)
}

/// How a job stands, where that does not permit an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It waits for a worker.
    Waiting,
    /// A worker has it in hand.
    Running,
    /// It is cancelled, and its worker has not stopped yet.
    Stopping,
    /// It ended without what its caller wanted.
    Failed,
    /// It was done.
    Done,
}

impl fmt::Display for Standing {
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

/// Why an act was not done to a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// There is no such job, or no longer.
    Unknown,
    /// It stands so that the act makes no sense.
    Stands(Standing),
}

/// Cancels a job in the name of `operator`, as a caller does that hangs up. Whoever waits is told so, at once or when the worker that
/// has it in hand has stopped.
pub async fn cancel(
    connection: &mut PgConnection,
    id: &str,
    operator: &str,
) -> Result<Result<(), Refusal>, sqlx::Error> {
    match look(connection, id).await? {
        None => return Ok(Err(Refusal::Unknown)),
        Some((_, Standing::Waiting | Standing::Running)) => {}
        Some((_, standing)) => return Ok(Err(Refusal::Stands(standing))),
    }
    sqlx::query!("update jobs set cancelled_at = now(), cancelled_by = $2 where id = $1", id, operator)
        .execute(&mut *connection)
        .await?;
    store::settle(connection, id).await?;
    Ok(Ok(()))
}

/// Makes a job wait again that ended without what its caller wanted: with all of its attempts, and as much time as it had at first.
/// Nobody waits for it any more, so it is for what it leaves behind: a sample.
pub async fn retry(connection: &mut PgConnection, id: &str) -> Result<Result<(), Refusal>, sqlx::Error> {
    // One whose time ran out while nobody looked has ended as well.
    store::settle(&mut *connection, id).await?;
    let queue = match look(connection, id).await? {
        None => return Ok(Err(Refusal::Unknown)),
        Some((queue, Standing::Failed)) => queue,
        Some((_, standing)) => return Ok(Err(Refusal::Stands(standing))),
    };
    // Its turn is that of an account which asks for something now: with its old one, others' turns would be measured by a time that
    // is long past.
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
    ring(connection, &queue).await?;
    Ok(Ok(()))
}

/// The queue of a job and how it stands, which it does until the transaction's end.
async fn look(connection: &mut PgConnection, id: &str) -> Result<Option<(String, Standing)>, sqlx::Error> {
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
            (true, true, ..) => Standing::Failed,
            (true, false, ..) => Standing::Done,
            (false, _, true, _) => Standing::Stopping,
            (false, _, false, true) => Standing::Running,
            (false, _, false, false) => Standing::Waiting,
        };
        (row.queue, standing)
    }))
}

/// Has workers look for jobs of `queue`, as a new one does.
async fn ring(connection: &mut PgConnection, queue: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("select pg_notify('job_waits', $1::text)", queue).execute(connection).await?;
    Ok(())
}
