//! Handler of asynchronous samples, which run while no interactive sample does.
//!
//! It takes nothing from the reservoir, which is kept for interactive samples: all of its molecules are drawn.
//! Drawing stops immediately when an interactive sample arrives, and resumes later with all molecules drawn so far.
//! Molecules are drawn in parts. The part size is halved after each interruption, since fewer strings finish sooner;
//! so even short gaps between interactive samples are used. A chunk of a batch claims its molecules in the
//! transaction that stores it, and draws further ones in place of those that another chunk has.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use chrono::Utc;
use contract::{OrderJob, Problem, SampleJob, StoredOrderJob};
use generator::{Budget, Draft, SampleError};
use queue::{Finished, Handler, HandlerError, JobContext};
use sqlx::PgPool;
use tracing::{info, warn};

use super::{DATABASE, Ended, store};
use crate::{
    Activity, Model, Shelf,
    compute::compute_aside,
    metrics, orders,
    refill::StopOnDrop,
    reservoir::BLOCK,
    samples::{self, Drawn},
};

/// Extra molecules drawn beyond the missing number when some of the drawn ones were not new.
const SPARE: usize = 50;

/// Molecules of the largest and of the smallest part.
const PARTS: (usize, usize) = (BLOCK, 8);

/// Longest wait for a gap in a burst of interactive samples; after it every gap is used.
const COURTESY: Duration = Duration::from_millis(200);

/// Interval of checking the cancellation flag.
const LOOK: Duration = Duration::from_millis(50);

/// Handler of asynchronous samples.
#[derive(Debug, Clone)]
pub struct Orders {
    /// Connections with synchronous commit: what is acknowledged is never lost.
    pub pool: PgPool,
    /// Models of this process.
    pub shelf: Arc<Shelf>,
    /// Running interactive samples; asynchronous ones yield to them.
    pub activity: Activity,
}

impl Handler<StoredOrderJob> for Orders {
    async fn handle(
        &self,
        context: JobContext<StoredOrderJob>,
        StoredOrderJob::V1(job): StoredOrderJob,
    ) -> Result<(), HandlerError> {
        let id = job.sample_id.to_string();
        let Some(wanted) = database::within(DATABASE, orders::wanted(&self.pool, &id)).await? else {
            return store(&self.pool, &context, &Err(Problem::Cancelled)).await;
        };
        let Some(model) = self.shelf.models().choose(Some(&job.model_id)).cloned() else {
            let problem = Problem::UnknownModel { model_id: job.model_id };
            return store(&self.pool, &context, &Err(problem)).await;
        };
        let making = Making { orders: self, context, job, wanted, model };
        match making.make().await? {
            Ended::Done(()) | Ended::Cancelled => Ok(()),
            Ended::Refused(problem) => store(&self.pool, &making.context, &Err(problem)).await,
        }
    }
}

/// Asynchronous sample in progress.
struct Making<'a> {
    orders: &'a Orders,
    context: JobContext<StoredOrderJob>,
    job: OrderJob,
    wanted: orders::Wanted,
    model: Arc<Model>,
}

