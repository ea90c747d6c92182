//! `retort batch`.

use std::fmt::Write as _;

use clap::Subcommand;
use contract::{Batch as Stored, BatchProgress};

use crate::{
    InstallationArgs,
    batches::{self, BatchAction},
    failure::Failure,
    terminal,
};

/// List, show, cancel, resume and delete batches of plans. `retort plan --batch` creates one, `retort plan --resume
/// ID` reads the results. Sample batches (`retort sample --batch`) can be cancelled and deleted.
#[derive(Debug, Subcommand)]
pub enum BatchArgs {
    /// List the batches, the newest first.
    List,
    /// Print the progress of a batch.
    Show {
        /// Id of the batch, as `retort batch list` shows it.
        id: String,
    },
    /// Cancel the plans of a batch that have not ended.
    Cancel {
        /// The batch.
        id: String,
    },
    /// Resume the cancelled plans of a batch.
    Resume {
        /// The batch.
        id: String,
    },
    /// Delete a batch with all its results.
    Delete {
        /// The batch.
        id: String,
    },
}

impl BatchArgs {
    /// Runs the command.
    pub async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let service = installation.service()?;
        match self {
            Self::List => {
                let listed = batches::list(&service).await?;
                let lines: Vec<String> = listed.iter().map(line).collect();
                if lines.is_empty() {
                    terminal::note("no batches")
                } else {
                    terminal::data(&lines.join("\n"))?
                }
            }
            Self::Show { id } => {
                let batch = batches::retrieve(&service, &id).await?;
                let progress = batch.progress.unwrap_or_default();
                terminal::data(&format!("{}\n{}", line(&batch), status_counts(&progress)))?;
            }
            Self::Cancel { id } => {
                batches::act(&service, &id, BatchAction::Cancel).await?;
                let rest = if batches::is_of_samples(&id) {
                    format!("`retort sample --from-batch {id}` writes what is there")
                } else {
                    format!("`retort batch resume {id}` continues it")
                };
                terminal::note(&format!("{id} is cancelled; {rest}"));
            }
            Self::Resume { id } => {
                batches::act(&service, &id, BatchAction::Resume).await?;
                terminal::note(&format!("{id} continues; `retort plan --resume {id}` waits for it"));
            }
            Self::Delete { id } => {
                batches::delete(&service, &id).await?;
                terminal::note(&format!("{id} is deleted"));
            }
        }
        Ok(())
    }
}

fn line(batch: &Stored) -> String {
    let made = batch.created_at.format("%Y-%m-%d %H:%M");
    let name = batch.name.as_deref().map(|name| format!("  {name}")).unwrap_or_default();
    format!("{}  {made}  {} targets{name}", batch.id, batch.plan_count)
}

/// Formats the numbers of plans by status.
fn status_counts(progress: &BatchProgress) -> String {
    let counts = [
        (progress.completed, "completed"),
        (progress.failed, "failed"),
        (progress.cancelled, "cancelled"),
        (progress.processing, "in work"),
        (progress.pending, "waiting"),
    ];
    let mut last_line = String::new();
    for (count, word) in counts.into_iter().filter(|(count, _)| *count > 0) {
        let _ = write!(last_line, "{}{count} {word}", if last_line.is_empty() { "" } else { ", " });
    }
    if let Some(seconds) = progress.seconds_left.filter(|seconds| *seconds > 0.0) {
        let _ = write!(last_line, ", about {seconds:.0} s left");
    }
    last_line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_of_a_batch_leaves_empty_counts_out() {
        let progress = BatchProgress {
            completed: 7,
            failed: 1,
            pending: 3,
            seconds_left: Some(12.4),
            ..BatchProgress::default()
        };

        assert_eq!(status_counts(&progress), "7 completed, 1 failed, 3 waiting, about 12 s left");
    }
}
