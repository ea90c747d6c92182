//! Metrics of queues, workers and PostgreSQL itself, polled regularly from the database.
//!
//! Every API process polls, and all get the same values, so an aggregation over processes takes the maximum. While
//! the database does not answer there are no values. The names of PostgreSQL's own metrics are those of the
//! OpenTelemetry collector's `postgresqlreceiver`.

use std::{sync::Arc, time::Duration};

use contract::CatalogueState;
use database::Background;
use opentelemetry::{
    KeyValue,
    metrics::{AsyncInstrument, Meter},
};
use parking_lot::RwLock;
use queue::{Backlog, LiveWorkers, operations};
use sqlx::PgPool;

use crate::endpoints::operations::state_view::catalogue;

/// Polling interval.
const MEASUREMENT_INTERVAL: Duration = Duration::from_secs(5);
/// Timeout of one poll.
const POLL_TIMEOUT: Duration = Duration::from_secs(5);

/// Values of the last poll.
#[derive(Debug)]
struct MetricsSnapshot {
    backlogs: Vec<Backlog>,
    workers: Vec<LiveWorkers>,
    /// Paused queues.
    paused: Vec<String>,
    catalogue: CatalogueState,
    server: Server,
    tables: Vec<TableStatistics>,
}

/// PostgreSQL as a whole, with the service's database.
#[derive(Debug)]
struct Server {
    backends: i64,
    connection_max: i64,
    commits: i64,
    rollbacks: i64,
    deadlocks: i64,
    blocks_read: i64,
    blocks_hit: i64,
    db_size: i64,
    wal: i64,
    oldest_transaction: f64,
    notifications: f64,
    transaction_ids: i64,
}

/// Statistics of one of the tables that change most.
#[derive(Debug)]
struct TableStatistics {
    name: String,
    live: i64,
    dead: i64,
    size: i64,
}

/// Polls and exports metrics until dropped.
pub fn gauges(pool: PgPool) -> Background {
    let seen = Arc::new(RwLock::new(None));
    show(&telemetry::meter(), &seen);
    Background::supervise("polling the database for metrics", move || {
        let (pool, seen) = (pool.clone(), Arc::clone(&seen));
        async move {
            loop {
                let now = database::within(POLL_TIMEOUT, measure(&pool)).await;
                let now =
                    now.inspect_err(|error| tracing::debug!("metrics of the database are missing: {error}"));
                *seen.write() = now.ok();
                tokio::time::sleep(MEASUREMENT_INTERVAL).await;
            }
        }
    })
}

async fn measure(pool: &PgPool) -> Result<MetricsSnapshot, sqlx::Error> {
    let mut connection = pool.acquire().await?;
    let server = sqlx::query_as!(
        Server,
        r#"select (select count(*) from pg_stat_activity where backend_type = 'client backend') as "backends!",
            current_setting('max_connections')::int8 as "connection_max!",
            coalesce(xact_commit, 0) as "commits!", coalesce(xact_rollback, 0) as "rollbacks!",
            coalesce(deadlocks, 0) as "deadlocks!",
            coalesce(blks_read, 0) as "blocks_read!", coalesce(blks_hit, 0) as "blocks_hit!",
            pg_database_size(datid) as "db_size!",
            case when pg_is_in_recovery() then 0 else (pg_current_wal_lsn() - '0/0')::int8 end as "wal!",
            (
                select coalesce(extract(epoch from max(clock_timestamp() - xact_start)), 0)::float8
                from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()
            ) as "oldest_transaction!",
            pg_notification_queue_usage() as "notifications!",
            (select max(age(datfrozenxid))::int8 from pg_database) as "transaction_ids!"
        from pg_stat_database where datname = current_database()"#
    )
    .fetch_one(&mut *connection)
    .await?;
    let tables = sqlx::query_as!(
        TableStatistics,
        r#"select case schemaname when 'public' then relname else schemaname || '.' || relname end as "name!",
            n_live_tup as "live!", n_dead_tup as "dead!", pg_total_relation_size(relid) as "size!"
        from pg_stat_user_tables
        where (schemaname, relname) in (
            ('public', 'jobs'), ('apalis', 'jobs'), ('public', 'samples'), ('public', 'reservoir_blocks'), ('public', 'offers')
        )"#
    )
    .fetch_all(&mut *connection)
    .await?;
    let mut backlogs = queue::backlogs(&mut *connection).await?;
    let workers = queue::live_workers(&mut *connection).await?;
    // An empty queue is reported as zero.
    for live in &workers {
        if !backlogs.iter().any(|backlog| backlog.queue == live.queue) {
            backlogs.push(Backlog { queue: live.queue.clone(), waiting: 0, running: 0, oldest_wait: 0.0 });
        }
    }
    let paused = operations::pauses(&mut *connection).await?.into_iter().map(|(queue, _)| queue).collect();
    let catalogue = catalogue(&mut connection).await?;
    Ok(MetricsSnapshot { backlogs, workers, paused, catalogue, server, tables })
}

/// Value with its attributes.
type Measurement = (f64, Vec<KeyValue>);

/// Extracts the values of a metric.
type ExtractMeasurements = fn(&MetricsSnapshot) -> Vec<Measurement>;

