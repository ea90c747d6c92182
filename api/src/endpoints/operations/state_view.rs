//! State of the installation, read on one connection.

use std::collections::{BTreeMap, BTreeSet};

use contract::{CatalogueState, OperationsState, QueuePause, QueueState, ReservoirState};
use identity::tables::accounts;
use queue::operations;
use sqlx::{PgConnection, PgPool};

use crate::endpoints::models;

/// Largest number of jobs in flight that are listed.
const JOBS: i64 = 200;

/// Largest number of failures that are listed.
const FAILURES: i64 = 50;

pub async fn read_state(pool: &PgPool) -> Result<OperationsState, sqlx::Error> {
    let mut connection = pool.acquire().await?;
    let connection = &mut *connection;
    let mut jobs = operations::in_flight(&mut *connection, JOBS).await?;
    let mut failures = operations::failures(&mut *connection, FAILURES).await?;
    let accounts = jobs.first.iter_mut().map(|job| &mut job.account);
    name(connection, accounts.chain(failures.first.iter_mut().map(|job| &mut job.account))).await?;
    Ok(OperationsState {
        at: operations::now(&mut *connection).await?,
        queues: queues(connection).await?,
        workers: operations::workers(&mut *connection).await?,
        jobs: jobs.first,
        jobs_total: jobs.total,
        failures: failures.first,
        failures_total: failures.total,
        reservoirs: reservoirs(connection).await?,
        catalogue: catalogue(connection).await?,
    })
}

/// Replaces account ids by e-mail addresses.
async fn name<'a>(
    connection: &mut PgConnection,
    accounts: impl Iterator<Item = &'a mut String>,
) -> Result<(), sqlx::Error> {
    let accounts: Vec<&mut String> = accounts.collect();
    let ids: BTreeSet<String> = accounts.iter().map(|id| (**id).clone()).collect();
    let addresses = accounts::addresses(connection, &Vec::from_iter(ids)).await?;
    for account in accounts {
        if let Some(address) = addresses.get(account) {
            account.clone_from(address);
        }
    }
    Ok(())
}

/// Returns every queue, empty or not.
async fn queues(connection: &mut PgConnection) -> Result<Vec<QueueState>, sqlx::Error> {
    let backlogs = queue::backlogs(&mut *connection).await?;
    let live = queue::live_workers(&mut *connection).await?;
    let mut pauses: BTreeMap<String, QueuePause> =
        operations::pauses(&mut *connection).await?.into_iter().collect();
    let state = |queue: &str| {
        let backlog = backlogs.iter().find(|backlog| backlog.queue == queue);
        QueueState {
            queue: queue.to_owned(),
            waiting: backlog.map_or(0, |backlog| backlog.waiting),
            busy: backlog.map_or(0, |backlog| backlog.running),
            slots: live.iter().find(|live| live.queue == queue).map_or(0, |live| live.slots),
            oldest_wait_seconds: backlog.map_or(0.0, |backlog| backlog.oldest_wait),
            paused: pauses.remove(queue),
        }
    };
    Ok(queue::QUEUES.map(state).into())
}

/// Returns every model that has ready molecules or a live sampler.
async fn reservoirs(connection: &mut PgConnection) -> Result<Vec<ReservoirState>, sqlx::Error> {
    let mut ready = models::ready(&mut *connection).await?;
    let targets: BTreeMap<String, Option<i64>> =
        operations::ready_targets(&mut *connection).await?.into_iter().collect();
    for served in targets.keys() {
        ready.entry(served.clone()).or_default();
    }
    let state = |(model_id, ready)| {
        let target = targets.get(&model_id).copied().flatten();
        ReservoirState { model_id, ready, target }
    };
    Ok(ready.into_iter().map(state).collect())
}

/// Returns the state of the catalogue.
pub async fn catalogue(connection: &mut PgConnection) -> Result<CatalogueState, sqlx::Error> {
    sqlx::query_as!(
        CatalogueState,
        "select version, building_blocks, offers, imported_at from catalogue_version where is_the_only"
    )
    .fetch_one(connection)
    .await
}
