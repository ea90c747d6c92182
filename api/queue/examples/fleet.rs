//! Load that many workers put on PostgreSQL: jobs submitted at a rate to a fleet of simulated workers that only wait.
//!
//! `TEST_DATABASE_URL=… cargo run --release --workspace --example fleet WORKERS RATE SECONDS [WORK_MS]`. A simulated
//! worker sends the same statements as a real one: it listens on a connection of its own, sends heartbeats, polls
//! when notified and now and then, claims jobs, writes outcomes, and reaps dead processes while it holds the leader
//! lease. All of them share one pool, as behind a pooler, except for listening. The callers are real. The program
//! prints one line: the latencies of the jobs, and the work of PostgreSQL for each.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use contract::JobId;
use queue::{Client, ClientConnections, Job, JobCaller, WorkEstimate};
use serde::{Deserialize, Serialize};
use sqlx::{
    PgPool,
    postgres::{PgConnectOptions, PgListener, PgPoolOptions},
};
use tokio::{sync::Semaphore, task::JoinSet};

type Anything = Box<dyn std::error::Error + Send + Sync>;

/// Connections that all simulated workers share, beside one listening connection each.
const SHARED_CONNECTIONS: u32 = 48;
/// Jobs that a simulated worker runs at once.
const SLOTS: usize = 4;
/// Time between two polls without a notification: with few workers, and with so many that only some are notified of a
/// job (`poll.rs`).
const IDLE: Duration = Duration::from_secs(1);
const IDLE_MANY_WORKERS: Duration = Duration::from_secs(5);

#[derive(Serialize, Deserialize)]
struct NoopJob;

impl Job for NoopJob {
    const QUEUE: &'static str = "light";

    type Outcome = ();

    fn work(&self) -> WorkEstimate<'_> {
        WorkEstimate { kind: "light", seconds: 0.01, longest: None, ready: None }
    }
}

#[derive(Clone)]
struct Fleet {
    pool: PgPool,
    work: Duration,
    polls: Arc<AtomicU64>,
}

#[tokio::main]
async fn main() -> Result<(), Anything> {
    let argument = |number| std::env::args().nth(number).ok_or("fleet WORKERS RATE SECONDS [WORK_MS]");
    let (workers, rate, seconds): (usize, f64, f64) =
        (argument(1)?.parse()?, argument(2)?.parse()?, argument(3)?.parse()?);
    let work = Duration::from_millis(argument(4).map_or(Ok(10), |text| text.parse())?);
    let database = test_support::TestDatabase::with_schema().await;
    let options = database.url().parse::<PgConnectOptions>()?.options([("synchronous_commit", "off")]);
    let pool = PgPoolOptions::new()
        .max_connections(SHARED_CONNECTIONS)
        .acquire_timeout(Duration::from_secs(60))
        .connect_with(options)
        .await?;
    sqlx::query("insert into queue_turns (queue) values ('light')").execute(&pool).await?;

    let fleet = Fleet { pool: pool.clone(), work, polls: Arc::default() };
    let mut working = JoinSet::new();
    let starting = Arc::new(Semaphore::new(16));
    for number in 0..workers {
        let (fleet, starting) = (fleet.clone(), Arc::clone(&starting));
        let listener = {
            let _turn = starting.acquire().await?;
            fleet.join(number).await?
        };
        working.spawn(async move { fleet.work(number, listener).await });
    }
    let client = Client::connect(pool.clone(), ClientConnections { queue: 16, process: 16 }).await?;
    let _ = at_a_rate(&client, rate, 3.0).await;
    fleet.polls.store(0, Ordering::Relaxed);
    let before = ResourceUsage::now(&pool).await?;
    let begun = Instant::now();
    let (mut latencies, failed) = at_a_rate(&client, rate, seconds).await;
    let lasted = begun.elapsed().as_secs_f64();
    let after = ResourceUsage::now(&pool).await?;
    latencies.sort();
    print(&fleet, workers, rate, &latencies, failed, lasted, &before, &after);
    working.abort_all();
    drop(working);
    Ok(())
}

impl Fleet {
    fn name(number: usize) -> String {
        format!("light-{number:05}")
    }