impl Making<'_> {
    /// Draws until there are enough new molecules, and stores them.
    async fn make(&self) -> Result<Ended<()>, HandlerError> {
        let mut draft = Draft::new(self.size(), self.wanted.seed);
        let mut last = None;
        loop {
            let Some(drawn) = self.draw(draft).await? else { return Ok(Ended::Cancelled) };
            let molecules = drawn.draft.molecules();
            if molecules.len() < self.size() {
                return Ok(Ended::Refused(self.unreachable(molecules.len())));
            }
            match database::within(DATABASE, self.store(molecules)).await? {
                Stored::Ended => return Ok(Ended::Done(())),
                // Not on the first failure: another chunk may have claimed some at the same moment, and released
                // others.
                Stored::NotAll(new) if drawn.is_last && last == Some(new) => {
                    return Ok(Ended::Refused(self.unreachable(new)));
                }
                Stored::NotAll(new) => {
                    (draft, last) = (drawn.draft, Some(new));
                    draft.grow(draft.molecules().len() + self.size() - new + SPARE);
                }
            }
        }
    }

    /// Draws all that `draft` lacks, or all that the model has, while the process runs no interactive sample; `None`
    /// if cancelled.
    async fn draw(&self, mut draft: Draft) -> Result<Option<Drawing>, HandlerError> {
        let (largest, least) = PARTS;
        let (mut part, mut is_interrupted) = (largest, false);
        while draft.molecules().len() < draft.size() {
            tokio::select! {
                biased;
                () = is_set(&self.context.cancelled) => return Ok(None),
                () = self.turn(is_interrupted) => {}
            }
            let ended;
            (draft, ended) = self.draw_part(draft, part).await?;
            match ended {
                Ok(()) => part = (2 * part).min(largest),
                Err(SampleError::Interrupted) => part = (part / 2).max(least),
                Err(SampleError::SizeUnreachable { .. }) => {
                    return Ok(Some(Drawing { draft, is_last: true }));
                }
                Err(fault) => return Err(fault.into()),
            }
            is_interrupted = ended.is_err();
        }
        Ok(Some(Drawing { draft, is_last: false }))
    }

    /// Resolves when no interactive sample runs.
    async fn turn(&self, is_interrupted: bool) {
        let activity = &self.orders.activity;
        if is_interrupted {
            // Interactive answers are still being sent, and use the same cores.
            let _ = tokio::time::timeout(COURTESY, activity.quiet()).await;
        }
        activity.idle().await;
    }

    /// Draws `part` more molecules, unless an interactive sample arrives.
    async fn draw_part(
        &self,
        mut draft: Draft,
        part: usize,
    ) -> Result<(Draft, Result<(), SampleError>), HandlerError> {
        let stop = StopOnDrop::default();
        let budget = Budget { deadline: None, cancelled: Arc::clone(&stop.0) };
        let model = Arc::clone(&self.model);
        let mut work = compute_aside(move || {
            let aim = draft.molecules().len() + part;
            let ended = model.sampler.go_on(&mut draft, aim, &budget);
            (draft, ended)
        });
        let drawn = tokio::select! {
            drawn = &mut work => drawn,
            () = self.orders.activity.busy() => {
                drop(stop);
                work.await
            }
            () = is_set(&self.context.cancelled) => {
                drop(stop);
                work.await
            }
        };
        metrics::drawn(self.model.id(), self.model.sampler.take_tally());
        Ok(drawn?)
    }

    /// Stores a sample of the first of `candidates`; for a batch, of those that no other chunk has. The terminal
    /// states of the asynchronous sample and of its job are stored in the same transaction.
    async fn store(&self, candidates: &[String]) -> Result<Stored, HandlerError> {
        let id = self.job.sample_id.to_string();
        let mut transaction = self.orders.pool.begin().await?;
        if !orders::lock(&mut transaction, &id).await? {
            transaction.rollback().await?;
            store(&self.orders.pool, &self.context, &Err(Problem::Cancelled)).await?;
            return Ok(Stored::Ended);
        }
        let molecules = match self.wanted.batch {
            Some(batch) => orders::claim(&mut transaction, batch, candidates, self.size()).await?,
            None => candidates[..self.size()].to_vec(),
        };
        if molecules.len() < self.size() {
            transaction.rollback().await?;
            return Ok(Stored::NotAll(molecules.len()));
        }
        match self.context.finish(&mut transaction, &Ok(())).await? {
            Finished::Superseded => transaction.rollback().await?,
            Finished::Stored => {
                orders::complete(&mut transaction, &id).await?;
                let drawn = Drawn { model_id: self.model.id().to_owned(), smiles: molecules };
                samples::insert(&mut transaction, &self.sample_job(), &drawn).await?;
                transaction.commit().await?;
                metrics::stored(self.model.id(), 0, self.size());
                info!(sample.id = id, sample.size = self.job.size, "order done");
                self.forget_claims().await;
            }
        }
        Ok(Stored::Ended)
    }

    /// Claims that remain are deleted with their batch.
    async fn forget_claims(&self) {
        if let Some(batch) = self.wanted.batch
            && let Err(fault) = orders::forget_claims(&self.orders.pool, batch).await
        {
            warn!("the claims of a batch that is made could not be deleted: {fault}");
        }
    }

    /// Converts the asynchronous sample to the job of an interactive one.
    fn sample_job(&self) -> SampleJob {
        SampleJob {
            sample_id: self.job.sample_id,
            account_id: self.wanted.account_id.clone(),
            size: self.job.size,
            model_id: Some(self.job.model_id.clone()),
            seed: self.wanted.seed,
            deadline: Utc::now(),
        }
    }

    /// Number of molecules requested.
    fn size(&self) -> usize {
        usize::try_from(self.job.size).unwrap_or(usize::MAX)
    }

    fn unreachable(&self, reached: usize) -> Problem {
        let reached = u32::try_from(reached).unwrap_or(u32::MAX);
        Problem::SizeUnreachable { model_id: self.job.model_id.clone(), wanted: self.job.size, reached }
    }
}

/// Molecules drawn so far.
struct Drawing {
    draft: Draft,
    /// Set when the model can give no more.
    is_last: bool,
}

/// Outcome of storing a sample.
enum Stored {
    /// The job is over.
    Ended,
    /// Nothing is stored: only this number of molecules, too few, is free of other chunks' claims.
    NotAll(usize),
}

/// Resolves when `flag` is true.
async fn is_set(flag: &AtomicBool) {
    while !flag.load(Ordering::Acquire) {
        tokio::time::sleep(LOOK).await;
    }
}