fn show(meter: &Meter, seen: &Arc<RwLock<Option<MetricsSnapshot>>>) {
    let gauge = |name: &'static str, unit: &'static str, described: &'static str, of: ExtractMeasurements| {
        let gauge = meter.f64_observable_gauge(name).with_unit(unit).with_description(described);
        gauge.with_callback(observe_last(seen, of)).build();
    };
    let counter =
        |name: &'static str, unit: &'static str, described: &'static str, of: ExtractMeasurements| {
            let counter = meter.f64_observable_counter(name).with_unit(unit).with_description(described);
            counter.with_callback(observe_last(seen, of)).build();
        };
    gauge("retort.queue.depth", "{job}", "Open jobs by state", |seen| {
        let by_state = |backlog: &Backlog| {
            [("waiting", backlog.waiting), ("running", backlog.running)].map(|(state, jobs)| {
                (jobs as f64, vec![queue(&backlog.queue), KeyValue::new("state", state)])
            })
        };
        seen.backlogs.iter().flat_map(by_state).collect()
    });
    gauge("retort.queue.oldest_wait", "s", "How long the job waits that has waited longest", |seen| {
        seen.backlogs.iter().map(|backlog| (backlog.oldest_wait, vec![queue(&backlog.queue)])).collect()
    });
    gauge("retort.queue.paused", "{queue}", "Whether an operator has paused the queue", |seen| {
        let is_paused = |name: &str| seen.paused.iter().any(|paused| paused == name);
        queue::QUEUES.map(|name| (f64::from(u8::from(is_paused(name))), vec![queue(name)])).into()
    });
    gauge("retort.catalogue.version", "{import}", "A number that rises with every import", |seen| {
        one(seen.catalogue.version)
    });
    gauge("retort.catalogue.size", "{row}", "What the catalogue holds, by kind", |seen| {
        [("building_blocks", seen.catalogue.building_blocks), ("offers", seen.catalogue.offers)]
            .map(|(kind, rows)| (rows as f64, vec![KeyValue::new("kind", kind)]))
            .into()
    });
    gauge("retort.workers.live", "{process}", "Worker processes that live", |seen| {
        seen.workers.iter().map(|live| (live.processes as f64, vec![queue(&live.queue)])).collect()
    });
    gauge("retort.workers.slots", "{slot}", "Jobs that live workers run at once", |seen| {
        seen.workers.iter().map(|live| (live.slots as f64, vec![queue(&live.queue)])).collect()
    });
    gauge("postgresql.backends", "{connection}", "Connections to PostgreSQL", |seen| {
        one(seen.server.backends)
    });
    gauge("postgresql.connection.max", "{connection}", "Connections that PostgreSQL takes", |seen| {
        one(seen.server.connection_max)
    });
    gauge("postgresql.db_size", "By", "Size of the service's database", |seen| one(seen.server.db_size));
    gauge("retort.postgresql.oldest_transaction", "s", "Age of the oldest transaction", |seen| {
        vec![(seen.server.oldest_transaction, Vec::new())]
    });
    gauge(
        "retort.postgresql.notifications",
        "1",
        "Part of the room for notifications that is taken",
        |seen| vec![(seen.server.notifications, Vec::new())],
    );
    gauge(
        "retort.postgresql.transaction_ids",
        "{transaction}",
        "Transactions since the oldest row that is not frozen; at two thousand million PostgreSQL takes no more",
        |seen| one(seen.server.transaction_ids),
    );
    counter("postgresql.commits", "{transaction}", "Transactions that were committed", |seen| {
        one(seen.server.commits)
    });
    counter("postgresql.rollbacks", "{transaction}", "Transactions that were rolled back", |seen| {
        one(seen.server.rollbacks)
    });
    counter("postgresql.deadlocks", "{deadlock}", "Deadlocks", |seen| one(seen.server.deadlocks));
    counter("postgresql.blocks_read", "{block}", "Blocks that were read, by source", |seen| {
        [("read", seen.server.blocks_read), ("hit", seen.server.blocks_hit)]
            .map(|(source, blocks)| (blocks as f64, vec![KeyValue::new("source", source)]))
            .into()
    });
    counter("retort.postgresql.wal", "By", "Write-ahead log that was written", |seen| one(seen.server.wal));
    gauge("postgresql.rows", "{row}", "Rows of the tables that change most, by state", |seen| {
        let by_state = |table: &TableStatistics| {
            [("live", table.live), ("dead", table.dead)]
                .map(|(state, rows)| (rows as f64, vec![of_table(table), KeyValue::new("state", state)]))
        };
        seen.tables.iter().flat_map(by_state).collect()
    });
    gauge("postgresql.table.size", "By", "Size of the tables that change most, with their indexes", |seen| {
        seen.tables.iter().map(|table| (table.size as f64, vec![of_table(table)])).collect()
    });
}

/// Reports the values of the last poll; none if it failed.
fn observe_last(
    seen: &Arc<RwLock<Option<MetricsSnapshot>>>,
    of: ExtractMeasurements,
) -> impl Fn(&dyn AsyncInstrument<f64>) + Send + Sync + 'static {
    let seen = Arc::clone(seen);
    move |observer| {
        let seen = seen.read();
        for (value, attributes) in seen.as_ref().map(of).unwrap_or_default() {
            observer.observe(value, &attributes);
        }
    }
}

fn one(value: i64) -> Vec<Measurement> {
    vec![(value as f64, Vec::new())]
}

fn queue(name: &str) -> KeyValue {
    KeyValue::new("messaging.destination.name", name.to_owned())
}

fn of_table(table: &TableStatistics) -> KeyValue {
    KeyValue::new("postgresql.table.name", table.name.clone())
}