    /// Registers the worker.
    async fn join(&self, number: usize) -> Result<PgListener, sqlx::Error> {
        sqlx::query("insert into live_workers (name, queue, slots, lease) values ($1, 'light', $2, '5 s')")
            .bind(Self::name(number))
            .bind(SLOTS as i32)
            .execute(&self.pool)
            .await?;
        let options = (*self.pool.connect_options()).clone();
        let its_own = PgPoolOptions::new().max_connections(1).connect_with(options).await?;
        let mut listener = PgListener::connect_with(&its_own).await?;
        listener.listen_all(["job_waits", "job_cancelled"]).await?;
        Ok(listener)
    }

    /// Works until dropped.
    async fn work(self, number: usize, mut listener: PgListener) {
        let name = Self::name(number);
        let notifier = Arc::new(tokio::sync::Notify::new());
        let mut running = JoinSet::new();
        // Spreads the heartbeats over the second.
        let phase = Duration::from_micros(number as u64 * 997 % 1_000_000);
        let mut heartbeats =
            tokio::time::interval_at(tokio::time::Instant::now() + phase, Duration::from_secs(1));
        let (mut idle, mut last_poll) = (IDLE, Instant::now());
        loop {
            let poll = tokio::select! {
                notification = listener.recv() => notification.is_ok_and(|notification| {
                    let words: Vec<_> = notification.payload().split(' ').collect();
                    let is_ours = notification.channel() == "job_waits" && words[0] == "light";
                    if is_ours {
                        idle = if words.len() > 1 { IDLE_MANY_WORKERS } else { IDLE };
                    }
                    is_ours && (words.len() == 1 || words.contains(&&*name))
                }),
                () = notifier.notified() => true,
                _ = heartbeats.tick() => {
                    let _ = self.send_heartbeat(&name).await;
                    last_poll.elapsed() >= idle
                }
                Some(_) = running.join_next(), if !running.is_empty() => false,
            };
            if poll && running.len() < SLOTS {
                last_poll = Instant::now();
                for (id, attempt) in self.poll(&name).await.unwrap_or_default() {
                    let (fleet, notifier) = (self.clone(), Arc::clone(&notifier));
                    running.spawn(async move {
                        tokio::time::sleep(fleet.work).await;
                        let _ = fleet.finish(&id, attempt).await;
                        notifier.notify_one();
                    });
                }
            }
        }
    }

    /// Sends the heartbeat of every second (`worker_process.rs`); the one worker with the leader lease also handles the jobs of
    /// dead processes.
    async fn send_heartbeat(&self, name: &str) -> Result<(), sqlx::Error> {
        let update = "with beat as (update live_workers set last_seen = now() where name = $1)
            select exists (select from queue_turns where queue = 'light' and taken_at < now() - interval '0.9 s')";
        let expire_lease = "update queue_turns set taken_at = now() where queue = 'light' and taken_at < now() - interval '0.9 s'";
        let is_due: bool = sqlx::query_scalar(update).bind(name).fetch_one(&self.pool).await?;
        if is_due && sqlx::query(expire_lease).execute(&self.pool).await?.rows_affected() == 1 {
            for statement in [
                "update jobs set cancelled_at = now() where queue = 'light' and finished_at is null and cancelled_at is null
                    and caller is not null and not exists (
                        select from live_callers where live_callers.name = jobs.caller and last_seen > now() - interval '3 s')",
                "update jobs set holder = null where queue = 'light' and finished_at is null and holder is not null
                    and held_until < now()",
            ] {
                sqlx::query(statement).execute(&self.pool).await?;
            }
        }
        Ok(())
    }

    /// Polls as apalis does.
    async fn poll(&self, name: &str) -> Result<Vec<(String, i32)>, sqlx::Error> {
        self.polls.fetch_add(1, Ordering::Relaxed);
        let mut transaction = self.pool.begin().await?;
        let claimed = sqlx::query_as(
            "select id, (metadata -> 'job.attempt')::int from apalis.get_jobs($1 || '/1', 'light', 4)",
        )
        .bind(name)
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(claimed)
    }

    /// Finishes a job as `store::finish` does.
    async fn finish(&self, id: &str, attempt: i32) -> Result<(), sqlx::Error> {
        sqlx::query(
            "with finished as (
                update jobs set finished_at = now(), held_until = null, outcome = '{\"Ok\": null}',
                    turn_ends = turn_begins + extract(epoch from now() - started_at)
                where id = $1 and attempts = $2 and finished_at is null and cancelled_at is null
                returning id
            )
            delete from apalis.jobs where id in (select id from finished)",
        )
        .bind(id)
        .bind(attempt)
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}

