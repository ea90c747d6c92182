//! Handler of plans: a search that yields to interactive ones, and whose answer is stored with its plan.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use contract::{PlanFigures, PlanJob, Problem, StoredPlanJob, Told, TreeSearchJob, TreeSearchResult};
use flate2::Compression;
use queue::{Finished, Handler, HandlerError, JobContext};
use synth::Budget;

use super::{DATABASE, Search, search::seconds, zipped};
use crate::{
    compute::compute,
    plans,
    telling::{Telling, Wanted},
};

/// Handler of plans.
#[derive(Debug, Clone)]
pub struct Plans {
    /// State shared by all searches of the process.
    pub search: Search,
}

impl Handler<StoredPlanJob> for Plans {
    async fn handle(
        &self,
        context: JobContext<StoredPlanJob>,
        StoredPlanJob::V1(job): StoredPlanJob,
    ) -> Result<(), HandlerError> {
        let wanted = database::within(DATABASE, plans::wanted(&self.search.pool, &job.plan_id)).await?;
        let answer = match wanted {
            Some(wanted) => self.answer(&context, wanted).await?,
            None => Err(Problem::Cancelled),
        };
        if context.cancelled.load(Ordering::Acquire) {
            return Ok(());
        }
        let found = match answer {
            Ok(answer) => Ok(compute(move || Found::of(&answer)).await??),
            Err(problem) => Err(problem),
        };
        database::within(DATABASE, self.store(&context, &job, found)).await
    }
}

impl Plans {
    async fn answer(
        &self,
        context: &JobContext<StoredPlanJob>,
        wanted: plans::Wanted,
    ) -> Result<Result<TreeSearchResult, Problem>, HandlerError> {
        let started = Instant::now();
        let end = started + seconds(wanted.request.max_seconds);
        let budget = Budget {
            turn: self.search.planner.turn(wanted.urgency),
            ..Budget::until(end, Arc::clone(&context.cancelled))
        };
        let job = TreeSearchJob {
            request: wanted.request,
            account_id: Some(wanted.account_id),
            engine: None,
            told: Told::Events,
            deadline: chrono::Utc::now(),
        };
        // A client may subscribe at any time, but few plans are ever watched.
        let wanted = Wanted::While(Arc::clone(&context.watched));
        let telling = Telling::begin(self.search.pool.clone(), context.teller(), wanted);
        let answer = self.search.answer_telling(&job, budget, started, Some(telling.listener())).await;
        telling.end().await;
        answer
    }

    /// Stores the outcome and the job's terminal state in one transaction.
    async fn store(
        &self,
        context: &JobContext<StoredPlanJob>,
        job: &PlanJob,
        found: Result<Found, Problem>,
    ) -> Result<(), HandlerError> {
        let mut transaction = self.search.pool.begin().await?;
        let outcome = match found {
            Ok(Found { zipped, figures }) => {
                let is_kept = plans::complete(&mut transaction, &job.plan_id, &zipped, &figures).await?;
                if is_kept { Ok(()) } else { Err(Problem::Cancelled) }
            }
            Err(problem) => Err(problem),
        };
        match context.finish(&mut transaction, &outcome).await? {
            Finished::Stored => transaction.commit().await?,
            Finished::Superseded => transaction.rollback().await?,
        }
        Ok(())
    }
}

/// Answer as stored.
struct Found {
    /// Gzipped JSON.
    zipped: Vec<u8>,
    figures: PlanFigures,
}

impl Found {
    fn of(answer: &TreeSearchResult) -> Result<Self, HandlerError> {
        Ok(Self { zipped: zipped(answer, Compression::default())?, figures: PlanFigures::of(answer) })
    }
}
