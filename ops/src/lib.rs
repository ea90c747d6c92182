//! `retort`: the command line of the service, for its callers and for its operator.
//!
//! Standard output carries only data, so that `$(retort token)` and `retort sample … | sort` work. Progress and
//! messages go to standard error. Each command has its own file.
//!
//! This is a library with one function, [`run`], so that the readers of untrusted files can be fuzzed.

mod audit_log;
mod backup;
mod batches;
mod catalogue;
mod commands;
mod data_folder;
mod failure;
mod formats;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod planned;
mod report;
mod retry;
mod route_tree;
mod sample_batches;
mod sample_file;
mod service;
mod targets;
mod terminal;

use std::{path::PathBuf, process::ExitCode};

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use tracing::{Instrument as _, field, info_span};

use crate::{data_folder::DataFolder, failure::Failure, service::Service};

/// Generate molecules and plan their synthesis with a Retort service.
#[derive(Debug, Parser)]
#[command(
    name = "retort",
    version,
    about,
    after_help = "Exit codes: 0 done, 1 failure, 2 wrong usage, 3 not logged in, 4 refused by the service, \
                  5 service or database unreachable, 6 no route found, 7 some of several \
                  molecules could not be planned, scored or drawn, 130 interrupted."
)]
struct Cli {
    #[command(flatten)]
    place: InstallationArgs,
    #[command(subcommand)]
    command: Subcommands,
}

/// Options that locate the installation.
#[derive(Debug, clap::Args)]
struct InstallationArgs {
    /// Data folder of the installation: its addresses, models and login [default: `.retort` here, or in the nearest
    /// parent folder].
    #[arg(long, global = true, value_name = "DIR", env = "RETORT_DATA")]
    data: Option<PathBuf>,
    /// Address of the service [default: `api-url` of the data folder, else `http://127.0.0.1:8080`].
    #[arg(long, global = true, value_name = "URL", env = "RETORT_API")]
    api: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    /// Manage accounts in the database.
    #[command(subcommand)]
    Account(commands::account::AccountArgs),
    /// Manage the applications that may request tokens, in the database.
    #[command(subcommand)]
    App(commands::app::AppArgs),
    /// Manage organisations in the database; members read each other's samples.
    #[command(subcommand)]
    Org(commands::org::Org),
    /// Manage the keys that sign tokens, in the database.
    #[command(subcommand)]
    Keys(commands::keys::KeysArgs),
    /// List the operators' actions from the audit log in the database.
    Journal(commands::audit_log::Journal),
    /// Log in and store the credentials in the data folder.
    Login(commands::login::LoginArgs),
    /// Log out, here and at the service.
    Logout(commands::logout::Logout),
    /// Print who is logged in.
    Whoami(commands::whoami::Whoami),
    /// Print a bearer token and nothing else.
    Token(commands::token::TokenArgs),
    /// Generate molecules.
    Sample(commands::sample::SampleArgs),
    /// Score molecules under a model.
    Likelihoods(commands::likelihoods::LikelihoodsArgs),
    /// Plan routes to one molecule or to many.
    Plan(Box<commands::plan::PlanArgs>),
    /// Show, cancel and delete batches of plans.
    #[command(subcommand)]
    Batch(commands::batch::BatchArgs),
    /// Import and show the catalogue of building blocks in the database.
    #[command(subcommand)]
    Catalogue(commands::catalogue::Catalogue),
    /// Show, check, import and remove models.
    Model(commands::model::ModelArgs),
    /// Back up the database and the imported models; the service may run.
    Backup(commands::backup::Backup),
    /// Restore a backup.
    Restore(commands::restore::Restore),
    /// Show what the installation does, live.
    Top(commands::top::Top),
    /// Check every part of the installation and report what is wrong.
    Doctor(commands::doctor::Doctor),
}

impl InstallationArgs {
    /// Returns the data folder.
    fn data(&self) -> DataFolder {
        self.data.clone().map_or_else(DataFolder::nearest, DataFolder::new)
    }

    /// Returns the service.
    fn service(&self) -> Result<Service, Failure> {
        Service::new(self.data(), self.api.as_deref())
    }
}

/// Runs the command of the process's arguments.
pub async fn run() -> ExitCode {
    let arguments = Cli::command().get_matches();
    let cli = Cli::from_arg_matches(&arguments).unwrap_or_else(|error| error.exit());
    // The process has one TLS library; only this line could install it a second time.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let traces = telemetry::init_command("retort");
    if let Err(error) = &traces {
        terminal::note(&format!("retort: no traces: {error}"));
    }
    let span = info_span!(
        "command",
        otel.name = format!("retort {}", arguments.subcommand_name().unwrap_or_default()),
        otel.status_code = field::Empty,
    );
    telemetry::set_parent(&span, &telemetry::surrounding());
    let done = dispatch(cli).instrument(span.clone()).await;
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) if failure.is_broken_pipe() => ExitCode::SUCCESS,
        Err(failure) => {
            span.record("otel.status_code", "ERROR");
            terminal::note(&format!("retort: {failure}"));
            failure.exit_code()
        }
    }
}

/// Runs the parsed command.
async fn dispatch(cli: Cli) -> Result<(), Failure> {
    match cli.command {
        Subcommands::Account(command) => command.run(&cli.place).await,
        Subcommands::App(command) => command.run(&cli.place).await,
        Subcommands::Org(command) => command.run(&cli.place).await,
        Subcommands::Keys(command) => command.run(&cli.place).await,
        Subcommands::Journal(command) => command.run(&cli.place).await,
        Subcommands::Login(command) => command.run(&cli.place).await,
        Subcommands::Logout(command) => command.run(&cli.place).await,
        Subcommands::Whoami(command) => command.run(&cli.place).await,
        Subcommands::Token(command) => command.run(&cli.place).await,
        Subcommands::Sample(command) => command.run(&cli.place).await,
        Subcommands::Likelihoods(command) => command.run(&cli.place).await,
        Subcommands::Plan(command) => command.run(&cli.place).await,
        Subcommands::Batch(command) => command.run(&cli.place).await,
        Subcommands::Catalogue(command) => command.run(&cli.place).await,
        Subcommands::Model(command) => command.run(&cli.place),
        Subcommands::Backup(command) => command.run(&cli.place).await,
        Subcommands::Restore(command) => command.run(&cli.place).await,
        Subcommands::Top(command) => command.run(&cli.place).await,
        Subcommands::Doctor(command) => command.run(&cli.place).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
