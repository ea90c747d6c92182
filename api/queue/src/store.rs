//! The SQL of the queue, one statement per function.
//!
//! `apalis.jobs` is written here in two places where apalis' own calls would not do: a new job and its task
//! are one statement (so that neither is ever without the other), and a task is put off or given back. How tasks are
//! fetched is in `deal.sql`.

use std::{collections::BTreeMap, time::Duration};

use chrono::{DateTime, Utc};
use serde_json::{Value, value::RawValue};
use sqlx::{PgConnection, PgExecutor, PgPool, postgres::types::PgInterval, types::Json};

use crate::{
    LiveModel,
    config::{DEAD_AFTER, FORGOTTEN_AFTER},
};

/// Attempts that a job gets before it is given up.
pub(crate) const MAX_ATTEMPTS: i32 = 3;

/// Apalis must never give a task up by itself: its callers would hear nothing. The guard is [`MAX_ATTEMPTS`].
const MAX_DEALS: i32 = 1_000_000;

/// A job to be inserted.
pub(crate) struct NewJob<'a> {
    pub(crate) id: &'a str,
    pub(crate) queue: &'a str,
    /// Only workers that serve this model may take the job; any, where none is named.
    pub(crate) model_id: Option<&'a str>,
    pub(crate) expected_seconds: f64,
    pub(crate) deadline: DateTime<Utc>,
    pub(crate) payload: &'a [u8],
    pub(crate) trace: &'a BTreeMap<String, String>,
}

/// Whether a job was inserted, and what that hung on.
#[derive(Debug)]
pub(crate) struct Admission {
    pub(crate) admitted: bool,
    /// Work ahead on the slots that may take the job.
    pub(crate) open_seconds: f64,
    /// Slots that may take the job.
    pub(crate) slots: i64,
    pub(crate) patience_seconds: f64,
    /// Whether some worker has, or had until a moment ago, the job's model; true where the job names none.
    pub(crate) model_is_known: bool,
    /// Slots of the queue, whatever they serve.
    pub(crate) all_slots: i64,
}

/// Inserts the job and its task unless the work ahead would outlast the job's patience.
///
/// Only slots that serve the job's model count, and of the work that is open only the part that will fall to them:
/// jobs that other slots may take as well count by the share of ours among those. So a backlog of one model turns
/// away nobody who asks for a model that other workers serve.
///
/// A free slot takes a job whatever its patience. Jobs submitted at the same moment do not see each other,
/// so a burst can overshoot by as many jobs as there are connections.
pub(crate) async fn submit(pool: &PgPool, job: NewJob<'_>) -> Result<Admission, sqlx::Error> {
    let (keys, values): (Vec<String>, Vec<String>) = job.trace.clone().into_iter().unzip();
    sqlx::query_as!(
        Admission,
        r#"with worker as (
            select name, slots, $10::text is null or exists (
                select from live_models where worker = live_workers.name and model_id = $10
            ) as is_ours
            from live_workers where queue = $2 and last_seen > now() - $8::interval
        ), open as (
            select model_id, count(*) as jobs, sum(expected_seconds) as seconds
            from jobs
            where queue = $2 and finished_at is null and cancelled_at is null and deadline > now()
            group by model_id
        ), shared as (
            select open.jobs, open.seconds,
                coalesce(sum(slots) filter (where is_ours), 0)::float8 / sum(slots) as share
            from open join worker on open.model_id is null or exists (
                select from live_models where worker = worker.name and model_id = open.model_id
            )
            group by open.model_id, open.jobs, open.seconds
        ), load as (
            select
                coalesce(sum(jobs) filter (where share > 0), 0) as open_jobs,
                coalesce(sum(seconds * share), 0)::float8 as open_seconds,
                extract(epoch from $4 - now())::float8 - $3 as patience_seconds,
                (select coalesce(sum(slots) filter (where is_ours), 0) from worker) as slots,
                (select coalesce(sum(slots), 0) from worker) as all_slots,
                $10::text is null or exists (select from live_models where model_id = $10) as model_is_known
            from shared
        ), job as (
            insert into jobs (id, queue, expected_seconds, deadline, model_id)
            select $1, $2, $3, $4, $10 from load
            where open_jobs < slots
                or (slots > 0 and open_seconds <= slots * greatest(patience_seconds, 0))
            returning id
        ), task as (
            insert into apalis.jobs
                (id, job_type, job, status, attempts, max_attempts, run_at, priority, metadata)
            select id, $2, $5, 'Pending', 0, $9, now(), 0, hstore($6::text[], $7::text[]) from job
            returning id
        )
        select
            exists (select from task) as "admitted!", open_seconds as "open_seconds!", slots as "slots!",
            patience_seconds as "patience_seconds!", model_is_known as "model_is_known!",
            all_slots as "all_slots!"
        from load"#,
        job.id,
        job.queue,
        job.expected_seconds,
        job.deadline,
        job.payload,
        &keys,
        &values,
        interval(DEAD_AFTER),
        MAX_DEALS,
        job.model_id
    )
    .fetch_one(pool)
    .await
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

