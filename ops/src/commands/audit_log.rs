//! `retort journal`: shows the audit log.

use clap::Args;

use crate::{InstallationArgs, audit_log, failure::Failure, terminal};

/// Show the audit log of operators' actions: time, operator, action, subject, details.
#[derive(Debug, Args)]
pub struct Journal {
    /// Number of entries to show, the latest ones.
    #[arg(long, value_name = "N", default_value_t = 100)]
    count: u32,
}

impl Journal {
    /// Runs the command.
    pub async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let lines = audit_log::read(&mut installation.data().connect().await?, self.count).await?;
        lines.iter().try_for_each(|line| terminal::data(&line.to_line()))
    }
}
