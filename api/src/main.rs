//! `retort-api serve | migrate | openapi`.

use std::{net::TcpListener, time::Duration};

use anyhow::Context;
use api::{
    app,
    config::Config,
    server::{Bounds, Terms, room_for_connections},
};
use axum_server::Handle;
use clap::{Parser, Subcommand};
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
    /// Brings the schema up to date and serves until SIGTERM or SIGINT; requests in flight are finished.
    Serve,
    /// Brings the schema up to date.
    Migrate,
    /// Prints the OpenAPI document.
    Openapi,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Command::Openapi => print_openapi(),
        Command::Migrate => {
            let _telemetry = telemetry::init("retort-api")?;
            let config = Config::from_env()?;
            migrate(&config).await?;
            tracing::info!("the schema is up to date");
            Ok(())
        }
        Command::Serve => {
            let _telemetry = telemetry::init("retort-api")?;
            serve(Config::from_env()?).await
        }
    }
}

#[expect(clippy::print_stdout, reason = "the document is this command's output")]
fn print_openapi() -> anyhow::Result<()> {
    println!("{}", api::document().to_pretty_json().context("writing the OpenAPI document")?);
    Ok(())
}

async fn migrate(config: &Config) -> anyhow::Result<sqlx::PgPool> {
    let pool = api::connect(config).await.context("connecting to the database of DATABASE_URL")?;
    api::migrate(&pool).await.context("bringing the schema up to date")?;
    Ok(pool)
}

async fn serve(config: Config) -> anyhow::Result<()> {
    let pool = migrate(&config).await?;
    let listener = TcpListener::bind(config.http_addr)
        .with_context(|| format!("listening on HTTP_ADDR {}", config.http_addr))?;
    let public_url = config.identity.public_url.clone();
    let bounds = Bounds {
        all: config.connections.unwrap_or_else(room_for_connections),
        by_address: config.connections_by_address,
        proxies: config.identity.trusted_proxies.clone(),
    };
    let terms = Terms { tls: config.tls.clone(), header_time: config.header_time, bounds };
    let app = app::App::new(config, pool).await?;
    // A request in flight ends by its deadline; what is there after that is stuck.
    let longest = app.longest_request() + Duration::from_secs(5);
    let router = app::router(app);
    tracing::info!("serving {public_url} on {}", listener.local_addr()?);

    let handle = Handle::new();
    let (asked, stopping) = (stop_asked()?, handle.clone());
    tokio::spawn(async move {
        asked.await;
        tracing::info!("stopping; requests in flight are finished, for at most {longest:?}");
        stopping.graceful_shutdown(Some(longest));
    });
    api::server::serve(listener, router, terms, handle).await.context("serving")
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