pub(crate) async fn cancel(pool: &PgPool, id: &str) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update jobs set cancelled_at = now() where id = $1 and finished_at is null and cancelled_at is null",
        id
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// A job that this worker now holds.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) attempt: i32,
    pub(crate) deadline: DateTime<Utc>,
    pub(crate) created_at: DateTime<Utc>,
    pub(crate) started_at: DateTime<Utc>,
}

/// Takes the job for `lease`, unless there is nothing left to do or somebody else holds it.
pub(crate) async fn begin(pool: &PgPool, id: &str, lease: Duration) -> Result<Option<Begun>, sqlx::Error> {
    sqlx::query_as!(
        Begun,
        r#"update jobs set attempts = attempts + 1, started_at = now(), held_until = now() + $2
        where id = $1 and finished_at is null and cancelled_at is null and deadline > now()
            and attempts < $3 and (held_until is null or held_until < now())
        returning attempts as attempt, deadline, created_at, started_at as "started_at!""#,
        id,
        interval(lease),
        MAX_ATTEMPTS
    )
    .fetch_optional(pool)
    .await
}

/// Gives a job that can no longer be worked on the outcome it has earned.
///
/// True when the job is settled, by this call or before; false when another worker holds it.
pub(crate) async fn settle(pool: &PgPool, id: &str) -> Result<bool, sqlx::Error> {
    let settled = sqlx::query_scalar!(
        r#"with settled as (
            update jobs set finished_at = now(), outcome = jsonb_build_object('Err', case
                when cancelled_at is not null then jsonb_build_object('problem', 'cancelled')
                when attempts >= $2 then jsonb_build_object('problem', 'abandoned', 'attempts', attempts)
                else jsonb_build_object('problem', 'deadline_passed')
            end)
            where id = $1 and finished_at is null and (held_until is null or held_until < now())
                and (cancelled_at is not null or attempts >= $2 or deadline <= now())
            returning id
        )
        select exists (select from settled) or finished_at is not null as "settled!" from jobs where id = $1"#,
        id,
        MAX_ATTEMPTS
    )
    .fetch_optional(pool)
    .await?;
    Ok(settled.unwrap_or(true))
}

/// Writes an outcome for the attempt that still holds the job; false when the job is no longer its own.
pub(crate) async fn finish(
    connection: &mut PgConnection,
    id: &str,
    attempt: i32,
    outcome: &RawValue,
) -> Result<bool, sqlx::Error> {
    let done = sqlx::query!(
        "update jobs set finished_at = now(), held_until = null, outcome = $3
        where id = $1 and attempts = $2 and finished_at is null and cancelled_at is null",
        id,
        attempt,
        Json(outcome) as _
    )
    .execute(connection)
    .await?;
    Ok(done.rows_affected() == 1)
}

/// Lets go of a job that was begun in `attempt`; others may begin it at once.
pub(crate) async fn release(pool: &PgPool, id: &str, attempt: i32) -> Result<(), sqlx::Error> {
    sqlx::query!("update jobs set held_until = null where id = $1 and attempts = $2", id, attempt)
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
}

/// Holds the jobs that run here, each by its attempt, for another `lease` and says how they stand.
///
/// A job that has become another worker's is left to that one's lease.
pub(crate) async fn hold(
    pool: &PgPool,
    running: &BTreeMap<String, i32>,
    lease: Duration,
) -> Result<Vec<Held>, sqlx::Error> {
    let (ids, attempts): (Vec<&str>, Vec<i32>) =
        running.iter().map(|(id, &attempt)| (id.as_str(), attempt)).unzip();
    sqlx::query_as!(
        Held,
        r#"update jobs set held_until = case
            when finished_at is not null then null
            when attempts = mine.attempt then now() + $3
            else held_until
        end
        from unnest($1::text[], $2::int[]) as mine (id, attempt)
        where jobs.id = mine.id
        returning jobs.id, attempts as attempt, cancelled_at is not null or finished_at is not null as "over!""#,
        &ids as &[&str],
        &attempts,
        interval(lease)
    )
    .fetch_all(pool)
    .await
}

/// Puts the task off; apalis deals it out again after `pause`.
pub(crate) async fn put_off(pool: &PgPool, id: &str, pause: Duration) -> Result<(), sqlx::Error> {
    sqlx::query!("update apalis.jobs set run_at = now() + $2 where id = $1", id, interval(pause))
        .execute(pool)
        .await?;
    Ok(())
}

