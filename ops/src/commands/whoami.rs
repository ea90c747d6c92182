//! `retort whoami`.

use clap::Args;

use crate::{InstallationArgs, failure::Failure, terminal};

/// Print who is logged in: e-mail address, name, account id, service; separated by tabs.
#[derive(Debug, Args)]
pub struct Whoami {}

impl Whoami {
    /// Runs the command.
    pub async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let service = installation.service()?;
        let person = service.person().await?;
        let stored =
            installation.data().credentials()?.map(|credentials| credentials.email).unwrap_or_default();
        let (email, name, id) = match person {
            Some(person) => (person.email.unwrap_or(stored), person.name.unwrap_or_default(), person.sub),
            None => (stored, String::new(), String::new()),
        };
        terminal::data(&format!("{email}\t{name}\t{id}\t{}", service.base()))
    }
}
