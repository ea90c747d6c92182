//! SQL of jobs, one statement per function; that of live processes is in `liveness.rs`.
//!
//! Jobs are admitted by `admit.sql` and claimed by `claim.sql`. An apalis task is written once, and deleted once
//! together with its job's outcome.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use contract::{Cause, JobId};
use database::interval;
use serde_json::value::RawValue;
use sqlx::{PgConnection, PgExecutor, PgPool, types::Json};

use crate::{Job, JobCaller, WorkEstimate, config::DEAD_AFTER, retention::BATCH_ROWS};

/// Attempts that apalis may make. It must never give a task up by itself, since callers would not be notified;
/// `job_verdict` limits the attempts instead.
const MAX_APALIS_ATTEMPTS: i32 = 1_000_000;

/// Largest number of characters that are kept of a failed attempt's error.
const MAX_ERROR_CHARS: usize = 1000;

/// A job to be inserted.
pub(crate) struct NewJob {
    pub(crate) id: String,
    pub(crate) admission_request: AdmissionRequest,
    pub(crate) payload: Vec<u8>,
    pub(crate) trace: BTreeMap<String, String>,
}

/// Inputs of admission.
#[derive(Debug)]
pub(crate) struct AdmissionRequest {
    queue: &'static str,
    /// Model that a worker must serve to take the job; `None`: any worker takes it.
    model_id: Option<String>,
    kind: String,
    seconds: f64,
    longest: Option<f64>,
    units: Option<i32>,
    ready_seconds: Option<f64>,
    account_id: String,
    timeout: Duration,
    max_in_flight: Option<i32>,
}

impl AdmissionRequest {
    pub(crate) fn of<J: Job>(job: &J, caller: JobCaller<'_>) -> Self {
        let work = job.work();
        let number = |count| i32::try_from(count).unwrap_or(i32::MAX);
        Self {
            queue: J::QUEUE,
            model_id: job.model_id().map(str::to_owned),
            kind: work.kind.to_owned(),
            seconds: work.seconds,
            longest: work.longest,
            units: work.ready.map(|ready| number(ready.units)),
            ready_seconds: work.ready.map(|ready| ready.seconds),
            account_id: caller.account_id.to_owned(),
            timeout: caller.timeout,
            max_in_flight: caller.max_in_flight.map(number),
        }
    }
}

/// Result of an admission, with the facts it depends on.
#[derive(Debug)]
pub(crate) struct Admission {
    pub(crate) admitted: bool,
    /// True if the account has as many jobs in flight as it may.
    pub(crate) is_capped: bool,
    /// True if an operator has paused the queue.
    pub(crate) is_paused: bool,
    /// Slots that can run the job.
    pub(crate) slots: i64,
    /// All slots of the queue, whatever models they serve.
    pub(crate) all_slots: i64,
    /// True if some worker has the job's model or had it until a moment ago, or if the job names none.
    pub(crate) model_is_known: bool,
    /// Expected duration in slot seconds.
    pub(crate) expected_seconds: f64,
    /// Seconds until the job would be taken if no other came; 0 is now, `None` means that no live worker can take it.
    pub(crate) admitted_in: Option<f64>,
}

/// Inserts the job and its task unless the work ahead outlasts its timeout (`admit.sql`).
///
/// A free slot takes a job whatever its timeout. Accounts that submit at the same moment do not see each other, so a
/// burst can exceed the limit by as many jobs as there are accounts.
///
/// `process` is the process that waits.
pub(crate) async fn submit(pool: &PgPool, process: &str, job: NewJob) -> Result<Admission, sqlx::Error> {
    let (keys, values): (Vec<String>, Vec<String>) = job.trace.into_iter().unzip();
    let request = job.admission_request;
    sqlx::query_as!(
        Admission,
        r#"select admitted as "admitted!", coalesce(is_capped, false) as "is_capped!", slots as "slots!",
            all_slots as "all_slots!", model_is_known as "model_is_known!",
            expected_seconds as "expected_seconds!", admitted_in,
            -- Of what was admitted, `submit_job` has asked it.
            case when admitted then false else exists (select from paused_queues where queue = $2) end as "is_paused!"
        from submit_job($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)"#,
        job.id,
        request.queue,
        request.account_id,
        process,
        request.model_id,
        request.kind,
        request.seconds,
        request.ready_seconds,
        request.units,
        request.longest,
        interval(request.timeout),
        request.max_in_flight,
        job.payload,
        &keys,
        &values,
        MAX_APALIS_ATTEMPTS,
        interval(DEAD_AFTER),
    )
    .fetch_one(pool)
    .await
}

