//! Progress events of running jobs and their watchers: the tables `job_events` and `watched_jobs`.
//!
//! A worker stores events as rows and sends a NOTIFY. So any process can serve any stream, and a reconnecting client
//! continues from its last event. Watchers renew a lease. While there is one, the worker publishes events. If only
//! the watchers want the outcome (a search), the job is cancelled some time after the last lease has expired.

use std::time::Duration;

use database::interval;
use serde_json::Value;
use sqlx::{PgExecutor, PgPool, types::Json};

use crate::retention::BATCH_ROWS;

/// Notification channel for the ids of jobs with a new event.
pub(crate) const EVENT_CHANNEL: &str = "job_event";

/// Lease of a watcher: the grace period in which a client that disconnected may come back.
pub(crate) const WATCH_LEASE: Duration = Duration::from_secs(8);

/// Interval at which the lease is renewed.
pub(crate) const RENEWAL_INTERVAL: Duration = Duration::from_secs(2);

/// Retention of events after the end of their job.
const EVENT_RETENTION: Duration = Duration::from_secs(300);

/// Largest number of events that are read at once.
const MAX_EVENTS_PER_READ: i64 = 64;

/// A progress event to be published.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    /// Type of the event: `progress` or `route`.
    pub event: &'static str,
    /// JSON on one line.
    pub data: String,
}

/// A progress event of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobEvent {
    /// Sequence number, greater than those of all earlier events.
    pub number: i64,
    /// Type, as in [`NewEvent`].
    pub event: String,
    /// JSON, as in [`NewEvent`].
    pub data: String,
}

/// Publisher of events for one attempt at a job.
#[derive(Debug, Clone)]
pub struct EventPublisher {
    job_id: String,
    attempt: i32,
    last: i64,
}

impl EventPublisher {
    pub(crate) fn new(job_id: String, attempt: i32) -> Self {
        Self { job_id, attempt, last: 0 }
    }

    /// Publishes `events` in order; does nothing if the job is over or another attempt runs it.
    ///
    /// # Errors
    /// Fails when the database does.
    pub async fn publish(&mut self, database: &PgPool, events: &[NewEvent]) -> Result<(), sqlx::Error> {
        let names: Vec<&str> = events.iter().map(|event| event.event).collect();
        let data: Vec<&str> = events.iter().map(|event| &*event.data).collect();
        let number = publish(database, (&self.job_id, self.attempt), self.last, (&names, &data)).await?;
        self.last = number.unwrap_or(self.last);
        Ok(())
    }
}

/// Stores events of the `attempt` at the job `id` whose last event had the number `last`; returns the new last
/// number.
async fn publish(
    database: impl PgExecutor<'_>,
    (id, attempt): (&str, i32),
    last: i64,
    (names, data): (&[&str], &[&str]),
) -> Result<Option<i64>, sqlx::Error> {
    let number = sqlx::query!(
        r#"with told as (
            insert into job_events (job_id, number, event, data)
            select jobs.id, greatest($3, (extract(epoch from now()) * 1000)::bigint) + nth, new.event, new.data
            from jobs, unnest($4::text[], $5::text[]) with ordinality as new (event, data, nth)
            where jobs.id = $1 and attempts = $2 and finished_at is null and cancelled_at is null
            returning number
        )
        select number, pg_notify($6, $1) from told order by number desc limit 1"#,
        id,
        attempt,
        last,
        names as &[&str],
        data as &[&str],
        EVENT_CHANNEL,
    )
    .fetch_optional(database)
    .await?;
    Ok(number.map(|number| number.number))
}

/// Returns the first events of the job after number `after`.
pub(crate) async fn events_after(
    database: impl PgExecutor<'_>,
    id: &str,
    after: i64,
) -> Result<Vec<JobEvent>, sqlx::Error> {
    sqlx::query_as!(
        JobEvent,
        "select number, event, data from job_events where job_id = $1 and number > $2 order by number limit $3",
        id,
        after,
        MAX_EVENTS_PER_READ
    )
    .fetch_all(database)
    .await
}