/// Submits jobs at a rate; returns the latencies of answered jobs and the number of the others.
async fn at_a_rate(client: &Client, rate: f64, seconds: f64) -> (Vec<Duration>, usize) {
    let begun = Instant::now();
    let mut asked = JoinSet::new();
    for number in 0..(rate * seconds) as usize {
        let due = begun + Duration::from_secs_f64(number as f64 / rate);
        tokio::time::sleep_until(due.into()).await;
        let client = client.clone();
        asked.spawn(async move {
            let account_id = format!("acc_{}", number % 50);
            let caller =
                JobCaller { account_id: &account_id, timeout: Duration::from_secs(30), max_in_flight: None };
            let pending = client.submit(JobId::generate(), &NoopJob, caller).await.ok()?;
            pending.outcome().await.ok()?.ok()?;
            Some(due.elapsed())
        });
    }
    let answers = asked.join_all().await;
    let failed = answers.iter().filter(|answer| answer.is_none()).count();
    (answers.into_iter().flatten().collect(), failed)
}

/// Resources that PostgreSQL has used.
struct ResourceUsage {
    transactions: i64,
    wal: f64,
    /// CPU seconds of all its live processes.
    cpu: f64,
    /// Memory in MiB that its processes do not share.
    memory: f64,
    processes: usize,
}

impl ResourceUsage {
    async fn now(pool: &PgPool) -> Result<Self, Anything> {
        let (transactions, wal): (i64, f64) = sqlx::query_as(
            "select sum(xact_commit)::bigint, (pg_current_wal_lsn() - '0/0'::pg_lsn)::float8 from pg_stat_database",
        )
        .fetch_one(pool)
        .await?;
        let processes: Vec<i32> =
            sqlx::query_scalar("select pid from pg_stat_activity").fetch_all(pool).await?;
        let (mut cpu, mut memory) = (0.0, 0.0);
        for pid in &processes {
            let read =
                |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
            // The 14th and 15th fields of the file (proc_pid_stat(5)), counted after the name, which stands in
            // parentheses.
            let fields = read("stat");
            let fields: Vec<&str> = fields
                .rsplit_once(')')
                .map(|(_, rest)| rest.split_whitespace().collect())
                .unwrap_or_default();
            cpu += fields.iter().skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>()
                / 100.0;
            let status = read("status");
            let anonymous = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
            memory += anonymous
                .and_then(|line| line.split_whitespace().next())
                .and_then(|kib| kib.parse::<f64>().ok())
                .unwrap_or(0.0)
                / 1024.0;
        }
        Ok(Self { transactions, wal, cpu, memory, processes: processes.len() })
    }
}

#[expect(clippy::print_stdout, reason = "the figures are what this program is for")]
#[expect(clippy::too_many_arguments, reason = "one line of figures")]
fn print(
    fleet: &Fleet,
    workers: usize,
    rate: f64,
    sorted: &[Duration],
    failed: usize,
    lasted: f64,
    before: &ResourceUsage,
    after: &ResourceUsage,
) {
    let at = |share: f64| {
        sorted
            .get(((sorted.len().max(1) - 1) as f64 * share) as usize)
            .map_or(f64::NAN, |it| it.as_secs_f64() * 1e3)
    };
    let jobs = sorted.len().max(1) as f64;
    println!(
        "{workers:5} workers, {rate:.0} jobs/s asked: {:.0} done/s, {failed} not; p50 {:.1} ms, p99 {:.1} ms; PostgreSQL: {:.2} cores, \
         {:.0} transactions/s, {:.1} looks a job, {:.1} kB WAL a job, {} connections, {:.0} MiB",
        jobs / lasted,
        at(0.5),
        at(0.99),
        (after.cpu - before.cpu) / lasted,
        (after.transactions - before.transactions) as f64 / lasted,
        fleet.polls.load(Ordering::Relaxed) as f64 / jobs,
        (after.wal - before.wal) / jobs / 1e3,
        after.processes,
        after.memory,
    );
}