/// A background job to be inserted.
pub(crate) struct NewBackgroundJob<'a> {
    pub(crate) id: &'a str,
    pub(crate) queue: &'static str,
    pub(crate) account_id: &'a str,
    pub(crate) model_id: Option<&'a str>,
    pub(crate) work: WorkEstimate<'a>,
    pub(crate) urgency: i16,
    pub(crate) payload: &'a [u8],
    pub(crate) trace: BTreeMap<String, String>,
}

/// Inserts the background job and its task in the transaction of `connection` (`admit.sql`).
pub(crate) async fn enqueue(
    connection: &mut PgConnection,
    job: NewBackgroundJob<'_>,
) -> Result<(), sqlx::Error> {
    let (keys, values): (Vec<String>, Vec<String>) = job.trace.into_iter().unzip();
    sqlx::query!(
        "select enqueue_job($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
        job.id,
        job.queue,
        job.account_id,
        job.model_id,
        job.work.kind,
        job.work.seconds,
        job.urgency,
        job.payload,
        &keys,
        &values,
        MAX_APALIS_ATTEMPTS,
        interval(DEAD_AFTER),
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// Returns the load ahead of a job with these terms now.
pub(crate) async fn read_load(pool: &PgPool, request: AdmissionRequest) -> Result<QueueLoad, sqlx::Error> {
    sqlx::query_as!(
        QueueLoad,
        r#"select slots as "slots!", expected_seconds as "expected_seconds!", admitted_in
        from job_prospect($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"#,
        request.queue,
        request.account_id,
        request.model_id,
        request.kind,
        request.seconds,
        request.ready_seconds,
        request.units,
        request.longest,
        request.timeout.as_secs_f64() - request.longest.unwrap_or(request.seconds),
        interval(DEAD_AFTER),
    )
    .fetch_one(pool)
    .await
}

/// Load ahead of a job, as in [`Admission`].
#[derive(Debug)]
pub(crate) struct QueueLoad {
    pub(crate) slots: i64,
    pub(crate) expected_seconds: f64,
    pub(crate) admitted_in: Option<f64>,
}

/// Outcome of a job as a waiter reads it.
#[derive(Debug)]
pub(crate) enum Outcome {
    Open,
    Finished(Box<RawValue>),
    Missing,
}

pub(crate) async fn outcome(pool: &PgPool, id: &str) -> Result<Outcome, sqlx::Error> {
    let row =
        sqlx::query!(r#"select finished_at is not null as "finished!", outcome as "outcome: Json<Box<RawValue>>" from jobs where id = $1"#, id)
            .fetch_optional(pool)
            .await?;
    Ok(match row {
        None => Outcome::Missing,
        Some(row) if row.finished => Outcome::Finished(row.outcome.unwrap_or_default().0),
        Some(_) => Outcome::Open,
    })
}

/// State of a job for its watchers.
#[derive(Debug)]
pub(crate) enum WatchedState {
    Open,
    /// Its deadline has passed.
    Late,
    Finished(Box<RawValue>),
    Missing,
}

pub(crate) async fn state(pool: &PgPool, id: &str) -> Result<WatchedState, sqlx::Error> {
    let row = sqlx::query!(
        r#"select finished_at is not null as "finished!", deadline < now() as "late!", outcome as "outcome: Json<Box<RawValue>>" from jobs where id = $1"#,
        id
    )
    .fetch_optional(pool)
    .await?;
    Ok(match row {
        None => WatchedState::Missing,
        Some(row) if row.finished => WatchedState::Finished(row.outcome.unwrap_or_default().0),
        Some(row) if row.late => WatchedState::Late,
        Some(_) => WatchedState::Open,
    })
}

/// Turns a job over to its watchers: the process that submitted it no longer waits for it.
pub(crate) async fn detach_from_caller(pool: &PgPool, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("update jobs set caller = null where id = $1 and finished_at is null", id)
        .execute(pool)
        .await?;
    Ok(())
}

/// Cancels jobs. A job that no worker holds ends at once; any other ends when its worker has noticed.
pub(crate) async fn cancel(database: impl PgExecutor<'_>, ids: &[String]) -> Result<(), sqlx::Error> {
    sqlx::query!(
        r#"update jobs set cancelled_at = now(), (finished_at, outcome) = (
            select now(), '{"Err": {"problem": "cancelled"}}'::jsonb
            where holder is null
        )
        where id = any($1) and finished_at is null and cancelled_at is null"#,
        ids
    )
    .execute(database)
    .await?;
    Ok(())
}

/// Stores the terminal state of a job that no worker holds and that can no longer run.
pub(crate) async fn settle(database: impl PgExecutor<'_>, id: &str) -> Result<(), sqlx::Error> {
    // Until its next attempt a job has a lease but no holder.
    sqlx::query!(
        "update jobs set finished_at = now(), outcome = job_verdict(jobs)
        where id = $1 and finished_at is null and job_verdict(jobs) is not null
            and (held_until is null or held_until < now() or (holder is null and cancelled_at is not null))",
        id,
    )
    .execute(database)
    .await?;
    Ok(())
}

/// Releases the jobs of `queue` whose lease has expired: they wait again or end. Returns true if there were any.
pub(crate) async fn release_expired(pool: &PgPool, queue: &str) -> Result<bool, sqlx::Error> {
    let done = sqlx::query!(
        "with lapsed as (
            update jobs set holder = null, held_until = null, outcome = job_verdict(jobs),
                finished_at = case when job_verdict(jobs) is not null then now() end
            where queue = $1 and finished_at is null and holder is not null and held_until < now()
            returning id
        )
        select pg_notify('job_waits', $1::text) from lapsed limit 1",
        queue
    )
    .execute(pool)
    .await?;
    Ok(done.rows_affected() > 0)
}

/// Writes an outcome for the attempt that still holds the job; false if another holds it by now. The task of a
/// successful job is deleted with it; that of a failed job stays, so that an operator can retry it.
pub(crate) async fn finish(
    connection: &mut PgConnection,
    id: &str,
    attempt: i32,
    outcome: &RawValue,
) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(
        r#"with finished as (
            -- A clock that jumped meanwhile must not make it a job of an hour: others are expected to take what the last ones took.
            update jobs set finished_at = now(), held_until = null, outcome = $3,
                started_at = now() - least(greatest(now() - started_at, '0'), deadline - created_at),
                turn_ends = turn_begins
                    + extract(epoch from least(greatest(now() - started_at, '0'), deadline - created_at))
            where id = $1 and attempts = $2 and finished_at is null and cancelled_at is null
            returning id
        ), done as (
            delete from apalis.jobs where id in (select id from finished) and not $3::jsonb ? 'Err'
        )
        select exists (select from finished) as "finished!""#,
        id,
        attempt,
        Json(outcome) as _
    )
    .fetch_one(connection)
    .await
}

