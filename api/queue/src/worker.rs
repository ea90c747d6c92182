//! Worker side of the queue: runs jobs until told to stop.
//!
//! One apalis worker per process makes as many calls at once as it has slots of all kinds. It claims no more jobs
//! than it has free slots (`claim.sql`), so no job waits in a busy worker while another worker is idle. (Several
//! apalis workers would race each other for every notification.) A database error ends the apalis worker. It is then
//! rebuilt under a new name that begins with the process's name, by which `claim.sql` knows what the process serves
//! and holds.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use apalis::prelude::{BackendExt, Task, WorkerBuilder, WorkerBuilderExt, WorkerContext, WorkerError};
use apalis_postgres::{Config, PostgresStorage};
use database::{Background, Database, ListenerEvent};
use futures::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use serde_json::Value;
use tracing::{debug, info, warn};
use ulid::Ulid;

use crate::{
    Handler, Job, QueueError,
    config::{LISTENER_CONNECTIONS, WorkerConfig},
    connection_usage,
    job::queue_label,
    liveness,
    poll::{NotifiedPolling, PollNotifier},
    pool,
    run::{AnyHandler, Runner, RunningJobs, TypedHandler},
    store,
    worker_process::{STATEMENT_TIMEOUT, WorkerProcess},
};

/// File in which the kernel gives the host name.
const HOST_NAME_FILE: &str = "/proc/sys/kernel/hostname";

/// Heartbeats that an apalis worker may miss before its jobs go to others.
const MISSED_HEARTBEATS: usize = 3;

/// Pause before apalis' worker is rebuilt. Longer than the pause after a failed heartbeat, so that after an outage
/// every process has renewed its leases before jobs are claimed again.
const RESTART_PAUSE: Duration = Duration::from_secs(1);

/// Runs jobs of one kind until `shutdown` resolves and the jobs in flight are done, or `grace` is over.
///
/// Dropping the future stops everything at once, as a crash would.
///
/// # Errors
/// Fails when the database cannot be reached at the start; later it waits for the database to come back.
pub async fn run_worker<J, H>(
    database: impl Into<Database>,
    config: WorkerConfig,
    handler: H,
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), QueueError>
where
    J: Job,
    H: Handler<J>,
{
    let handler = Arc::new(TypedHandler::<J, H>::new(handler));
    run_boxed(database.into(), config, J::QUEUE, handler, Box::pin(shutdown)).await
}

/// Boxes the worker, so that it is compiled here once and not for each kind of job in every program.
fn run_boxed<'a>(
    database: Database,
    config: WorkerConfig,
    queue: &'static str,
    handler: Arc<dyn AnyHandler>,
    shutdown: BoxFuture<'a, ()>,
) -> BoxFuture<'a, Result<(), QueueError>> {
    Box::pin(run(database, config, queue, handler, shutdown))
}

async fn run(
    database: Database,
    config: WorkerConfig,
    queue: &'static str,
    handler: Arc<dyn AnyHandler>,
    mut shutdown: BoxFuture<'_, ()>,
) -> Result<(), QueueError> {
    let pool = pool::own(&database.pool, config.connections() - LISTENER_CONNECTIONS).await?;
    let running = Arc::new(RunningJobs::default());
    let _stop = AbortJobsOnDrop(Arc::clone(&running));
    let notifier = Arc::new(PollNotifier::default());
    let name = format!("{}-{}", queue, Ulid::generate());
    let _listener =
        listen_for_jobs(&database, queue, name.clone(), Arc::clone(&notifier), Arc::clone(&running));
    let runner = Runner {
        pool: pool.clone(),
        queue,
        running: Arc::clone(&running),
        handler,
        notifier: Arc::clone(&notifier),
    };
    let database_timed_out = Arc::default();
    let host = std::fs::read_to_string(HOST_NAME_FILE).ok().map(|name| name.trim().to_owned());
    let process = WorkerProcess { pool, name, queue, host, config, running, database_timed_out };
    liveness::create_leases(&process.pool, process.queue).await?;
    process.heartbeat().await?;
    connection_usage::warn_where_short(&process.pool).await;
    let heartbeats = process.heartbeats();
    let _holds = process.holds();
    let _sweeps = process.sweeps();
    info!(worker = %process.name, slots = process.config.slots, "takes {} jobs", queue_label(queue));

    loop {
        let name = format!("{}/{}", process.name, Ulid::generate());
        let context = WorkerContext::new(&name);
        let is_over = {
            // The worker has a task set of its own, so that it is polled only when it is woken itself. Apalis queries
            // for jobs at every poll, and otherwise the workers of one process would wake each other without end.
            let mut alone = FuturesUnordered::from_iter([run_apalis_worker(
                &context,
                &process,
                &notifier,
                runner.clone(),
            )]);
            let mut worker = alone.select_next_some();
            tokio::select! {
                () = process.database_timed_out.notified() => {
                    warn!("the database does not answer, starting another of apalis' workers");
                    false
                }
                ended = &mut worker => {
                    match ended {
                        Ok(()) => debug!("apalis' worker ended, starting another"),
                        Err(error) => warn!("apalis' worker failed, starting another: {error}"),
                    }
                    false
                }
                () = &mut shutdown => {
                    heartbeats.stop();
                    drain(&process, &context, worker).await;
                    true
                }
            }
        };
        // Here apalis' worker is dropped. Otherwise the rows that it was writing would stay locked while its jobs are
        // released.
        if is_over {
            break;
        }
        tokio::select! {
            () = release_unstarted_jobs(&process) => {}
            () = &mut shutdown => break,
        }
    }

    heartbeats.stop();
    let unfinished = process.running.attempts();
    process.running.abort();
    release_all_jobs(&process, &unfinished).await;
    info!(worker = %process.name, unfinished = unfinished.len(), "stopped");
    Ok(())
}