/// Gives back the tasks that apalis' worker `name` took, but for those that still run here.
pub(crate) async fn give_back(pool: &PgPool, name: &str, running: &[String]) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update apalis.jobs set status = 'Pending', lock_by = null, lock_at = null
        where lock_by = $1 and status in ('Queued', 'Running') and id <> all($2)",
        name,
        running
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Says that the worker process `name` lives, and with which models.
pub(crate) async fn beat(
    pool: &PgPool,
    name: &str,
    queue: &str,
    slots: i32,
    models: &[LiveModel],
) -> Result<(), sqlx::Error> {
    let (ids, costs, cards): (Vec<&str>, Vec<f64>, Vec<&Value>) =
        models.iter().map(|model| (model.model_id.as_str(), model.relative_cost, &model.card)).collect();
    sqlx::query!(
        "with beat as (
            insert into live_workers (name, queue, slots) values ($1, $2, $3)
            on conflict (name) do update set last_seen = now()
            returning name
        ),
        gone as (delete from live_models where worker = $1 and model_id <> all($4))
        insert into live_models (worker, model_id, relative_cost, card)
        select beat.name, model.id, model.cost, model.card
        from beat, unnest($4::text[], $5::float8[], $6::jsonb[]) as model (id, cost, card)
        on conflict (worker, model_id) do update
        set relative_cost = excluded.relative_cost, card = excluded.card
        where (live_models.relative_cost, live_models.card) is distinct from (excluded.relative_cost, excluded.card)",
        name,
        queue,
        slots,
        &ids as &[&str],
        &costs,
        &cards as &[&Value]
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Says that the worker process `name` takes no more jobs. Its row stays until it is swept, so that its models are
/// not unknown while it starts again.
pub(crate) async fn leave(pool: &PgPool, name: &str) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "update live_workers set last_seen = least(last_seen, now() - $2::interval) where name = $1",
        name,
        interval(DEAD_AFTER)
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// The worker processes that live and take the jobs of one queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveWorkers {
    /// The queue's name.
    pub queue: String,
    /// How many they are.
    pub processes: i64,
    /// Jobs that they run at once.
    pub slots: i64,
}

/// The workers that live, by queue; a queue without one is not among them.
///
/// # Errors
/// Fails when the database does.
pub async fn live_workers(database: impl PgExecutor<'_>) -> Result<Vec<LiveWorkers>, sqlx::Error> {
    sqlx::query_as!(
        LiveWorkers,
        r#"select queue, count(*) as "processes!", sum(slots) as "slots!" from live_workers
        where last_seen > now() - $1::interval group by queue order by queue"#,
        interval(DEAD_AFTER)
    )
    .fetch_all(database)
    .await
}

/// The models that live samplers have, by id.
///
/// # Errors
/// Fails when the database does.
pub async fn live_models(database: impl PgExecutor<'_>) -> Result<Vec<LiveModel>, sqlx::Error> {
    // Where workers disagree about a model, the one that started last knows best.
    sqlx::query_as!(
        LiveModel,
        "select distinct on (model_id) model_id, relative_cost, card
        from live_models join live_workers on live_workers.name = live_models.worker
        where last_seen > now() - $1::interval
        order by model_id, started_at desc",
        interval(DEAD_AFTER)
    )
    .fetch_all(database)
    .await
}

/// The ids of the models that samplers have, or had until a moment ago: those of a sampler that starts again are not unknown
/// meanwhile.
///
/// # Errors
/// Fails when the database does.
pub async fn known_models(database: impl PgExecutor<'_>) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar!("select distinct model_id from live_models").fetch_all(database).await
}

/// Deletes the jobs of `queue` that finished or ran out of time longer than `keep` ago.
pub(crate) async fn sweep_jobs(pool: &PgPool, queue: &str, keep: Duration) -> Result<u64, sqlx::Error> {
    let done = sqlx::query!(
        "delete from jobs where queue = $1
            and (finished_at < now() - $2::interval or (finished_at is null and deadline < now() - $2::interval))",
        queue,
        interval(keep)
    )
    .execute(pool)
    .await?;
    Ok(done.rows_affected())
}

/// Deletes the tasks of `queue` whose jobs are gone.
pub(crate) async fn sweep_tasks(pool: &PgPool, queue: &str, keep: Duration) -> Result<u64, sqlx::Error> {
    let done = sqlx::query!(
        "delete from apalis.jobs as task where job_type = $1 and run_at < now() - $2::interval
            and not exists (select from jobs where jobs.id = task.id)",
        queue,
        interval(keep)
    )
    .execute(pool)
    .await?;
    Ok(done.rows_affected())
}

/// Deletes the rows of worker processes that are dead for long.
pub(crate) async fn sweep_workers(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let done = sqlx::query!(
        "delete from live_workers where last_seen < now() - $1::interval",
        interval(FORGOTTEN_AFTER)
    )
    .execute(pool)
    .await?;
    Ok(done.rows_affected())
}

/// Deletes apalis' rows of workers that are dead for longer than `keep` and hold no task. A row that goes
/// too early would strand the tasks that it holds.
pub(crate) async fn sweep_apalis_workers(pool: &PgPool, keep: Duration) -> Result<u64, sqlx::Error> {
    let done = sqlx::query!(
        "delete from apalis.workers as worker where last_seen < now() - $1::interval
            and not exists (select from apalis.jobs where lock_by = worker.id)",
        interval(keep)
    )
    .execute(pool)
    .await?;
    Ok(done.rows_affected())
}

fn interval(duration: Duration) -> PgInterval {
    PgInterval { months: 0, days: 0, microseconds: i64::try_from(duration.as_micros()).unwrap_or(i64::MAX) }
}
