//! `retort journal`: what operators did.

use clap::Args;

use crate::{Place, failure::Failure, journal, terminal};

/// List what operators did: time, operator, act, subject, details.
#[derive(Debug, Args)]
pub struct Journal {
    /// How many acts, the last ones.
    #[arg(long, value_name = "N", default_value_t = 100)]
    count: u32,
}

impl Journal {
    /// Runs the command.
    pub async fn run(self, place: &Place) -> Result<(), Failure> {
        let lines = journal::read(&mut place.data().connect().await?, self.count).await?;
        lines.iter().try_for_each(|line| terminal::data(&line.to_line()))
    }
}
