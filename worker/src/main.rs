//! `retort-worker sample | search | replay JOB.json`.

use std::{process::ExitCode, sync::Arc};

use anyhow::{Context, Result};
use clap::Parser;
use contract::{StoredSampleJob, StoredTreeSearchJob};
use database::Background;
use queue::{WorkerConfig, run_worker};
use sqlx::PgPool;
use tokio::signal::unix::{SignalKind, signal};
use tracing::error;
use worker::{
    Activity, CatalogueView, LISTENER, Role, Sampling, Search, Settings, Shelf,
    connections::{self, of_handlers},
    load_planner, open_device, refill, replay,
};

/// Searches make and drop millions of small things; the C library's allocator takes twice as long over it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Sample jobs that a process has in hand besides those that its slots count for. A sample out of the reservoir is nearly all
/// the database's work, and samples that are drawn take turns on the sampler's threads.
const SAMPLES_AHEAD: usize = 3;

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
            ExitCode::FAILURE
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
    let config = WorkerConfig { models: shelf.announce(), ahead: SAMPLES_AHEAD, ..config(settings) };
    let pool =
        connect(settings, "retort-sampler", of_handlers(settings.database_connections, &config, 0)?).await?;
    let activity = Activity::default();
    let packs = Arc::clone(&shelf);
    let _packs = Background::keep("taking up changed models", move || Arc::clone(&packs).keep_up());
    let refilling = (settings.reservoir_size > 0).then(|| {
        let (pool, shelf, activity) = (pool.clone(), Arc::clone(&shelf), activity.clone());
        let size = settings.reservoir_size;
        Background::keep("refilling the reservoir", move || {
            refill(pool.clone(), Arc::clone(&shelf), size, activity.clone())
        })
    });
    let handler = Sampling { pool: pool.clone(), shelf, activity };
    let shutdown = shutdown()?;
    let stopping = async move {
        shutdown.await;
        // What is left of the time is the jobs'.
        drop(refilling);
    };
    run_worker::<StoredSampleJob, _>(pool, config, handler, stopping).await.context("running sample jobs")
}

async fn search(settings: &Settings) -> Result<()> {
    let planner = load_planner(&settings.retro_model(), settings.search())?;
    let config = config(settings);
    let connections = of_handlers(settings.database_connections, &config, LISTENER)?;
    let pool = connect(settings, "retort-searcher", connections).await?;
    let catalogue = CatalogueView::load(&pool).await.context("reading the catalogue")?;
    let handler = Search { pool: pool.clone(), planner, catalogue };
    run_worker::<StoredTreeSearchJob, _>(pool, config, handler, shutdown()?)
        .await
        .context("running search jobs")
}

fn config(settings: &Settings) -> WorkerConfig {
    WorkerConfig {
        slots: settings.slots(),
        grace: settings.grace(),
        keep_finished: settings.keep_finished(),
        ..WorkerConfig::default()
    }
}

async fn connect(settings: &Settings, process: &'static str, connections: u32) -> Result<PgPool> {
    let url = settings.database_url.as_deref().context("DATABASE_URL names no database")?;
    connections::connect(url, process, connections).await.context("connecting to the database")
}

/// Resolves at SIGTERM or SIGINT.
fn shutdown() -> Result<impl Future<Output = ()> + Send> {
    let mut terminate = signal(SignalKind::terminate()).context("listening for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("listening for SIGINT")?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
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
