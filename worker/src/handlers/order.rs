//! An order's job: a sample that nobody waits for, made while no sample is made that somebody waits for.
//!
//! It takes nothing that lies ready, which is kept for those who wait: all of its molecules are drawn. They are drawn a block at a time,
//! and what is being drawn when somebody asks for a sample is given up at once, as a block of the reservoir is. A chunk of a batch
//! claims its molecules in the transaction that stores it; those that another chunk has are drawn anew.

use std::{
    collections::HashSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use chrono::Utc;
use contract::{OrderJob, Problem, SampleJob, StoredOrderJob};
use generator::{Budget, SampleError};
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

/// Draws in a row that brought nothing, after which the model is believed to have no more.
const BARREN_DRAWS: u32 = 10;

/// How many more are drawn than are missing where some of what was drawn turned out not to be new.
const SPARE: usize = 50;

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
        let (mut seen, mut new) = (HashSet::new(), Vec::with_capacity(self.size()));
        let (mut draws, mut barren, mut spare) = (0, 0, 0);
        while barren < BARREN_DRAWS {
            let asked = (self.size() - new.len() + spare).min(BLOCK);
            let drawn = match self.draw(asked, self.wanted.seed.wrapping_add(draws)).await? {
                Ended::Done(drawn) => drawn,
                // Without the spare ones it may have as many.
                Ended::Refused(_) if spare > 0 => {
                    spare /= 2;
                    continue;
                }
                Ended::Refused(problem) => return Ok(Ended::Refused(problem)),
                Ended::Cancelled => return Ok(Ended::Cancelled),
            };
            draws += 1;
            let before = new.len();
            new.extend(drawn.into_iter().filter(|one| seen.insert(one.clone())));
            if new.len() >= self.size() {
                match database::within(DATABASE, self.store(&new)).await? {
                    Stored::Ended => return Ok(Ended::Done(())),
                    Stored::NotAll(unclaimed) => (new, spare) = (unclaimed, SPARE),
                }
            }
            barren = if new.len() > before { 0 } else { barren + 1 };
        }
        Ok(Ended::Refused(self.unreachable(new.len())))
    }

    /// Draws `size` molecules while nobody waits for a sample of this process, however often it has to begin anew for that.
    async fn draw(&self, size: usize, seed: u64) -> Result<Ended<Vec<String>>, HandlerError> {
        let cancelled = &self.context.cancelled;
        let mut is_interrupted = false;
        loop {
            let wait = async {
                if is_interrupted {
                    self.orders.activity.quiet().await;
                }
                self.orders.activity.idle().await;
            };
            tokio::select! {
                biased;
                () = is_set(cancelled) => return Ok(Ended::Cancelled),
                () = wait => {}
            }
            let stop = StopOnDrop::default();
            let budget = Budget { deadline: None, cancelled: Arc::clone(&stop.0) };
            let model = Arc::clone(&self.model);
            let mut work = compute_aside(move || model.sampler.sample(size, seed, &budget));
            let drawn = tokio::select! {
                drawn = &mut work => drawn,
                () = self.orders.activity.busy() => {
                    drop(stop);
                    work.await
                }
                () = is_set(cancelled) => {
                    drop(stop);
                    work.await
                }
            };
            metrics::drawn(self.model.id(), self.model.sampler.take_tally());
            match drawn? {
                Ok(molecules) => return Ok(Ended::Done(molecules)),
                Err(SampleError::Interrupted) => is_interrupted = true,
                Err(SampleError::SizeUnreachable { reached, .. }) => {
                    return Ok(Ended::Refused(self.unreachable(reached)));
                }
                Err(fault) => return Err(fault.into()),
            }
        }
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
            return Ok(Stored::NotAll(molecules));
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

/// What came of storing a sample.
enum Stored {
    /// The job is over.
    Ended,
    /// Nothing is stored: these molecules alone, too few, are no other chunk's.
    NotAll(Vec<String>),
}

/// Resolves when `flag` is true.
async fn is_set(flag: &AtomicBool) {
    while !flag.load(Ordering::Acquire) {
        tokio::time::sleep(LOOK).await;
    }
}
