//! `retort`: the command line of the service, for its callers and for its operator.
//!
//! Standard output carries data and nothing else, so that `$(retort token)` and `retort sample … | sort`
//! work; progress and messages go to standard error. One file a command.
//!
//! A library that has one function, [`run`], so that what reads other people's files can be fuzzed too.

mod backup;
mod batches;
mod catalogue;
mod commands;
mod data_folder;
mod engine_answer;
mod failure;
mod formats;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod journal;
mod models;
mod patience;
mod planned;
mod report;
mod route_tree;
mod routes;
mod sample_file;
mod service;
mod targets;
mod terminal;
#[cfg(test)]
mod test_database;
#[cfg(test)]
#[path = "../../api/tests/api/webdriver.rs"]
#[allow(dead_code, missing_docs, reason = "a module of tests, which use the rest of it elsewhere")]
mod webdriver;

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
                  targets could not be planned, 130 interrupted."
)]
struct Cli {
    #[command(flatten)]
    place: Place,
    #[command(subcommand)]
    command: Subcommands,
}

/// Where the installation is.
#[derive(Debug, clap::Args)]
struct Place {
    /// The data folder of the installation: its addresses, its models and the login [default: `.retort` here, or in the
    /// nearest folder above].
    #[arg(long, global = true, value_name = "DIR", env = "RETORT_DATA")]
    data: Option<PathBuf>,
    /// The service's address; by default the one in `api-url` of the data folder, else `http://127.0.0.1:8080`.
    #[arg(long, global = true, value_name = "URL", env = "RETORT_API")]
    api: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    /// Manage accounts, in the database.
    #[command(subcommand)]
    Account(commands::account::Account),
    /// Manage the applications that may ask for tokens, in the database.
    #[command(subcommand)]
    App(commands::app::App),
    /// Manage organisations, whose members read each other's samples, in the database.
    #[command(subcommand)]
    Org(commands::org::Org),
    /// Manage the keys that sign tokens, in the database.
    #[command(subcommand)]
    Keys(commands::keys::Keys),
    /// List what operators did, from the database.
    Journal(commands::journal::Journal),
    /// Log in and keep the credentials in the data folder.
    Login(commands::login::Login),
    /// Forget the login, here and at the service.
    Logout(commands::logout::Logout),
    /// Print who is logged in.
    Whoami(commands::whoami::Whoami),
    /// Print a bearer token and nothing else.
    Token(commands::token::Token),
    /// Generate molecules.
    Sample(commands::sample::Sample),
    /// Plan routes to a molecule, or to many.
    Plan(Box<commands::plan::Plan>),
    /// Look at batches of plans, cancel and delete them.
    #[command(subcommand)]
    Batch(commands::batch::Batch),
    /// Load what can be bought, and look at it, in the database.
    #[command(subcommand)]
    Catalogue(commands::catalogue::Catalogue),
    /// Look at the models, check them, import and remove them.
    Model(commands::model::Model),
    /// Keep a copy of the database and of the imported models; the service may run.
    Backup(commands::backup::Backup),
    /// Put a backup in place.
    Restore(commands::restore::Restore),
    /// Show what the installation does, live.
    Top(commands::top::Top),
    /// Look at every part of the installation and say what is wrong.
    Doctor(commands::doctor::Doctor),
}

impl Place {
    /// The data folder.
    fn data(&self) -> DataFolder {
        self.data.clone().map_or_else(DataFolder::nearest, DataFolder::new)
    }

    /// The service.
    fn service(&self) -> Result<Service, Failure> {
        Service::new(self.data(), self.api.as_deref())
    }
}

/// Does what the arguments of the process say.
pub async fn run() -> ExitCode {
    let arguments = Cli::command().get_matches();
    let cli = Cli::from_arg_matches(&arguments).unwrap_or_else(|error| error.exit());
    // The process has one TLS library; a second installation of it could only come from this line.
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
    let done = obey(cli).instrument(span.clone()).await;
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

/// Does it.
async fn obey(cli: Cli) -> Result<(), Failure> {
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
