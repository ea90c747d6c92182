//! `retort-worker sample | search | replay JOB.json`.

use std::{pin::Pin, process::ExitCode, sync::Arc, time::Duration};

use anyhow::{Context, Result};
use clap::Parser;
use contract::{StoredSampleJob, StoredTreeSearchJob};
use queue::{WorkerConfig, run_worker};
use sqlx::{PgPool, postgres::PgPoolOptions};
use tokio::{
    signal::unix::{SignalKind, signal},
    task::JoinHandle,
};
use tracing::error;
use worker::{
    Activity, CatalogueView, Ready, Role, Sampling, Search, Settings, Shelf, forget_orphans, load_planner,
    open_device, refill, replay,
};

/// Searches make and drop millions of small things; the C library's allocator takes twice as long over it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Samples out of the reservoir that a process has in hand besides those that it draws: they are nearly all the database's work,
/// and one job's commit overlaps the next one's reading.
const READY_SAMPLES: usize = 3;

/// How long the start waits for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// What ends a process that starting again would not mend (EX_CONFIG of sysexits.h): settings that cannot be used.
const EX_CONFIG: u8 = 78;

#[tokio::main]
async fn main() -> ExitCode {
    let settings = Settings::parse();
    let service = match settings.role {
        Role::Sample => "retort-sampler",
        Role::Search => "retort-searcher",
        Role::Replay { .. } => "retort-replay",
    };
    let _telemetry = match telemetry::init(service) {
        Ok(guard) => guard,
        Err(error) => return complain(&format!("retort-worker: {error}")),
    };
    match run(&settings).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            error!("{error:#}");
            if error.is::<schema::Unusable>() { ExitCode::from(EX_CONFIG) } else { ExitCode::FAILURE }
        }
    }
}

async fn run(settings: &Settings) -> Result<()> {
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

async fn sample(settings: &Settings) -> Result<()> {
    let device = open_device(settings.device)?;
    let shelf = Arc::new(Shelf::load(settings.models_dir.clone(), settings.sampler_models.clone(), device)?);
    let (activity, ready) = (Activity::default(), Ready::default());
    let config = WorkerConfig {
        models: shelf.announce(),
        ready: ready.subscribe(),
        ready_places: READY_SAMPLES,
        ..config(settings)
    };
    let mut shutdown = shutdown()?;
    let Some(pool) = connect(settings, &config, &mut shutdown).await? else { return Ok(()) };
    tokio::spawn(Arc::clone(&shelf).keep_up());
    tokio::spawn(ready.clone().keep_up(pool.clone(), Arc::clone(&shelf)));
    tokio::spawn(forget_orphans(pool.clone(), Arc::clone(&shelf)));
    let refilling = (settings.reservoir_size > 0).then(|| {
        let (shelf, activity, ready) = (Arc::clone(&shelf), activity.clone(), ready.clone());
        tokio::spawn(refill(pool.clone(), shelf, settings.reservoir_size, activity, ready))
    });
    let handler = Sampling { pool: pool.clone(), shelf, activity, ready };
    let stopping = async move {
        shutdown.await;
        // What is left of the time is the jobs'.
        refilling.inspect(JoinHandle::abort);
    };
    run_worker::<StoredSampleJob, _>(pool, config, handler, stopping).await.context("running sample jobs")
}

async fn search(settings: &Settings) -> Result<()> {
    let planner = load_planner(&settings.retro_model(), settings.search())?;
    // Others' long searches may have all slots for minutes; a guest's takes a part of the cores from them.
    let guest_places = settings.slots().div_ceil(2);
    let config = WorkerConfig { guest_places, ..config(settings) };
    let mut shutdown = shutdown()?;
    let Some(pool) = connect(settings, &config, &mut shutdown).await? else { return Ok(()) };
    let catalogue = CatalogueView::load(&pool).await.context("reading the catalogue")?;
    let handler = Search { pool: pool.clone(), planner, catalogue };
    run_worker::<StoredTreeSearchJob, _>(pool, config, handler, shutdown).await.context("running search jobs")
}

fn config(settings: &Settings) -> WorkerConfig {
    WorkerConfig {
        slots: settings.slots(),
        grace: settings.grace(),
        keep_finished: settings.keep_finished(),
        ..WorkerConfig::default()
    }
}

/// One connection for each job in hand, and two for what goes on beside the jobs: the catalogue's watch and its
/// reloading, or the reservoir. Waits until the database is there and its schema up to date; `None` if told to stop first.
async fn connect(
    settings: &Settings,
    config: &WorkerConfig,
    shutdown: &mut Shutdown,
) -> Result<Option<PgPool>> {
    let url = settings.database_url.as_deref().unwrap_or_default();
    tokio::select! {
        usable = schema::wait(url, |_| ()) => usable.context("connecting to the database of DATABASE_URL")?,
        () = shutdown => return Ok(None),
    }
    let pool = PgPoolOptions::new()
        .max_connections(u32::try_from(config.in_hand()).unwrap_or(u32::MAX).saturating_add(2))
        .acquire_timeout(CONNECT_TIMEOUT)
        .connect(url)
        .await
        .context("connecting to the database")?;
    Ok(Some(pool))
}

/// Resolves when the process is told to stop.
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