/// Effect of a subscription on the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubscriptionMode {
    /// The job is cancelled some time after its last subscription has ended.
    KeepsJobAlive,
    /// The job runs with or without subscriptions.
    Passive,
}

/// Records that somebody watches the job, for the length of [`WATCH_LEASE`].
pub(crate) async fn renew_watch(pool: &PgPool, id: &str, mode: SubscriptionMode) -> Result<(), sqlx::Error> {
    sqlx::query!(
        "insert into watched_jobs (job_id, until, is_awaited) values ($1, now() + $2, $3)
        on conflict (job_id) do update set until = excluded.until",
        id,
        interval(WATCH_LEASE),
        mode == SubscriptionMode::KeepsJobAlive
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Returns true if the account submitted the job and it was watched for its outcome.
pub(crate) async fn can_subscribe(pool: &PgPool, id: &str, account_id: &str) -> Result<bool, sqlx::Error> {
    let found = sqlx::query_scalar!(
        "select job_id from watched_jobs join jobs on jobs.id = job_id
        where job_id = $1 and account_id = $2 and is_awaited",
        id,
        account_id
    )
    .fetch_optional(pool)
    .await?;
    Ok(found.is_some())
}

/// Stores the request of a watched job.
pub(crate) async fn remember(pool: &PgPool, id: &str, request: &Value) -> Result<(), sqlx::Error> {
    sqlx::query!("update watched_jobs set asked = $2 where job_id = $1", id, Json(request) as _)
        .execute(pool)
        .await?;
    Ok(())
}

/// Returns the request of the job that the account watched for its outcome; `None` if it is not stored.
pub(crate) async fn request(pool: &PgPool, id: &str, account_id: &str) -> Result<Option<Value>, sqlx::Error> {
    let found = sqlx::query_scalar!(
        "select asked from watched_jobs join jobs on jobs.id = job_id
        where job_id = $1 and account_id = $2 and is_awaited",
        id,
        account_id
    );
    Ok(found.fetch_optional(pool).await?.flatten())
}

/// Returns true if somebody watches the job or did a moment ago.
pub(crate) async fn is_watched(pool: &PgPool, id: &str) -> Result<bool, sqlx::Error> {
    let found =
        sqlx::query_scalar!("select job_id from watched_jobs where job_id = $1 and until > now()", id)
            .fetch_optional(pool)
            .await?;
    Ok(found.is_some())
}

/// Returns the open jobs of `queue` that only watchers wanted and nobody watches any more.
pub(crate) async fn unwatched(pool: &PgPool, queue: &str) -> Result<Vec<String>, sqlx::Error> {
    sqlx::query_scalar!(
        "select job_id from watched_jobs join jobs on jobs.id = job_id
        where is_awaited and until < now() and queue = $1 and caller is null and finished_at is null and cancelled_at is null",
        queue
    )
    .fetch_all(pool)
    .await
}

/// Deletes a batch of events of jobs that ended a while ago, and the records of their watchers.
pub(crate) async fn sweep(pool: &PgPool) -> Result<u64, sqlx::Error> {
    let done = sqlx::query!(
        "with forgotten as (
            delete from watched_jobs where until < now() - $1::interval and not exists (
                select from jobs where jobs.id = watched_jobs.job_id and finished_at is null
            )
        )
        delete from job_events where (job_id, number) in (
            select job_id, number from job_events as told
            where number < (extract(epoch from now() - $1::interval) * 1000)::bigint and not exists (
                select from jobs
                where jobs.id = told.job_id and coalesce(finished_at > now() - $1::interval, true)
            )
            limit $2
        )",
        interval(EVENT_RETENTION),
        BATCH_ROWS
    )
    .execute(pool)
    .await?;
    Ok(done.rows_affected())
}