/// Reason for which an attempt failed.
#[derive(Debug)]
pub(crate) struct AttemptFailure {
    pub(crate) text: String,
    pub(crate) cause: Option<Cause>,
}

/// Releases a job after `attempt`: it waits again, to start after `pause` at the earliest, or ends. The reason of a
/// failure is stored.
pub(crate) async fn release(
    pool: &PgPool,
    id: &str,
    attempt: i32,
    pause: Duration,
    failure: Option<&AttemptFailure>,
) -> Result<(), sqlx::Error> {
    // PostgreSQL's texts cannot contain NUL, and a message may be of any length.
    let text = failure
        .map(|failure| failure.text.replace('\0', "").chars().take(MAX_ERROR_CHARS).collect::<String>());
    sqlx::query!(
        "update jobs set holder = null, held_until = now() + $3, last_error = coalesce($4, last_error),
            outcome = jsonb_set_lax(job_verdict(jobs), '{Err,cause}', $5, true, 'return_target'),
            finished_at = case when job_verdict(jobs) is not null then now() end
        where id = $1 and attempts = $2 and finished_at is null",
        id,
        attempt,
        interval(pause),
        text,
        failure.and_then(|failure| failure.cause).map(Json) as _
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// State of a job that runs in this process.
#[derive(Debug)]
pub(crate) struct RunningJobState {
    pub(crate) id: String,
    pub(crate) attempt: i32,
    /// True if the caller left or the job has an outcome.
    pub(crate) over: bool,
    /// True if somebody watches it.
    pub(crate) watched: bool,
}

/// Renews the leases of the jobs that run in the process `name`, each with its attempt, for another `lease`, and
/// returns their states.
///
/// A job that is another worker's by now is left alone. A job that was released and not claimed since is taken back.
pub(crate) async fn hold(
    pool: &PgPool,
    name: &str,
    running: &BTreeMap<String, i32>,
    lease: Duration,
) -> Result<Vec<RunningJobState>, sqlx::Error> {
    let (ids, attempts): (Vec<&str>, Vec<i32>) =
        running.iter().map(|(id, &attempt)| (id.as_str(), attempt)).unzip();
    sqlx::query_as!(
        RunningJobState,
        r#"update jobs set (held_until, holder) = (
            select case when is_ours then now() + $3 else held_until end, case when is_ours then $4 else holder end
            from (
                select jobs.attempts = mine.attempt and finished_at is null
                    and (holder = $4 or (holder is null and held_until is null)) as is_ours
            ) as state
        )
        from unnest($1::text[], $2::int[]) as mine (id, attempt)
        where jobs.id = mine.id
        returning jobs.id, attempts as attempt, cancelled_at is not null or finished_at is not null as "over!",
            exists (select from watched_jobs where job_id = jobs.id and until > now()) as "watched!""#,
        &ids as &[&str],
        &attempts,
        interval(lease),
        name
    )
    .fetch_all(pool)
    .await
}

/// Releases the jobs that the process `name` claimed but never ran: all that it holds except `running`.
pub(crate) async fn release_unstarted(
    pool: &PgPool,
    name: &str,
    running: &[String],
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update jobs set holder = null, held_until = null, attempts = attempts - 1
        where holder = $1 and finished_at is null and id <> all($2)",
        name,
        running
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Releases the background jobs that run in the process `name`, without counting the attempt. That the process was
/// told to stop is no fault of its jobs, and a long job may outlive many processes.
pub(crate) async fn release_background(pool: &PgPool, name: &str) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update jobs set holder = null, held_until = null, attempts = attempts - 1
        where holder = $1 and finished_at is null and cancelled_at is null and caller is null",
        name
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Deletes a batch of jobs of `queue` that finished or passed their deadline longer than `max_age` ago, with their
/// tasks.
///
/// Ids are in the order of time, so the oldest jobs are found by id. An index on the end of jobs would have to hold
/// every job.
pub(crate) async fn sweep_jobs(
    connection: &mut PgConnection,
    queue: &str,
    max_age: Duration,
) -> Result<u64, sqlx::Error> {
    let done = sqlx::query!(
        "with old as materialized (
            select id from jobs
            where queue = $1 and id < $2 and coalesce(finished_at, deadline) < now() - $3::interval
            order by id limit $4 for update skip locked
        ),
        tasks as (delete from apalis.jobs as task using old where task.id = old.id)
        delete from jobs using old where jobs.id = old.id",
        queue,
        first_id_younger_than(max_age),
        interval(max_age),
        BATCH_ROWS
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}

/// Deletes the tasks of `queue` whose jobs are gone: an earlier release deleted only the jobs.
pub(crate) async fn sweep_tasks(pool: &PgPool, queue: &str, max_age: Duration) -> Result<u64, sqlx::Error> {
    let done = sqlx::query!(
        "delete from apalis.jobs as task where job_type = $1 and id < $2
            and not exists (select from jobs where jobs.id = task.id)",
        queue,
        first_id_younger_than(max_age)
    )
    .execute(pool)
    .await?;
    Ok(done.rows_affected())
}

/// Returns the id below which all jobs are older than `age`.
fn first_id_younger_than(age: Duration) -> String {
    let since = SystemTime::now().checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH);
    JobId::first_at(since).to_string()
}
