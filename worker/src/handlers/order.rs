//! An order's job: a sample that nobody waits for, made while no sample is made that somebody waits for.
//!
//! It takes nothing that lies ready, which is kept for those who wait: all of its molecules are drawn. Drawing stops at once when somebody
//! asks for a sample, and goes on where it was when nobody does: what has been drawn is kept. It is drawn in parts, half as large after each
//! interruption, since fewer strings are sooner at their end: so something comes of every moment between two callers. A chunk of a
//! batch claims its molecules in the transaction that stores it; for those that another chunk has, further ones are drawn.

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

/// How many more are drawn than are missing where some of what was drawn turned out not to be new.
const SPARE: usize = 50;

/// Molecules of the largest part and of the least.
const PARTS: (usize, usize) = (BLOCK, 8);

/// How long callers who come one upon the other are waited for until none has come for a moment; then each moment without one is used.
const COURTESY: Duration = Duration::from_millis(200);

/// How often it is asked whether the order is still wanted.
const LOOK: Duration = Duration::from_millis(50);

/// Runs orders' jobs.
#[derive(Debug, Clone)]
pub struct Orders {
    /// Connections whose commits wait for the disk: what is acknowledged is never lost.
    pub pool: PgPool,
    /// The models of this process.
    pub shelf: Arc<Shelf>,
    /// What orders make way for.
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

/// An order that is being made.
struct Making<'a> {
    orders: &'a Orders,
    context: JobContext<StoredOrderJob>,
    job: OrderJob,
    wanted: orders::Wanted,
    model: Arc<Model>,
}

impl Making<'_> {
    /// Draws until there are as many new molecules as are wanted, and stores them.
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
                // Not at the first time: another chunk may have taken some at the same moment, and left others.
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

    /// Draws all that `draft` lacks, or all that the model has, while nobody waits for a sample of this process; `None` where the order is
    /// cancelled.
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

    /// Resolves when nobody waits for a sample.
    async fn turn(&self, is_interrupted: bool) {
        let activity = &self.orders.activity;
        if is_interrupted {
            // Their answers are on their way, and take the same cores.
            let _ = tokio::time::timeout(COURTESY, activity.quiet()).await;
        }
        activity.idle().await;
    }

    /// Draws so many molecules more, unless somebody asks for a sample meanwhile.
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

    /// Stores a sample of the first of `candidates`, of a batch those that no other chunk has, with its order's end and its job's, so that
    /// none is ever without the others.
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

    /// Claims that stay here go with their batch.
    async fn forget_claims(&self) {
        if let Some(batch) = self.wanted.batch
            && let Err(fault) = orders::forget_claims(&self.orders.pool, batch).await
        {
            warn!("the claims of a batch that is made could not be deleted: {fault}");
        }
    }

    /// The order as the job of a sample that somebody waits for.
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

    /// Molecules wanted.
    fn size(&self) -> usize {
        usize::try_from(self.job.size).unwrap_or(usize::MAX)
    }

    fn unreachable(&self, reached: usize) -> Problem {
        let reached = u32::try_from(reached).unwrap_or(u32::MAX);
        Problem::SizeUnreachable { model_id: self.job.model_id.clone(), wanted: self.job.size, reached }
    }
}

/// What was drawn for an order.
struct Drawing {
    draft: Draft,
    /// Whether the model has no more.
    is_last: bool,
}

/// What came of storing a sample.
enum Stored {
    /// The job is over.
    Ended,
    /// Nothing is stored: only so many molecules, too few, are no other chunk's.
    NotAll(usize),
}

/// Resolves when `flag` is true.
async fn is_set(flag: &AtomicBool) {
    while !flag.load(Ordering::Acquire) {
        tokio::time::sleep(LOOK).await;
    }
}
