//! `retort token`.

use clap::Args;

use crate::{InstallationArgs, failure::Failure, terminal};

/// Print a bearer token and nothing else.
#[derive(Debug, Args)]
pub struct TokenArgs {}

impl TokenArgs {
    /// Runs the command.
    pub async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        terminal::data(&installation.service()?.access_token().await?)
    }
}
