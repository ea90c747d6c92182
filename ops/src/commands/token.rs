//! `retort token`.

use clap::Args;

use crate::{InstallationArgs, failure::Failure, terminal};

/// Print a bearer token and nothing else.
#[derive(Debug, Args)]
pub struct Token {}

impl Token {
    /// Runs the command.
    pub async fn run(self, place: &InstallationArgs) -> Result<(), Failure> {
        terminal::data(&place.service()?.access_token().await?)
    }
}
