//! `retort-worker sample | search | replay JOB.json`.

use std::{pin::Pin, process::ExitCode, sync::Arc, time::Duration};

use anyhow::{Context, Result};
use clap::Parser;
use contract::{
    StoredAsyncSampleJob, StoredBulkQueryJob, StoredLikelihoodJob, StoredPlanJob, StoredSampleJob,
    StoredTreeSearchJob,
};
use database::{Background, Database};
use futures::FutureExt;
use queue::{LiveModel, WorkerConfig, run_worker};
use serde_json::Value;
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::watch,
};
use tracing::error;
use worker::{
    AsyncSampleHandler, BulkQueryHandler, CatalogueView, ComputeDevice, LISTENER, LikelihoodHandler,
    MakeableLevels, ModelRegistry, PlanHandler, ReadyCounts, Role, RouteChecker, RunningJobs,
    SEARCH_QUEUE_CONNECTIONS, SampleHandler, SearchHandler, WorkerSettings, compute,
    connections::{self, ConnectionShares, divide_connections},
    feed_orders, feed_plans, forget_orphans, load_planner, observe_sampler, observe_searcher, refill,
    refill_makeable, replay,
};

/// Searches allocate and free millions of small objects; the C library's allocator takes twice as long.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Samples from the reservoir that a process handles besides those that it draws. They are nearly all the database's
/// work, and one job's commit overlaps with the next one's reading.
const RESERVOIR_SAMPLES_IN_FLIGHT: usize = 3;

/// Jobs of accounts that have none running, which a sampler starts beside those that fill its slots: a sample of
/// makeable molecules holds its slot while it waits for searchers.
const RESERVED_SAMPLER_SLOTS: usize = 1;

/// Exit code for unusable settings (EX_CONFIG of sysexits.h): a restart would not help.
const EX_CONFIG: u8 = 78;

fn main() -> ExitCode {
    let settings = WorkerSettings::parse();
    let threads = settings.threads().get();
    match tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build() {
        Ok(runtime) => runtime.block_on(obey(&settings)),
        Err(error) => complain(&format!("retort-worker: starting {threads} threads: {error}")),
    }
}

async fn obey(settings: &WorkerSettings) -> ExitCode {
    let service = match settings.role {
        Role::Sample => "retort-sampler",
        Role::Search => "retort-searcher",
        Role::Replay { .. } => "retort-replay",
    };
    let telemetry = match telemetry::init(service) {
        Ok(guard) => guard,
        Err(error) => return complain(&format!("retort-worker: {error}")),
    };
    if !matches!(settings.role, Role::Replay { .. })
        && let Err(error) = telemetry.serve_prometheus()
    {
        return complain(&format!("retort-worker: {error}"));
    }
    match run(settings).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            error!("{error:#}");
            if error.is::<schema::DatabaseUnusable>() { ExitCode::from(EX_CONFIG) } else { ExitCode::FAILURE }
        }
    }
}

async fn run(settings: &WorkerSettings) -> Result<()> {
    match &settings.role {
        Role::Sample => sample(settings).await,
        Role::Search => search(settings).await,
        Role::Replay { job } => {
            let job = std::fs::read_to_string(job).with_context(|| format!("reading {}", job.display()))?;
            print(&serde_json::to_string_pretty(&replay(settings, &job).await?)?);
            Ok(())
        }
    }
}

