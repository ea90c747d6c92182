//! `retort top`: what the installation does, live in a terminal; once where there is none.

mod screen;
mod sections;

use std::io::{self, IsTerminal as _};

use anyhow::Context as _;
use clap::Args;
use contract::OperationsState;
use serde_json::Value;

use crate::{Place, failure::Failure, terminal};

/// Where the service tells it.
const STATE: &str = "/operations/v1/state";

/// Show queues, jobs, failures, workers and reservoirs, live; for accounts with the scope `operations`.
///
/// Arrows choose a queue (left, right) and a job (up, down), p pauses or resumes the queue, c cancels the job, q ends it.
#[derive(Debug, Args)]
pub struct Top {
    /// Print tables once and end, as where standard output is no terminal.
    #[arg(long)]
    once: bool,
    /// Print the service's JSON once and end.
    #[arg(long, conflicts_with = "once")]
    json: bool,
}

impl Top {
    /// Runs the command.
    pub async fn run(self, place: &Place) -> Result<(), Failure> {
        let service = place.service()?;
        if self.json {
            let state: Value = service.get(STATE).await?;
            return terminal::data(&serde_json::to_string_pretty(&state).context("writing JSON")?);
        }
        // Before the terminal is taken, so that what is wrong with the login is said as ever.
        let state: OperationsState = service.get(STATE).await?;
        if self.once || !io::stdout().is_terminal() || !io::stdin().is_terminal() {
            return terminal::data(sections::plain(&state).trim_end());
        }
        screen::show(&service, state).await
    }
}
