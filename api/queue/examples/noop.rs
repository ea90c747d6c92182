//! Overhead of the queue itself: submits and awaits jobs that do nothing, with 1 and with 50 clients.
//!
//! `TEST_DATABASE_URL=… cargo run --release -p queue --example noop [SLOTS [SECONDS]]` makes a database of its own,
//! runs a real worker in this process and prints one line per number of clients. With SECONDS it goes on with 50
//! clients for that long, keeps finished jobs for only 20 s, and prints the state of the tables every 15 s. That
//! shows hours of insertion and deletion in an installation at full speed.

use std::time::{Duration, Instant};

use contract::JobId;
use queue::{
    Client, ClientConnections, FinishResult, Handler, HandlerError, Job, JobCaller, JobContext, WorkEstimate,
    WorkerConfig, run_worker,
};
use serde::{Deserialize, Serialize};
use sqlx::{PgPool, postgres::PgConnectOptions};
use tokio::sync::oneshot;

/// Retention of finished jobs in the long run.
const RETENTION: Duration = Duration::from_secs(20);

/// Time between two reports on the tables.
const REPORT_INTERVAL: Duration = Duration::from_secs(15);

type Anything = Box<dyn std::error::Error + Send + Sync>;

#[derive(Serialize, Deserialize)]
struct Noop;

impl Job for Noop {
    const QUEUE: &'static str = "noop";

    type Outcome = ();

    fn work(&self) -> WorkEstimate<'_> {
        WorkEstimate { kind: "noop", seconds: 0.001, longest: None, ready: None }
    }
}

struct Nothing(PgPool);

impl Handler<Noop> for Nothing {
    async fn handle(&self, context: JobContext<Noop>, _: Noop) -> Result<(), HandlerError> {
        let mut connection = self.0.acquire().await?;
        match context.finish(&mut connection, &Ok(())).await? {
            FinishResult::Stored => Ok(()),
            FinishResult::Superseded => Err("a no-op was superseded".into()),
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Anything> {
    let argument = |number| std::env::args().nth(number).map(|text| text.parse::<u64>()).transpose();
    let slots = usize::try_from(argument(1)?.unwrap_or(10))?;
    let lasting = Duration::from_secs(argument(2)?.unwrap_or(0));
    let database = test_support::TestDatabase::with_schema().await;
    let options = database.url().parse::<PgConnectOptions>()?.options([("synchronous_commit", "off")]);
    let pool = database::pool("noop", options, 20, Duration::from_secs(5)).await?;
    measure(pool, slots, lasting).await
}

async fn measure(pool: PgPool, slots: usize, lasting: Duration) -> Result<(), Anything> {
    let (stop, stopped) = oneshot::channel::<()>();
    let keep_finished = if lasting.is_zero() { WorkerConfig::default().keep_finished } else { RETENTION };
    let config = WorkerConfig { slots, keep_finished, ..WorkerConfig::default() };
    let worker = tokio::spawn(run_worker::<Noop, _>(pool.clone(), config, Nothing(pool.clone()), async {
        let _ = stopped.await;
    }));
    let client = Client::connect(pool.clone(), ClientConnections { queue: 16, process: 32 }).await?;
    while client.live_workers().await?.is_empty() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    round(&client, 1, 50).await?;

    for (clients, jobs_each) in [(1, 500), (50, 100)] {
        let started = Instant::now();
        let mut latencies = round(&client, clients, jobs_each).await?;
        let seconds = started.elapsed().as_secs_f64();
        latencies.sort();
        print(clients, slots, &latencies, seconds);
    }
    let begun = Instant::now();
    while begun.elapsed() < lasting {
        let (slice, mut latencies) = (Instant::now(), Vec::new());
        while slice.elapsed() < REPORT_INTERVAL {
            latencies.extend(round(&client, 50, 20).await?);
        }
        let seconds = slice.elapsed().as_secs_f64();
        latencies.sort();
        print(50, slots, &latencies, seconds);
        show_tables(&pool).await?;
    }
    let _ = stop.send(());
    worker.await??;
    Ok(())
}

/// Returns the latencies of `clients` callers, each of which submits its next job once it has the last answer.
async fn round(client: &Client, clients: usize, jobs_each: usize) -> Result<Vec<Duration>, Anything> {
    let callers: Vec<_> =
        (0..clients).map(|number| tokio::spawn(call(client.clone(), number, jobs_each))).collect();
    let mut latencies = Vec::with_capacity(clients * jobs_each);
    for caller in callers {
        latencies.extend(caller.await??);
    }
    Ok(latencies)
}

async fn call(client: Client, number: usize, jobs: usize) -> Result<Vec<Duration>, Anything> {
    let mut latencies = Vec::with_capacity(jobs);
    let account_id = format!("acc_{number}");
    let caller =
        JobCaller { account_id: &account_id, timeout: Duration::from_secs(60), max_in_flight: Some(64) };
    for _ in 0..jobs {
        let started = Instant::now();
        client.submit(JobId::generate(), &Noop, caller).await?.outcome().await??;
        latencies.push(started.elapsed());
    }
    Ok(latencies)
}

#[expect(clippy::print_stdout, reason = "the figures are what this program is for")]
fn print(clients: usize, slots: usize, sorted: &[Duration], seconds: f64) {
    let at = |share: f64| sorted[((sorted.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "{clients:3} clients, {slots} slots: p50 {:.2} ms, p99 {:.2} ms, {:.0} jobs/s",
        at(0.5),
        at(0.99),
        sorted.len() as f64 / seconds,
    );
}

/// Prints the queue's tables and their indexes: size, live and dead rows, and the share of updates that needed no
/// index entry.
#[expect(clippy::print_stdout, reason = "the figures are what this program is for")]
async fn show_tables(pool: &PgPool) -> Result<(), Anything> {
    // Not checked at compile time: these are PostgreSQL's own views, which exist without a migration.
    let lines: Vec<String> = sqlx::query_scalar(
        "select format('    %s %s: %s kB, %s live, %s dead, %s%% of %s updates within a page, %s vacuums; %s',
            schemaname, relname, pg_table_size(relid) / 1024, n_live_tup, n_dead_tup,
            100 * n_tup_hot_upd / greatest(n_tup_upd, 1), n_tup_upd, autovacuum_count,
            (select string_agg(format('%s %s', indexrelname, pg_relation_size(indexrelid) / 1024), ', ' order by indexrelname)
                from pg_stat_user_indexes as index where index.relid = stat.relid))
        from pg_stat_user_tables as stat
        where relname in ('jobs', 'live_workers', 'live_callers') order by schemaname, relname",
    )
    .fetch_all(pool)
    .await?;
    lines.iter().for_each(|line| println!("{line}"));
    Ok(())
}
