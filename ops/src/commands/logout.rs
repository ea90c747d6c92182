//! `retort logout`.

use clap::Args;

use crate::{InstallationArgs, failure::Failure, terminal};

/// End the login, here and at the service.
#[derive(Debug, Args)]
pub struct Logout {}

impl Logout {
    /// Runs the command.
    pub async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        installation.service()?.logout().await?;
        terminal::note("logged out");
        Ok(())
    }
}
