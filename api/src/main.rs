//! `retort-api serve | migrate | openapi | stop-seconds`.

use std::{net::TcpListener, process::ExitCode, sync::Arc};

use anyhow::Context;
use api::{
    app,
    config::{Config, ConfigError},
    front::Front,
    server::{Bounds, Terms, room_for_connections},
};
use axum_server::Handle;
use clap::{Parser, Subcommand};
use secrecy::ExposeSecret;
use sqlx::PgPool;
use tokio::signal::unix::{SignalKind, signal};

/// Retort's HTTP process.
#[derive(Parser)]
#[command(name = "retort-api", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serves until SIGTERM or SIGINT, as soon as the database is there and its schema up to date; requests in flight are finished.
    Serve,
    /// Brings the schema up to date.
    Migrate,
    /// Prints the OpenAPI document.
    Openapi,
    /// Prints how many seconds `serve` may take to stop, by its settings.
    StopSeconds,
}

/// What ends a process that starting again would not mend (EX_CONFIG of sysexits.h): settings that cannot be used.
const EX_CONFIG: u8 = 78;

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse().command).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => complain(&error),
    }
}

async fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Openapi => print(&api::document().to_pretty_json().context("writing the OpenAPI document")?),
        Command::StopSeconds => print(&Config::from_env()?.longest_stop().as_secs().to_string()),
        Command::Migrate => {
            let _telemetry = telemetry::init("retort-api")?;
            let config = Config::from_env()?;
            let url = config.migration_database_url.expose_secret();
            schema::migrate(url).await.context("bringing the schema up to date")?;
            tracing::info!("the schema is up to date");
        }
        Command::Serve => {
            let telemetry = telemetry::init("retort-api")?;
            telemetry.answer_prometheus()?;
            serve(Config::from_env()?, telemetry.has_metrics()).await?;
        }
    }
    Ok(())
}

async fn serve(config: Config, has_metrics: bool) -> anyhow::Result<()> {
    let asked = stop_asked()?;
    let (delay, longest) = (config.shutdown_delay, config.longest_request());
    let listener = TcpListener::bind(config.http_addr)
        .with_context(|| format!("listening on HTTP_ADDR {}", config.http_addr))?;
    let bounds = Bounds {
        all: config.connections.unwrap_or_else(room_for_connections),
        by_address: config.connections_by_address,
        proxies: config.identity.trusted_proxies.clone(),
    };
    let terms = Terms { tls: config.tls.clone(), header_time: config.header_time, bounds };
    tracing::info!("serving {} on {}", config.identity.public_url, listener.local_addr()?);

    let front = Arc::new(Front::new(config.identity.transport()));
    let handle = Handle::new();
    // A task of its own: probes are answered whatever the start is busy with.
    let serving = tokio::spawn(api::server::serve(listener, front.router(), terms, handle.clone()));
    let stopped = front.clone();
    tokio::spawn(async move {
        asked.await;
        tracing::info!("stopping; requests in flight are finished, for at most {longest:?}");
        stopped.stop();
        tokio::time::sleep(delay).await;
        handle.graceful_shutdown(Some(longest));
    });
    let started = async {
        let keep = config.keep;
        let pool = start(config, &front).await?;
        let _retention = api::retention(pool.clone(), keep);
        let _gauges = has_metrics.then(|| api::gauges(pool));
        // From here on it is for the server to end.
        std::future::pending().await
    };
    tokio::select! {
        served = serving => served.context("the server panicked")?.context("serving"),
        failed = started => failed,
    }
}

/// Puts the service together once the database can be used, and has `front` answer with it.
async fn start(config: Config, front: &Front) -> anyhow::Result<PgPool> {
    schema::wait(config.database_url.expose_secret(), |missing| front.lacks(missing))
        .await
        .context("connecting to the database of DATABASE_URL")?;
    let pool = api::connect(&config).await.context("connecting to the database of DATABASE_URL")?;
    front.serve(app::router(app::App::new(config, pool.clone()).await?));
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
        || error.is::<schema::Unusable>()
        || error.downcast_ref::<app::StartError>().is_some_and(app::StartError::is_lasting);
    if lasts { ExitCode::from(EX_CONFIG) } else { ExitCode::FAILURE }
}
