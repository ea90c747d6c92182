//! The SQL of jobs, one statement per function; that of those who work and wait is in `presence.rs`.
//!
//! How jobs are taken is in `admit.sql`, how they are dealt in `deal.sql`. A task of apalis is written once and deleted once, with
//! its job's outcome.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use contract::{Cause, JobId};
use database::interval;
use serde_json::{Value, value::RawValue};
use sqlx::{PgConnection, PgExecutor, PgPool, types::Json};

use crate::{Caller, Job, Work, config::DEAD_AFTER, retention::BATCH};

/// Apalis must never give a task up by itself: its callers would hear nothing. The guard is `job_verdict`.
const MAX_DEALS: i32 = 1_000_000;

/// So many letters of a failed attempt's error are kept.
const LONGEST_ERROR: usize = 1000;

/// A job to be inserted.
pub(crate) struct NewJob {
    pub(crate) id: String,
    pub(crate) terms: Terms,
    pub(crate) payload: Vec<u8>,
    pub(crate) trace: BTreeMap<String, String>,
}

/// What admission hangs on.
#[derive(Debug)]
pub(crate) struct Terms {
    queue: &'static str,
    /// Only workers that serve this model may take the job; any, where none is named.
    model_id: Option<String>,
    kind: String,
    seconds: f64,
    longest: Option<f64>,
    units: Option<i32>,
    ready_seconds: Option<f64>,
    account_id: String,
    patience: Duration,
    most_in_flight: Option<i32>,
}

impl Terms {
    pub(crate) fn of<J: Job>(job: &J, caller: Caller<'_>) -> Self {
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
            patience: caller.patience,
            most_in_flight: caller.most_in_flight.map(number),
        }
    }
}

/// Whether a job was inserted, and what that hung on.
#[derive(Debug)]
pub(crate) struct Admission {
    pub(crate) admitted: bool,
    /// Whether the account has as many jobs in flight as it may.
    pub(crate) is_capped: bool,
    /// Whether an operator has paused the queue.
    pub(crate) is_paused: bool,
    /// Slots that may take the job.
    pub(crate) slots: i64,
    /// Slots of the queue, whatever they serve.
    pub(crate) all_slots: i64,
    /// Whether some worker has, or had until a moment ago, the job's model; true where the job names none.
    pub(crate) model_is_known: bool,
    /// Seconds of a slot that the job is expected to take.
    pub(crate) expected_seconds: f64,
    /// In how many seconds it would be taken if nothing else came; 0 is now, `None`: by no worker that lives.
    pub(crate) admitted_in: Option<f64>,
}

/// Inserts the job and its task unless what stands before it outlasts its patience (`admit.sql`).
///
/// A free slot takes a job whatever its patience. Accounts that submit at the same moment do not see each other, so a burst
/// can overshoot by as many jobs as there are accounts.
///
/// `process` is the one that waits.
pub(crate) async fn submit(pool: &PgPool, process: &str, job: NewJob) -> Result<Admission, sqlx::Error> {
    let (keys, values): (Vec<String>, Vec<String>) = job.trace.into_iter().unzip();
    let terms = job.terms;
    sqlx::query_as!(
        Admission,
        r#"select admitted as "admitted!", coalesce(is_capped, false) as "is_capped!", slots as "slots!",
            all_slots as "all_slots!", model_is_known as "model_is_known!",
            expected_seconds as "expected_seconds!", admitted_in,
            -- Of what was admitted, `submit_job` has asked it.
            case when admitted then false else exists (select from paused_queues where queue = $2) end as "is_paused!"
        from submit_job($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)"#,
        job.id,
        terms.queue,
        terms.account_id,
        process,
        terms.model_id,
        terms.kind,
        terms.seconds,
        terms.ready_seconds,
        terms.units,
        terms.longest,
        interval(terms.patience),
        terms.most_in_flight,
        job.payload,
        &keys,
        &values,
        MAX_DEALS,
        interval(DEAD_AFTER),
    )
    .fetch_one(pool)
    .await
}

/// A job that nobody waits for, to be inserted.
pub(crate) struct NewUnawaited<'a> {
    pub(crate) id: &'a str,
    pub(crate) queue: &'static str,
    pub(crate) account_id: &'a str,
    pub(crate) model_id: Option<&'a str>,
    pub(crate) work: Work<'a>,
    pub(crate) urgency: i16,
    pub(crate) payload: &'a [u8],
    pub(crate) trace: BTreeMap<String, String>,
}

