//! `retort top`: shows live in a terminal what the installation does, or prints it once if there is no terminal.

mod screen;
mod sections;

use std::io::{self, IsTerminal as _};

use anyhow::Context as _;
use clap::Args;
use contract::OperationsState;
use serde_json::Value;

use crate::{InstallationArgs, failure::Failure, terminal};

/// Path of the installation's state.
const STATE_PATH: &str = "/operations/v1/state";

/// Show queues, jobs, failures, workers and reservoirs, live; for accounts with the scope `operations`.
///
/// The arrow keys select a queue (left, right) and a job (up, down), p pauses or resumes the queue, c cancels the
/// job, q quits.
#[derive(Debug, Args)]
pub struct Top {
    /// Print the tables once and exit; the default if standard output is no terminal.
    #[arg(long)]
    once: bool,
    /// Print the service's JSON once and exit.
    #[arg(long, conflicts_with = "once")]
    json: bool,
}

impl Top {
    /// Runs the command.
    pub async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let service = installation.service()?;
        if self.json {
            let state: Value = service.get(STATE_PATH).await?;
            return terminal::data(&serde_json::to_string_pretty(&state).context("writing JSON")?);
        }
        // Reads the state before taking over the terminal, so that login errors are printed as usual.
        let state: OperationsState = service.get(STATE_PATH).await?;
        if self.once || !io::stdout().is_terminal() || !io::stdin().is_terminal() {
            return terminal::data(sections::plain(&state).trim_end());
        }
        screen::show(&service, state).await
    }
}