async fn sample(settings: &WorkerSettings) -> Result<()> {
    let machine = ComputeDevice::open(settings.device, settings.threads())?;
    let (dirs, wanted) = (settings.models_dir.clone(), settings.sampler_models.clone());
    // Threads that load the models inherit the low priority.
    let registry = Arc::new(compute(move || ModelRegistry::load(dirs, wanted, machine)).await??);
    let (activity, ready) = (RunningJobs::default(), ReadyCounts::default());
    let mut config = WorkerConfig {
        models: registry.announce(),
        ready: ready.subscribe(),
        ready_target: settings.reservoir_size,
        ready_places: RESERVOIR_SAMPLES_IN_FLIGHT,
        reserved_slots: RESERVED_SAMPLER_SLOTS,
        ..config(settings)
    };
    let async_samples = background_config(settings, config.models.clone(), settings.slots());
    let likelihoods = WorkerConfig {
        connections_of_jobs: Some(1),
        slots: 1,
        models: config.models.clone(),
        ..self::config(settings)
    };
    let shares = divide_connections(
        settings.database_connections,
        &[&config, &async_samples, &likelihoods],
        SEARCH_QUEUE_CONNECTIONS,
        queue::LISTENER_CONNECTIONS,
    )?;
    config.process_connections = connections_to_server(settings, shares);
    let mut shutdown = shutdown()?;
    let Some(database) = connect(settings, "retort-sampler", shares, &mut shutdown).await? else {
        return Ok(());
    };
    let pool = database.pool.clone();
    let packs = Arc::clone(&registry);
    let _packs = Background::supervise("taking up changed models", move || Arc::clone(&packs).poll());
    let (counted, counts, counting) = (Arc::clone(&registry), ready.clone(), pool.clone());
    let _counts = Background::supervise("counting ready molecules", move || {
        counts.clone().poll(counting.clone(), Arc::clone(&counted))
    });
    let (offered, forgetting) = (Arc::clone(&registry), pool.clone());
    let _orphans = Background::supervise("forgetting models that nobody offers", move || {
        forget_orphans(forgetting.clone(), Arc::clone(&offered))
    });
    let refilling = (settings.reservoir_size > 0).then(|| {
        let (pool, registry, activity, ready) =
            (pool.clone(), Arc::clone(&registry), activity.clone(), ready.clone());
        let size = settings.reservoir_size;
        Background::supervise("refilling the reservoir", move || {
            refill(pool.clone(), Arc::clone(&registry), size, activity.clone(), ready.clone())
        })
    });
    observe_sampler(&ready);
    let feeding = pool.clone();
    let _feed = Background::supervise("submitting the chunks of sample batches", move || {
        feed_orders(feeding.clone())
    });
    let routes = RouteChecker::new(database.clone());
    let making = AsyncSampleHandler {
        routes: routes.clone(),
        pool: pool.clone(),
        registry: Arc::clone(&registry),
        activity: activity.clone(),
    };
    let scoring =
        LikelihoodHandler { pool: pool.clone(), registry: Arc::clone(&registry), activity: activity.clone() };
    let handler = SampleHandler { pool, registry, activity, ready, routes };
    let shutdown = shutdown.shared();
    let shutdown_signal = shutdown.clone();
    let stopping = async move {
        shutdown_signal.await;
        // The rest of the time belongs to the jobs.
        drop(refilling);
    };
    let async_samples =
        run_worker::<StoredAsyncSampleJob, _>(database.clone(), async_samples, making, shutdown.clone());
    let likelihoods = run_worker::<StoredLikelihoodJob, _>(database.clone(), likelihoods, scoring, shutdown);
    let samples = run_worker::<StoredSampleJob, _>(database, config, handler, stopping);
    tokio::try_join!(samples, async_samples, likelihoods).context("running sample jobs").map(|_| ())
}

async fn search(settings: &WorkerSettings) -> Result<()> {
    // Threads started for searches inherit the low priority.
    let snapshots = settings.snapshots().context("CATALOGUE_STORE")?;
    let (model, limits) = (settings.retro_model(), settings.search());
    let planner = compute(move || load_planner(&model, limits)).await??;
    // Other accounts' long searches may occupy all slots for minutes; a reserved slot takes a part of their cores.
    let reserved_slots = settings.slots().div_ceil(2);
    let engine = LiveModel { model_id: settings.engine(), relative_cost: 1.0, card: Value::default() };
    let models = watch::channel(vec![engine]).1;
    let mut config = WorkerConfig { reserved_slots, models: models.clone(), ..config(settings) };
    let plans = background_config(settings, models, settings.plan_slots());
    // A bulk query uses all free cores; a reserved slot lets another account's small one start beside a large one.
    let bulk_queries =
        WorkerConfig { connections_of_jobs: Some(1), slots: 1, reserved_slots, ..config.clone() };
    let shares =
        divide_connections(settings.database_connections, &[&config, &plans, &bulk_queries], 0, LISTENER)?;
    config.process_connections = connections_to_server(settings, shares);
    let mut shutdown = shutdown()?;
    let Some(database) = connect(settings, "retort-searcher", shares, &mut shutdown).await? else {
        return Ok(());
    };
    let catalogue = CatalogueView::load(&database, snapshots).await.context("reading the catalogue")?;
    let makeable = ReadyCounts::default();
    observe_searcher(&planner, &catalogue, &makeable);
    let search = SearchHandler { pool: database.pool.clone(), planner, catalogue };
    let refilling = refill_while_idle(settings, &search, makeable);
    let shutdown = shutdown.shared();
    let shutdown_signal = shutdown.clone();
    let stopping = async move {
        shutdown_signal.await;
        // The rest of the time belongs to the jobs.
        drop(refilling);
    };
    let plan_handler = PlanHandler { search: search.clone() };
    let many = BulkQueryHandler { search: search.clone() };
    let feeding = database.pool.clone();
    let _feed = Background::supervise("submitting the plans of batches", move || feed_plans(feeding.clone()));
    let plans = run_worker::<StoredPlanJob, _>(database.clone(), plans, plan_handler, shutdown.clone());
    let bulk_queries = run_worker::<StoredBulkQueryJob, _>(database.clone(), bulk_queries, many, shutdown);
    let searches = run_worker::<StoredTreeSearchJob, _>(database, config, search, stopping);
    tokio::try_join!(searches, plans, bulk_queries).context("running search jobs").map(|_| ())
}