/// Inserts the job and its task in the transaction of `connection` (`admit.sql`).
pub(crate) async fn enqueue(connection: &mut PgConnection, job: NewUnawaited<'_>) -> Result<(), sqlx::Error> {
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
        MAX_DEALS,
        interval(DEAD_AFTER),
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// What stands before such a job now.
pub(crate) async fn prospect(pool: &PgPool, terms: Terms) -> Result<Prospect, sqlx::Error> {
    sqlx::query_as!(
        Prospect,
        r#"select slots as "slots!", expected_seconds as "expected_seconds!", admitted_in
        from job_prospect($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"#,
        terms.queue,
        terms.account_id,
        terms.model_id,
        terms.kind,
        terms.seconds,
        terms.ready_seconds,
        terms.units,
        terms.longest,
        terms.patience.as_secs_f64() - terms.longest.unwrap_or(terms.seconds),
        interval(DEAD_AFTER),
    )
    .fetch_one(pool)
    .await
}

/// What stands before a job, as [`Admission`] has it.
#[derive(Debug)]
pub(crate) struct Prospect {
    pub(crate) slots: i64,
    pub(crate) expected_seconds: f64,
    pub(crate) admitted_in: Option<f64>,
}

/// What a waiter finds.
#[derive(Debug)]
pub(crate) enum Outcome {
    Open,
    Finished(Value),
    Missing,
}

pub(crate) async fn outcome(pool: &PgPool, id: &str) -> Result<Outcome, sqlx::Error> {
    let row =
        sqlx::query!(r#"select finished_at is not null as "finished!", outcome from jobs where id = $1"#, id)
            .fetch_optional(pool)
            .await?;
    Ok(match row {
        None => Outcome::Missing,
        Some(row) if row.finished => Outcome::Finished(row.outcome.unwrap_or_default()),
        Some(_) => Outcome::Open,
    })
}

/// How a job stands for who watches it.
#[derive(Debug)]
pub(crate) enum State {
    Open,
    /// Its deadline has passed.
    Late,
    Finished(Value),
    Missing,
}

pub(crate) async fn state(pool: &PgPool, id: &str) -> Result<State, sqlx::Error> {
    let row = sqlx::query!(
        r#"select finished_at is not null as "finished!", deadline < now() as "late!", outcome from jobs where id = $1"#,
        id
    )
    .fetch_optional(pool)
    .await?;
    Ok(match row {
        None => State::Missing,
        Some(row) if row.finished => State::Finished(row.outcome.unwrap_or_default()),
        Some(row) if row.late => State::Late,
        Some(_) => State::Open,
    })
}

/// Leaves a job to those who watch it: the process that submitted it no longer waits for it.
pub(crate) async fn leave_to_watchers(pool: &PgPool, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("update jobs set caller = null where id = $1 and finished_at is null", id)
        .execute(pool)
        .await?;
    Ok(())
}

/// Cancels jobs; one that nobody holds has its outcome then, any other when its worker has heard of it.
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

/// Gives a job that nobody holds and that can no longer be worked on the outcome that it has earned.
pub(crate) async fn settle(database: impl PgExecutor<'_>, id: &str) -> Result<(), sqlx::Error> {
    // What waits for its next attempt is held until then, by nobody.
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

/// Lets go of the jobs of `queue` whose worker has not held them for as long as its lease: they wait again, or have their outcome. Whether
/// there were any.
pub(crate) async fn let_go(pool: &PgPool, queue: &str) -> Result<bool, sqlx::Error> {
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

/// Writes an outcome for the attempt that still holds the job; false when the job is no longer its own. The task of one that was done
/// ends with it; another's stays, for who has it tried again.
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

/// Why an attempt failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) text: String,
    pub(crate) cause: Option<Cause>,
}

/// Lets go of a job that was begun in `attempt`: it waits again, to be begun after `pause`, or has the outcome that it has earned. Why the
/// attempt failed, if it did, is kept.
pub(crate) async fn release(
    pool: &PgPool,
    id: &str,
    attempt: i32,
    pause: Duration,
    failure: Option<&Failure>,
) -> Result<(), sqlx::Error> {
    // PostgreSQL's texts have no NUL, and a message may be of any length.
    let text =
        failure.map(|failure| failure.text.replace('\0', "").chars().take(LONGEST_ERROR).collect::<String>());
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

/// The state of a job that this process runs.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) id: String,
    pub(crate) attempt: i32,
    /// Whether the caller left or the job has an outcome.
    pub(crate) over: bool,
    /// Whether somebody watches it.
    pub(crate) watched: bool,
}

/// Holds the jobs that run in the process `name`, each by its attempt, for another `lease` and says how they stand.
///
/// A job that has become another worker's is left to that one's lease; one that was let go of and not dealt since is held again.
pub(crate) async fn hold(
    pool: &PgPool,
    name: &str,
    running: &BTreeMap<String, i32>,
    lease: Duration,
) -> Result<Vec<Held>, sqlx::Error> {
    let (ids, attempts): (Vec<&str>, Vec<i32>) =
        running.iter().map(|(id, &attempt)| (id.as_str(), attempt)).unzip();
    sqlx::query_as!(
        Held,
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

/// Gives back what was dealt to the process `name` and never came to run there: all that it holds, but for what runs.
pub(crate) async fn give_back(pool: &PgPool, name: &str, running: &[String]) -> Result<(), sqlx::Error> {
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

/// Gives back what runs in the process `name` and nobody waits for, the attempt uncounted: that the process was told to stop says nothing
/// of its jobs, and one that takes long may see many processes.
pub(crate) async fn hand_over(pool: &PgPool, name: &str) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update jobs set holder = null, held_until = null, attempts = attempts - 1
        where holder = $1 and finished_at is null and cancelled_at is null and caller is null",
        name
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Deletes jobs of `queue` that finished or ran out of time longer than `keep` ago, with their tasks; some of them.
///
/// Ids are in the order of time, so that the oldest are found by them: an index on when jobs end would have to hold every job.
pub(crate) async fn sweep_jobs(
    connection: &mut PgConnection,
    queue: &str,
    keep: Duration,
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
        made_before(keep),
        interval(keep),
        BATCH
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected())
}

/// Deletes the tasks of `queue` whose jobs are gone: a release of before deleted these alone.
pub(crate) async fn sweep_tasks(pool: &PgPool, queue: &str, keep: Duration) -> Result<u64, sqlx::Error> {
    let done = sqlx::query!(
        "delete from apalis.jobs as task where job_type = $1 and id < $2
            and not exists (select from jobs where jobs.id = task.id)",
        queue,
        made_before(keep)
    )
    .execute(pool)
    .await?;
    Ok(done.rows_affected())
}

/// The id below which all jobs are older than `age`.
fn made_before(age: Duration) -> String {
    let since = SystemTime::now().checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH);
    JobId::first_at(since).to_string()
}