/// Listens for waiting jobs and for cancellations.
fn listen_for_jobs(
    database: &Database,
    queue: &'static str,
    name: String,
    notifier: Arc<PollNotifier>,
    running: Arc<RunningJobs>,
) -> Background {
    database::listen(database, &["job_waits", "job_cancelled"], move |event| match event {
        // The next heartbeat finds cancellations that were missed.
        ListenerEvent::Connected => notifier.wake(),
        ListenerEvent::Notification { channel: "job_cancelled", payload } => running.cancel(payload),
        ListenerEvent::Notification { payload, .. } => {
            if let Some((notified_queue, named_workers)) = parse_wake_up(payload)
                && notified_queue == queue
            {
                notifier.set_many_workers(!named_workers.is_empty());
                if named_workers.is_empty() || named_workers.contains(&name.as_str()) {
                    notifier.wake();
                }
            }
        }
    })
}

/// Parses the payload of `job_bell` in `claim.sql`: a queue and, if it has many workers, the names of those that are
/// to poll.
fn parse_wake_up(payload: &str) -> Option<(&str, Vec<&str>)> {
    let mut words = payload.split(' ');
    Some((words.next()?, words.collect()))
}

/// Runs apalis' worker until it fails, or until `context` is stopped and the jobs in flight are done.
async fn run_apalis_worker(
    context: &WorkerContext,
    process: &WorkerProcess,
    notifier: &Arc<PollNotifier>,
    runner: Runner,
) -> Result<(), WorkerError> {
    // Our own rows hold the lock and the outcome of a job; apalis would only write each task twice more. It claims no
    // more jobs than there are slots, so that a batch never delays its heartbeats.
    let config = Config::default()
        .queue(process.queue)
        .batch_size(process.config.max_running_jobs())
        .persist_results(false)
        .heartbeat_interval(process.config.heartbeat)
        .missed_heartbeats(MISSED_HEARTBEATS)
        .lock_tasks(false);
    let storage = PostgresStorage::<Value>::new(&process.pool).with_config(config);
    WorkerBuilder::new(context)
        .backend(storage.poll_with_strategy(NotifiedPolling::new(Arc::clone(notifier))))
        .concurrency(process.config.max_running_jobs())
        .build(tower::service_fn(move |task: Task<Value>| runner.clone().run(task)))
        .run()
        .await
}

/// Waits for the database, then releases the jobs that were claimed but never arrived.
async fn release_unstarted_jobs(process: &WorkerProcess) {
    loop {
        tokio::time::sleep(RESTART_PAUSE).await;
        let running = process.running.ids();
        match database::within(
            STATEMENT_TIMEOUT,
            store::release_unstarted(&process.pool, &process.name, &running),
        )
        .await
        {
            Ok(()) => return,
            Err(error) => warn!("the database is not back: {error}"),
        }
    }
}

/// Takes no new jobs and waits for those in flight, at most for the grace period.
async fn drain(
    process: &WorkerProcess,
    context: &WorkerContext,
    worker: impl Future<Output = Result<(), WorkerError>>,
) {
    info!(worker = %process.name, in_flight = process.running.ids().len(), "stopping");
    if let Err(error) =
        database::within(STATEMENT_TIMEOUT, liveness::leave(&process.pool, &process.name)).await
    {
        warn!("could not announce that this worker stops: {error}");
    }
    if context.stop().is_err() {
        return;
    }
    let drained = async {
        if let Err(error) = worker.await {
            warn!("apalis' worker failed while it stopped: {error}");
        }
        // Jobs of an earlier apalis worker, which ended before they did.
        while !process.running.is_empty() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    if tokio::time::timeout(process.config.grace, drained).await.is_err() {
        warn!("the grace period is over; unfinished jobs go to other workers");
    }
}

/// Releases everything that other processes would otherwise have to wait for.
async fn release_all_jobs(process: &WorkerProcess, unfinished: &BTreeMap<String, i32>) {
    let release = async {
        store::release_background(&process.pool, &process.name).await?;
        for (id, attempt) in unfinished {
            store::release(&process.pool, id, *attempt, Duration::ZERO, None).await?;
        }
        store::release_unstarted(&process.pool, &process.name, &[]).await?;
        liveness::leave(&process.pool, &process.name).await
    };
    if let Err(error) = database::within(STATEMENT_TIMEOUT, release).await {
        warn!("could not return unfinished jobs: {error}");
    }
}

/// Stops the running jobs when the worker is dropped.
struct AbortJobsOnDrop(Arc<RunningJobs>);

impl Drop for AbortJobsOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
