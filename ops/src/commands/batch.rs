//! `retort batch`.

use chrono::{DateTime, Utc};
use clap::Subcommand;
use contract::{Batch, BatchProgress, SampleBatch};

use crate::{
    InstallationArgs,
    batches::{self, BatchAction},
    failure::Failure,
    sample_batches,
    service::Service,
    terminal,
};

/// List, show, cancel, resume and delete batches of plans and of samples. `retort plan --batch` and `retort sample
/// --batch` create one, `retort plan --resume ID` and `retort sample --from-batch ID` read the results.
#[derive(Debug, Subcommand)]
pub enum BatchArgs {
    /// List the batches, the newest first.
    List,
    /// Print the progress of a batch.
    Show {
        /// Id of the batch, as `retort batch list` shows it.
        id: String,
    },
    /// Cancel what has not ended of a batch.
    Cancel {
        /// The batch.
        id: String,
    },
    /// Resume the cancelled plans of a batch. A sample batch cannot be resumed.
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
                let lines = lines(&service).await?;
                if lines.is_empty() {
                    terminal::note("no batches")
                } else {
                    terminal::data(&lines.join("\n"))?
                }
            }
            Self::Show { id } if batches::is_of_samples(&id) => {
                let batch = sample_batches::retrieve(&service, &id).await?;
                terminal::data(&format!("{}\n{}", sample_line(&batch), chunk_counts(&batch)))?;
            }
            Self::Show { id } => {
                let batch = batches::retrieve(&service, &id).await?;
                let progress = batch.progress.unwrap_or_default();
                terminal::data(&format!("{}\n{}", plan_line(&batch), plan_counts(&progress)))?;
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
            Self::Resume { id } if batches::is_of_samples(&id) => {
                return Err(Failure::Usage(format!("{id} is a sample batch, which cannot be resumed")));
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

/// Lines of the batches of both kinds, the newest first. A token for one kind alone gets that kind.
async fn lines(service: &Service) -> Result<Vec<String>, Failure> {
    let (plans, samples) = match (batches::list(service).await, sample_batches::list(service).await) {
        (Ok(plans), Ok(samples)) => (plans, samples),
        (Ok(plans), Err(Failure::Refused(_))) => (plans, Vec::new()),
        (Err(Failure::Refused(_)), Ok(samples)) => (Vec::new(), samples),
        (Err(failure), _) | (_, Err(failure)) => return Err(failure),
    };
    let plans = plans.iter().map(|batch| (batch.created_at, plan_line(batch)));
    let samples = samples.iter().map(|batch| (batch.created_at, sample_line(batch)));
    let mut lines: Vec<(DateTime<Utc>, String)> = plans.chain(samples).collect();
    lines.sort_by(|(one, _), (other, _)| other.cmp(one));
    Ok(lines.into_iter().map(|(_, line)| line).collect())
}

fn plan_line(batch: &Batch) -> String {
    let name = batch.name.as_deref().map(|name| format!("  {name}")).unwrap_or_default();
    format!("{}  {}  {} targets{name}", batch.id, minute(batch.created_at), batch.plan_count)
}

fn sample_line(batch: &SampleBatch) -> String {
    let model = batch.model_id.as_deref().map(|model| format!("  {model}")).unwrap_or_default();
    format!("{}  {}  {} molecules{model}", batch.id, minute(batch.created_at), batch.size)
}

fn minute(time: DateTime<Utc>) -> impl std::fmt::Display {
    time.format("%Y-%m-%d %H:%M")
}

/// Formats the numbers of plans by status.
fn plan_counts(progress: &BatchProgress) -> String {
    let counts = counts(&[
        (progress.completed, "completed"),
        (progress.failed, "failed"),
        (progress.cancelled, "cancelled"),
        (progress.processing, "in work"),
        (progress.pending, "waiting"),
    ]);
    match progress.seconds_left.filter(|seconds| *seconds > 0.0) {
        Some(seconds) => format!("{counts}, about {seconds:.0} s left"),
        None => counts,
    }
}

/// Formats the numbers of chunks by status.
fn chunk_counts(batch: &SampleBatch) -> String {
    let (completed, failed) = (batch.completed_chunks, batch.failed_chunks);
    let waiting = i64::from(batch.chunk_count) - completed - failed;
    let counts = counts(&[(completed, "completed"), (failed, "failed"), (waiting, "waiting")]);
    format!("chunks: {counts}")
}

/// Lists the numbers that are not zero.
fn counts(counts: &[(i64, &str)]) -> String {
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    counts.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
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

        assert_eq!(plan_counts(&progress), "7 completed, 1 failed, 3 waiting, about 12 s left");
    }
}
