//! Handler of plans: a search that yields to interactive ones, and whose answer is stored with its plan.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use contract::{
    CompactResult, JobFailure, PlanFigures, PlanJob, ProgressReporting, StoredPlanJob, TreeSearchJob,
    TreeSearchResult,
};
use flate2::Compression;
use queue::{FinishResult, Handler, HandlerError, JobContext};
use synth::Budget;

use super::{DATABASE_TIMEOUT, SearchHandler, search::seconds, zipped};
use crate::{
    compute::compute,
    event_publisher::{PublishCondition, SearchEventWriter},
    plans,
};

/// Handler of plans.
#[derive(Debug, Clone)]
pub struct PlanHandler {
    /// State shared by all searches of the process.
    pub search: SearchHandler,
}

impl Handler<StoredPlanJob> for PlanHandler {
    async fn handle(
        &self,
        context: JobContext<StoredPlanJob>,
        StoredPlanJob::V1(job): StoredPlanJob,
    ) -> Result<(), HandlerError> {
        let queued =
            database::within(DATABASE_TIMEOUT, plans::read_parameters(&self.search.pool, &job.plan_id))
                .await?;
        let answer = match queued {
            Some(queued) => self.answer(&context, queued).await?,
            None => Err(JobFailure::Cancelled),
        };
        if context.cancelled.load(Ordering::Acquire) {
            return Ok(());
        }
        let found = match answer {
            Ok(answer) => Ok(compute(move || StoredAnswer::of(&answer.expanded())).await??),
            Err(problem) => Err(problem),
        };
        database::within(DATABASE_TIMEOUT, self.store(&context, &job, found)).await
    }
}

impl PlanHandler {
    async fn answer(
        &self,
        context: &JobContext<StoredPlanJob>,
        queued: plans::QueuedPlan,
    ) -> Result<Result<CompactResult, JobFailure>, HandlerError> {
        let started = Instant::now();
        let end = started + seconds(queued.request.max_seconds);
        let budget = Budget {
            priority: self.search.planner.priority(queued.urgency),
            ..Budget::until(end, Arc::clone(&context.cancelled))
        };
        let job = TreeSearchJob {
            request: queued.request,
            account_id: Some(queued.account_id),
            engine: None,
            reporting: ProgressReporting::Events,
            compact: false,
            deadline: chrono::Utc::now(),
        };
        // A client may subscribe at any time, but few plans are ever watched.
        let condition = PublishCondition::While(Arc::clone(&context.watched));
        let writer = SearchEventWriter::begin(self.search.pool.clone(), context.event_publisher(), condition);
        let answer = self.search.answer_with_progress(&job, budget, started, Some(writer.listener())).await;
        writer.end().await;
        answer
    }

    /// Stores the outcome and the job's terminal state in one transaction.
    async fn store(
        &self,
        context: &JobContext<StoredPlanJob>,
        job: &PlanJob,
        found: Result<StoredAnswer, JobFailure>,
    ) -> Result<(), HandlerError> {
        let mut transaction = self.search.pool.begin().await?;
        let outcome = match found {
            Ok(StoredAnswer { zipped, figures }) => {
                let is_kept = plans::complete(&mut transaction, &job.plan_id, &zipped, &figures).await?;
                if is_kept { Ok(()) } else { Err(JobFailure::Cancelled) }
            }
            Err(problem) => Err(problem),
        };
        match context.finish(&mut transaction, &outcome).await? {
            FinishResult::Stored => transaction.commit().await?,
            FinishResult::Superseded => transaction.rollback().await?,
        }
        Ok(())
    }
}

/// Answer as stored.
struct StoredAnswer {
    /// Gzipped JSON.
    zipped: Vec<u8>,
    figures: PlanFigures,
}

impl StoredAnswer {
    fn of(answer: &TreeSearchResult) -> Result<Self, HandlerError> {
        Ok(Self { zipped: zipped(answer, Compression::default())?, figures: PlanFigures::of(answer) })
    }
}
