//! SQL of live processes: workers with their models, processes with waiting callers, and the leader lease for reaping
//! dead ones. One statement per function.

use std::{collections::BTreeMap, time::Duration};

use database::interval;
use serde_json::Value;
use sqlx::{PgExecutor, PgPool};

use crate::{
    LiveModel,
    config::{DEAD_AFTER, DELETED_AFTER},
};

/// Records a heartbeat of the process `name`, whose callers wait for jobs, and its limit of `connections` to the
/// server.
pub(crate) async fn caller_heartbeat(pool: &PgPool, name: &str, connections: u32) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into live_callers (name, connections) values ($1, $2)
        on conflict (name) do update set last_seen = now()",
        name,
        i32::try_from(connections).unwrap_or(i32::MAX)
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Cancels the jobs of caller processes that have been silent for `silence`.
pub(crate) async fn cancel_of_the_dead(
    pool: &PgPool,
    queue: &str,
    silence: Duration,
) -> Result<u64, sqlx::Error> {
    let done = sqlx::query!(
        r#"update jobs set cancelled_at = now(), (finished_at, outcome) = (
            select now(), '{"Err": {"problem": "cancelled"}}'::jsonb
            where holder is null
        )
        where queue = $1 and finished_at is null and cancelled_at is null and caller is not null
            and not exists (
                select from live_callers where live_callers.name = jobs.caller and last_seen > now() - $2::interval
            )"#,
        queue,
        interval(silence)
    )
    .execute(pool)
    .await?;
    Ok(done.rows_affected())
}

/// Contents of a worker's heartbeat.
pub(crate) struct Heartbeat<'a> {
    pub(crate) name: &'a str,
    pub(crate) queue: &'a str,
    pub(crate) slots: i32,
    pub(crate) ready_places: i32,
    pub(crate) reserved_slots: i32,
    /// Time for which the process keeps a job without a heartbeat.
    pub(crate) lease: Duration,
    /// Connections to the server that it may open.
    pub(crate) connections: i32,
    pub(crate) models: &'a [LiveModel],
    /// Ready results by model.
    pub(crate) ready: &'a BTreeMap<String, usize>,
    /// Number of results that it keeps ready for each model.
    pub(crate) ready_target: i64,
    /// Host name of its machine.
    pub(crate) host: Option<&'a str>,
}

/// Creates the leader lease of `queue` if there is none yet.
pub(crate) async fn create_leases(pool: &PgPool, queue: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("insert into queue_turns (queue) values ($1) on conflict do nothing", queue)
        .execute(pool)
        .await?;
    Ok(())
}

/// Result of asking for the leader lease of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeaderLease {
    /// Another process holds it, or it is not due yet.
    NotOurs,
    /// The caller holds it.
    Ours,
    /// The caller holds it, and nobody has for long.
    AfterSilence,
    /// The last lease lies in the future: the database's clock went back.
    ClockWentBack,
}

/// Timing of leader leases.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LeaderLeaseTiming {
    /// Time between two leases.
    pub(crate) pause: Duration,
    /// Time without a lease that counts as a silence of all processes. The next lease then comes as much later, so
    /// that live processes can send a heartbeat.
    pub(crate) silence: Duration,
}

/// Asks for the leader lease of `queue`.
pub(crate) async fn take_lease(
    pool: &PgPool,
    queue: &str,
    lease_timing: LeaderLeaseTiming,
) -> Result<LeaderLease, sqlx::Error> {
    let last = sqlx::query!(
        r#"with last as (
            select taken_at from queue_turns
            where queue = $1 and (taken_at < now() - $2::interval or taken_at > now() + $3::interval)
            for update skip locked
        ), taken as (
            update queue_turns set taken_at = now() + case when last.taken_at < now() - $3::interval then $3::interval else '0' end
            from last where queue = $1 and last.taken_at < now()
        )
        select taken_at > now() as "in_the_future!", taken_at < now() - $3::interval as "long_ago!" from last"#,
        queue,
        interval(lease_timing.pause),
        interval(lease_timing.silence)
    )
    .fetch_optional(pool)
    .await?;
    Ok(match last {
        None => LeaderLease::NotOurs,
        Some(last) if last.in_the_future => LeaderLease::ClockWentBack,
        Some(last) if last.long_ago => LeaderLease::AfterSilence,
        Some(_) => LeaderLease::Ours,
    })
}

