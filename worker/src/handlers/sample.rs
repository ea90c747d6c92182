//! A sample job: choose a model, draw, store the sample and the outcome together.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use contract::{Problem, SampleJob, StoredSampleJob};
use generator::{Budget, SampleError};
use queue::{Finished, Handler, HandlerError, JobContext};
use sqlx::PgPool;
use tracing::{Span, info, info_span};

use super::{Ended, instant};
use crate::{
    Models,
    samples::{self, Drawn},
};

/// How long past its deadline a sample is still finished. Its caller has been told that time is up, and
/// finds the sample in the list.
const LATE: Duration = Duration::from_secs(30);

/// Runs sample jobs.
#[derive(Debug, Clone)]
pub struct Sampling {
    /// Connections whose commits wait for the disk: what is acknowledged is never lost.
    pub pool: PgPool,
    /// The models of this process.
    pub models: Arc<Models>,
}

impl Handler<StoredSampleJob> for Sampling {
    async fn handle(
        &self,
        context: JobContext<StoredSampleJob>,
        StoredSampleJob::V1(job): StoredSampleJob,
    ) -> Result<(), HandlerError> {
        let budget = Budget {
            deadline: Some(instant(context.deadline) + LATE),
            cancelled: Arc::clone(&context.cancelled),
        };
        let span = info_span!(
            "model.sample",
            sample.id = %job.sample_id,
            model.id = tracing::field::Empty,
            sample.size = job.size
        );
        let (models, wanted) = (Arc::clone(&self.models), job.clone());
        let outcome =
            tokio::task::spawn_blocking(move || span.in_scope(|| draw(&models, &wanted, &budget))).await??;

        let mut transaction = self.pool.begin().await?;
        let finished = match outcome {
            Ended::Cancelled => return Ok(()),
            Ended::Refused(problem) => context.finish(&mut transaction, &Err(problem)).await?,
            Ended::Done(sample) => {
                samples::insert(&mut transaction, &job, &sample).await?;
                context.finish(&mut transaction, &Ok(job.sample_id)).await?
            }
        };
        match finished {
            Finished::Stored => {
                transaction.commit().await?;
                info!(sample.id = %job.sample_id, sample.size = job.size, "sample job done");
            }
            Finished::Superseded => transaction.rollback().await?,
        }
        Ok(())
    }
}

/// Draws the sample that `job` wants.
///
/// # Errors
/// Fails when the network cannot be evaluated, which another attempt may mend.
pub fn draw(models: &Models, job: &SampleJob, budget: &Budget) -> Result<Ended<Drawn>, SampleError> {
    let Some(model) = models.choose(job.model_id.as_deref()) else {
        let model_id = job.model_id.clone().unwrap_or_default();
        return Ok(Ended::Refused(Problem::UnknownModel { model_id }));
    };
    let model_id = model.pack().id.clone();
    Span::current().record("model.id", &model_id);
    let size = usize::try_from(job.size).unwrap_or(usize::MAX);
    match model.sample(size, job.seed, budget) {
        Ok(smiles) => Ok(Ended::Done(Drawn { model_id, smiles })),
        Err(SampleError::SizeUnreachable { reached, .. }) => {
            let reached = u32::try_from(reached).unwrap_or(u32::MAX);
            Ok(Ended::Refused(Problem::SizeUnreachable { model_id, wanted: job.size, reached }))
        }
        Err(SampleError::Interrupted) if budget.cancelled.load(Ordering::Acquire) => Ok(Ended::Cancelled),
        Err(SampleError::Interrupted) => Ok(Ended::Refused(Problem::DeadlinePassed)),
        Err(fault) => Err(fault),
    }
}
