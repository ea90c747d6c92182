//! `retort-api serve | migrate | openapi | stop-seconds`.

use std::{net::TcpListener, process::ExitCode, sync::Arc};

use anyhow::Context;
use api::{
    app,
    config::{Config, ConfigError},
    lifecycle::LifecycleRouter,
    server::{Bounds, ConnectionSettings, room_for_connections},
};
use axum_server::Handle;
use clap::{Parser, Subcommand};
use secrecy::{ExposeSecret, SecretString};
use sqlx::PgPool;
use tokio::{
    runtime::Builder,
    signal::unix::{SignalKind, signal},
};

/// Retort's HTTP process.
#[derive(Parser)]
#[command(name = "retort-api", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serves until SIGTERM or SIGINT, as soon as the database is reachable and its schema up to date; requests in
    /// flight are finished.
    Serve,
    /// Brings the schema up to date.
    Migrate,
    /// Prints the OpenAPI document.
    Openapi,
    /// Prints how many seconds `serve` may take to stop with its settings.
    StopSeconds,
}

/// Exit code for unusable settings (EX_CONFIG of sysexits.h): a restart would not help.
const EX_CONFIG: u8 = 78;

fn main() -> ExitCode {
    match run(Arguments::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&error),
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Openapi => print(&api::document().to_pretty_json().context("writing the OpenAPI document")?),
        Command::StopSeconds => print(&Config::from_env()?.max_shutdown_time().as_secs().to_string()),
        Command::Migrate => in_runtime(migrate)?,
        Command::Serve => in_runtime(serve)?,
    }
    Ok(())
}

/// Runs `work` with the settings, on the configured number of threads.
fn in_runtime<F>(work: impl FnOnce(Config, telemetry::Guard) -> F) -> anyhow::Result<()>
where
    F: Future<Output = anyhow::Result<()>>,
{
    let config = Config::from_env()?;
    let threads = config.identity.threads.get();
    let runtime = Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    runtime.context("starting the threads of RETORT_THREADS")?.block_on(async {
        let telemetry = telemetry::init("retort-api")?;
        work(config, telemetry).await
    })
}

async fn migrate(config: Config, _telemetry: telemetry::Guard) -> anyhow::Result<()> {
    let url = config.migration_database_url.expose_secret();
    schema::migrate(url).await.context("bringing the schema up to date")?;
    tracing::info!("the schema is up to date");
    Ok(())
}

async fn serve(config: Config, telemetry: telemetry::Guard) -> anyhow::Result<()> {
    telemetry.serve_prometheus()?;
    let has_metrics = telemetry.has_metrics();
    let stop_signal = stop_asked()?;
    let (delay, longest) = (config.shutdown_delay, config.max_request_time());
    let listener = TcpListener::bind(config.http_addr)
        .with_context(|| format!("listening on HTTP_ADDR {}", config.http_addr))?;
    let bounds = Bounds {
        all: config.connections.unwrap_or_else(room_for_connections),
        by_address: config.connections_by_address,
        proxies: config.identity.trusted_proxies.clone(),
    };
    let terms = ConnectionSettings { tls: config.tls.clone(), header_time: config.header_time, bounds };
    tracing::info!("serving {} on {}", config.identity.public_url, listener.local_addr()?);

    let lifecycle = Arc::new(LifecycleRouter::new(config.identity.transport()));
    let handle = Handle::new();
    // The server is a task of its own, so probes are answered during start-up.
    let serving = tokio::spawn(api::server::serve(listener, lifecycle.router(), terms, handle.clone()));
    let stopped = lifecycle.clone();
    tokio::spawn(async move {
        stop_signal.await;
        tracing::info!("stopping; requests in flight are finished, for at most {longest:?}");
        stopped.stop();
        tokio::time::sleep(delay).await;
        stopped.close();
        handle.graceful_shutdown(Some(longest));
    });
    let started = async {
        let retention_times = config.retention_times;
        let pool = start(config, &lifecycle).await?;
        let _retention = api::retention(pool.clone(), retention_times);
        let _gauges = has_metrics.then(|| api::gauges(pool));
        // From here on the server decides when to end.
        std::future::pending().await
    };
    tokio::select! {
        served = serving => served.context("the server panicked")?.context("serving"),
        failed = started => failed,
    }
}

/// Assembles the service once the database is usable, and has `lifecycle` route to it.
async fn start(config: Config, lifecycle: &LifecycleRouter) -> anyhow::Result<PgPool> {
    let wait = async |address: &SecretString| {
        schema::wait(address.expose_secret(), |missing| lifecycle.report_missing(missing)).await
    };
    wait(&config.database_url).await.context("connecting to the database of DATABASE_URL")?;
    if config.has_pooler() {
        wait(&config.database_direct_url)
            .await
            .context("connecting to the database of DATABASE_DIRECT_URL")?;
    }
    let database = api::connect(&config).await.context("connecting to the database of DATABASE_URL")?;
    let pool = database.pool.clone();
    lifecycle.serve(app::router(app::App::new(config, database).await?));
    tracing::info!("ready to serve");
    Ok(pool)
}

/// Resolves at the first SIGTERM or SIGINT.
fn stop_asked() -> anyhow::Result<impl Future<Output = ()> + Send + 'static> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

#[expect(clippy::print_stdout, reason = "the command's output")]
fn print(text: &str) {
    println!("{text}");
}

#[expect(clippy::print_stderr, reason = "there may be no log yet")]
fn complain(error: &anyhow::Error) -> ExitCode {
    eprintln!("Error: {error:?}");
    let lasts = error.is::<ConfigError>()
        || error.is::<schema::DatabaseUnusable>()
        || error.downcast_ref::<app::StartError>().is_some_and(app::StartError::is_permanent);
    if lasts { ExitCode::from(EX_CONFIG) } else { ExitCode::FAILURE }
}