/// Repairs times that lie in the future after the database's clock went back. Otherwise dead processes would live and
/// keep their jobs for as long as the clock went back. At most, a job gets its time again.
pub(crate) async fn repair_future_times(
    pool: &PgPool,
    queue: &str,
    lease: Duration,
) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "with turn as (update queue_turns set taken_at = now() where queue = $1 and taken_at > now()),
        workers as (update live_workers set last_seen = now() where last_seen > now()),
        callers as (update live_callers set last_seen = now() where last_seen > now())
        update jobs set created_at = least(created_at, now()), started_at = least(started_at, now()),
            deadline = deadline - greatest(created_at - now(), '0'), begin_by = begin_by - greatest(created_at - now(), '0'),
            held_until = least(held_until, now() + $2::interval)
        where queue = $1 and finished_at is null and (created_at > now() or held_until > now() + $2::interval)",
        queue,
        interval(lease)
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Records a heartbeat of a worker process with its models; returns true if the leader lease of its queue is due
/// ([`take_lease`]).
pub(crate) async fn heartbeat(
    pool: &PgPool,
    alive: Heartbeat<'_>,
    lease_timing: LeaderLeaseTiming,
) -> Result<bool, sqlx::Error> {
    let ids: Vec<&str> = alive.models.iter().map(|model| model.model_id.as_str()).collect();
    let costs: Vec<f64> = alive.models.iter().map(|model| model.relative_cost).collect();
    let ready = |id| i64::try_from(alive.ready.get(id).copied().unwrap_or(0)).unwrap_or(i64::MAX);
    let ready: Vec<i64> = ids.iter().map(|&id| ready(id)).collect();
    let cards: Vec<&Value> = alive.models.iter().map(|model| &model.card).collect();
    sqlx::query_scalar!(
        r#"with beat as (
            insert into live_workers
                (name, queue, slots, ready_places, guest_places, lease, connections, ready_target, host)
            values ($1, $2, $3, $7, $8, $10, $11, $12, $13)
            on conflict (name) do update set last_seen = now()
            returning name
        ),
        gone as (delete from live_models where worker = $1 and model_id <> all($4)),
        shown as (
            insert into live_models (worker, model_id, relative_cost, card, ready)
            select beat.name, model.id, model.cost, model.card, model.ready
            from beat, unnest($4::text[], $5::float8[], $6::jsonb[], $9::int8[]) as model (id, cost, card, ready)
            on conflict (worker, model_id) do update
            set relative_cost = excluded.relative_cost, card = excluded.card, ready = excluded.ready
            where (live_models.relative_cost, live_models.card, live_models.ready)
                is distinct from (excluded.relative_cost, excluded.card, excluded.ready)
        )
        select exists (
            select from queue_turns
            where queue = $2 and (taken_at < now() - $14::interval or taken_at > now() + $15::interval)
        ) as "is_due!""#,
        alive.name,
        alive.queue,
        alive.slots,
        &ids as &[&str],
        &costs,
        &cards as &[&Value],
        alive.ready_places,
        alive.reserved_slots,
        &ready,
        interval(alive.lease),
        alive.connections,
        alive.ready_target,
        alive.host,
        interval(lease_timing.pause),
        interval(lease_timing.silence)
    )
    .fetch_one(pool)
    .await
}

/// Records that the worker process `name` takes no more jobs. Its row stays until it is swept, so that its models
/// remain known while it restarts.
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

/// Live worker processes of one queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiveWorkers {
    /// Name of the queue.
    pub queue: String,
    /// Number of processes.
    pub processes: i64,
    /// Jobs that they run at once.
    pub slots: i64,
}

/// Returns the live workers by queue; a queue without workers is absent.
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

/// Waiting and running jobs of one queue.
#[derive(Debug, Clone, PartialEq)]
pub struct Backlog {
    /// Name of the queue.
    pub queue: String,
    /// Jobs that no worker has started or still holds.
    pub waiting: i64,
    /// Jobs that a worker holds.
    pub running: i64,
    /// Wait of the oldest waiting job in seconds; 0 if none waits.
    pub oldest_wait: f64,
}

/// Returns the open jobs whose deadline has not passed, by queue; a queue without such jobs is absent.
///
/// # Errors
/// Fails when the database does.
pub async fn backlogs(database: impl PgExecutor<'_>) -> Result<Vec<Backlog>, sqlx::Error> {
    sqlx::query_as!(
        Backlog,
        r#"select queue, count(*) filter (where not is_held) as "waiting!", count(*) filter (where is_held) as "running!",
            coalesce(extract(epoch from now() - min(created_at) filter (where not is_held)), 0)::float8 as "oldest_wait!"
        from jobs cross join lateral (select coalesce(held_until > now(), false) as is_held) as holder
        where finished_at is null and cancelled_at is null and deadline > now()
        group by queue order by queue"#
    )
    .fetch_all(database)
    .await
}

/// Returns the models of the live workers of `queue`, by id.
///
/// # Errors
/// Fails when the database does.
pub async fn live_models(database: impl PgExecutor<'_>, queue: &str) -> Result<Vec<LiveModel>, sqlx::Error> {
    // Where workers disagree about a model, the one that started last counts.
    sqlx::query_as!(
        LiveModel,
        "select distinct on (model_id) model_id, relative_cost, card
        from live_models join live_workers on live_workers.name = live_models.worker
        where last_seen > now() - $1::interval and queue = $2
        order by model_id, started_at desc",
        interval(DEAD_AFTER),
        queue
    )
    .fetch_all(database)
    .await
}

/// Deletes the rows of processes that have been dead for long.
pub(crate) async fn sweep_workers(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let done = sqlx::query!(
        "with callers as (delete from live_callers where last_seen < now() - $1::interval)
        delete from live_workers where last_seen < now() - $1::interval",
        interval(DELETED_AFTER)
    )
    .execute(pool)
    .await?;
    Ok(done.rows_affected())
}

/// Deletes apalis' rows of workers that have been dead for longer than `max_age` and hold no task. Deleting a row too
/// early would strand its tasks.
pub(crate) async fn sweep_apalis_workers(pool: &PgPool, max_age: Duration) -> Result<u64, sqlx::Error> {
    let done = sqlx::query!(
        "delete from apalis.workers as worker where last_seen < now() - $1::interval
            and not exists (select from apalis.jobs where lock_by = worker.id)",
        interval(max_age)
    )
    .execute(pool)
    .await?;
    Ok(done.rows_affected())
}