/// Keeps makeable molecules ready until dropped, and counts them in `makeable`; `None` if the operator wants none.
fn refill_while_idle(
    settings: &WorkerSettings,
    search: &SearchHandler,
    makeable: ReadyCounts,
) -> Option<Background> {
    let levels = MakeableLevels::up_to(settings.makeable_reservoir_size);
    let search = search.clone();
    (levels.capacity > 0).then(|| {
        Background::supervise("refilling the reservoir of makeable molecules", move || {
            refill_makeable(search.clone(), levels, makeable.clone())
        })
    })
}

fn config(settings: &WorkerSettings) -> WorkerConfig {
    WorkerConfig {
        slots: settings.slots(),
        grace: settings.grace(),
        keep_finished: settings.keep_finished(),
        ..WorkerConfig::default()
    }
}

/// Returns the settings of background jobs. They have slots of their own, so that one is ready whenever a core is
/// free. A stop returns them to the queue immediately.
fn background_config(
    settings: &WorkerSettings,
    models: watch::Receiver<Vec<LiveModel>>,
    slots: usize,
) -> WorkerConfig {
    WorkerConfig {
        connections_of_jobs: Some(1),
        slots,
        reserved_slots: 1,
        grace: Duration::ZERO,
        models,
        ..config(settings)
    }
}

/// Returns the most connections to the server itself, as reported to other processes: with a pooler, only listeners
/// bypass it.
fn connections_to_server(settings: &WorkerSettings, shares: ConnectionShares) -> u32 {
    match settings.addresses() {
        Some((url, direct)) if url != direct => shares.listeners,
        _ => shares.all,
    }
}

/// Connects to the database. Waits until it is reachable and its schema up to date; `None` if the process is stopped
/// first.
async fn connect(
    settings: &WorkerSettings,
    process: &'static str,
    shares: ConnectionShares,
    shutdown: &mut Shutdown,
) -> Result<Option<Database>> {
    let (url, direct) = settings.addresses().unwrap_or_default();
    let usable = async {
        schema::wait(url, |_| ()).await.context("connecting to the database of DATABASE_URL")?;
        if direct != url {
            schema::wait(direct, |_| ())
                .await
                .context("connecting to the database of DATABASE_DIRECT_URL")?;
        }
        anyhow::Ok(())
    };
    tokio::select! {
        usable = usable => usable?,
        () = shutdown => return Ok(None),
    }
    connections::connect((url, direct), process, shares.handlers)
        .await
        .map(Some)
        .context("connecting to the database")
}

/// Future that resolves when the process is told to stop.
type Shutdown = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Resolves at SIGTERM or SIGINT.
fn shutdown() -> Result<Shutdown> {
    let mut terminate = signal(SignalKind::terminate()).context("listening for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("listening for SIGINT")?;
    Ok(Box::pin(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    }))
}

#[expect(clippy::print_stdout, reason = "the outcome of a replayed job is what was asked for")]
fn print(text: &str) {
    println!("{text}");
}

#[expect(clippy::print_stderr, reason = "the log is what could not be set up")]
fn complain(text: &str) -> ExitCode {
    eprintln!("{text}");
    ExitCode::FAILURE
}
