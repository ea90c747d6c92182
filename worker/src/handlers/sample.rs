//! A sample job: choose a model, take what is ready, draw what is missing, store it all at once.

use std::{
    collections::HashSet,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use contract::{Problem, SampleId, SampleJob, StoredSampleJob};
use generator::{Budget, SampleError};
use queue::{Finished, Handler, HandlerError, JobContext};
use sqlx::{PgPool, Postgres, Transaction};
use tracing::{field::Empty, info, info_span};

use super::{DATABASE, Ended, instant};
use crate::{
    Activity, Model, Shelf,
    reservoir::{self, Levels},
    samples::{self, Drawn},
};

/// How long past its deadline a sample is still finished. Its caller has been told that time is up, and
/// finds the sample in the list.
const LATE: Duration = Duration::from_secs(30);
/// Rounds in which molecules are drawn that the sample does not have already.
const ROUNDS: u64 = 10;

/// Runs sample jobs.
#[derive(Debug, Clone)]
pub struct Sampling {
    /// Connections whose commits wait for the disk: what is acknowledged is never lost.
    pub pool: PgPool,
    /// The models of this process.
    pub shelf: Arc<Shelf>,
    /// What the refilling of the reservoir makes way for.
    pub activity: Activity,
}

impl Handler<StoredSampleJob> for Sampling {
    async fn handle(
        &self,
        context: JobContext<StoredSampleJob>,
        StoredSampleJob::V1(job): StoredSampleJob,
    ) -> Result<(), HandlerError> {
        let _active = self.activity.begin();
        let budget = Budget {
            deadline: Some(instant(context.deadline) + LATE),
            cancelled: Arc::clone(&context.cancelled),
        };
        // What is taken out of the reservoir comes back unless the sample is stored.
        let mut transaction = database::within(DATABASE, self.pool.begin()).await?;
        let levels = match job.model_id {
            Some(_) => Levels::default(),
            None => database::within(DATABASE, reservoir::levels(&mut *transaction)).await?,
        };
        let Some(model) = self.shelf.models().choose(job.model_id.as_deref(), &levels).cloned() else {
            let problem = Problem::UnknownModel { model_id: job.model_id.unwrap_or_default() };
            return end(&context, transaction, &Err(problem)).await.map(drop);
        };
        // Whatever failed before, molecules that are made anew need nothing but the model.
        let ready = match context.attempt {
            1 => {
                let take = reservoir::take(&mut transaction, &model, size(&job));
                database::within(DATABASE, take).await?
            }
            _ => Vec::new(),
        };
        let span = info_span!(
            "model.sample",
            sample.id = %job.sample_id,
            model.id = model.id(),
            sample.size = job.size,
            sample.ready = ready.len(),
            sample.drawn = Empty,
        );
        let wanted = job.clone();
        let drawing = move || span.in_scope(|| draw(&model, ready, &wanted, &budget));
        let finished = match tokio::task::spawn_blocking(drawing).await?? {
            Ended::Cancelled => return Ok(()),
            Ended::Refused(problem) => {
                // The molecules that were ready are others'.
                database::within(DATABASE, transaction.rollback()).await?;
                let transaction = database::within(DATABASE, self.pool.begin()).await?;
                end(&context, transaction, &Err(problem)).await?
            }
            Ended::Done(sample) => {
                database::within(DATABASE, samples::insert(&mut transaction, &job, &sample)).await?;
                end(&context, transaction, &Ok(job.sample_id)).await?
            }
        };
        if finished == Finished::Stored {
            info!(sample.id = %job.sample_id, sample.size = job.size, "sample job done");
        }
        Ok(())
    }
}

/// Ends the job with `outcome`, and with it whatever else is in the transaction.
async fn end(
    context: &JobContext<StoredSampleJob>,
    mut transaction: Transaction<'static, Postgres>,
    outcome: &Result<SampleId, Problem>,
) -> Result<Finished, HandlerError> {
    database::within(DATABASE, async {
        let finished = context.finish(&mut transaction, outcome).await?;
        match finished {
            Finished::Stored => transaction.commit().await?,
            Finished::Superseded => transaction.rollback().await?,
        }
        Ok(finished)
    })
    .await
}

fn size(job: &SampleJob) -> usize {
    usize::try_from(job.size).unwrap_or(usize::MAX)
}

/// Completes the sample that `job` wants with molecules that are not among those `ready`.
///
/// With nothing ready, the job's seed alone says which molecules it becomes.
///
/// # Errors
/// Fails when the network cannot be evaluated, which another attempt may mend.
pub fn draw(
    model: &Model,
    ready: Vec<String>,
    job: &SampleJob,
    budget: &Budget,
) -> Result<Ended<Drawn>, SampleError> {
    let (size, model_id) = (size(job), model.id().to_owned());
    let mut known: HashSet<String> = match ready.len() < size {
        true => ready.iter().cloned().collect(),
        false => HashSet::new(),
    };
    let already = ready.len();
    let mut smiles = ready;
    let mut ended = Ok(());
    for round in 0..ROUNDS {
        if smiles.len() >= size || ended.is_err() {
            break;
        }
        match model.sampler.sample(size - smiles.len(), job.seed.wrapping_add(round), budget) {
            Ok(drawn) => smiles.extend(drawn.into_iter().filter(|one| known.insert(one.clone()))),
            Err(fault) => ended = Err(fault),
        }
    }
    tracing::Span::current().record("sample.drawn", smiles.len() - already);
    match ended {
        Ok(()) if smiles.len() == size => Ok(Ended::Done(Drawn { model_id, smiles })),
        Err(SampleError::Interrupted) if budget.cancelled.load(Ordering::Acquire) => Ok(Ended::Cancelled),
        Err(SampleError::Interrupted) => Ok(Ended::Refused(Problem::DeadlinePassed)),
        Ok(()) => Ok(unreachable(model_id, job, smiles.len())),
        Err(SampleError::SizeUnreachable { reached, .. }) => {
            Ok(unreachable(model_id, job, smiles.len().max(reached)))
        }
        Err(fault) => Err(fault),
    }
}

fn unreachable(model_id: String, job: &SampleJob, reached: usize) -> Ended<Drawn> {
    let reached = u32::try_from(reached).unwrap_or(u32::MAX);
    Ended::Refused(Problem::SizeUnreachable { model_id, wanted: job.size, reached })
}
