//! Handler of asynchronous samples, which run while no interactive sample does.
//!
//! It takes nothing from the reservoir, which is kept for interactive samples: all of its molecules are drawn.
//! Drawing stops immediately when an interactive sample arrives, and resumes later with all molecules drawn so far.
//! Molecules are drawn in parts. The part size is halved after each interruption, since fewer strings finish sooner;
//! so even short gaps between interactive samples are used. A chunk of a batch claims its molecules in the
//! transaction that stores it, and draws further ones in place of those that another chunk has. If too few molecules
//! satisfy its conditions, the other chunks of the batch do not try.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use chrono::Utc;
use contract::{AsyncSampleJob, JobFailure, MoleculeDetails, RouteLimits, SampleJob, StoredAsyncSampleJob};
use generator::{PartialSample, SampleBudget, SampleError};
use queue::{FinishResult, Handler, HandlerError, JobContext};
use sqlx::PgPool;
use tracing::{info, warn};

use super::{ComputationOutcome, DATABASE_TIMEOUT, is_set, store};
use crate::{
    LoadedModel, ModelRegistry, RunningJobs, async_samples,
    compute::compute_in_background,
    conditions::DrawConditions,
    makeable::{MakeableMolecules, RouteCheck, RouteChecker},
    metrics,
    molecule_details::details,
    refill::StopOnDrop,
    reservoir::BLOCK_SIZE,
    samples::{self, CompletedSample},
};

/// Least number of molecules drawn beyond the missing ones when some of the drawn ones were not new.
const SPARE_MOLECULES: usize = 50;

/// Molecules of the largest and of the smallest part.
const PARTS: (usize, usize) = (BLOCK_SIZE, 8);

/// Maximum time of drawing under conditions, without interruptions; of makeable molecules, with interruptions and
/// with checking their routes.
const MAX_CONDITIONED_TIME: Duration = Duration::from_secs(3600);

/// Time for which a sample of makeable molecules waits while no searcher runs. Searchers restart in less.
const SEARCHER_PATIENCE: Duration = Duration::from_secs(120);

/// Longest wait for a gap in a burst of interactive samples; after it every gap is used.
const YIELD_TIME: Duration = Duration::from_millis(200);

/// Handler of asynchronous samples.
#[derive(Debug, Clone)]
pub struct AsyncSampleHandler {
    /// Connections with synchronous commit: what is acknowledged is never lost.
    pub pool: PgPool,
    /// Models of this process.
    pub registry: Arc<ModelRegistry>,
    /// Running interactive samples; asynchronous ones yield to them.
    pub activity: RunningJobs,
    /// Access to searchers, for samples of makeable molecules.
    pub routes: RouteChecker,
}

impl Handler<StoredAsyncSampleJob> for AsyncSampleHandler {
    async fn handle(
        &self,
        context: JobContext<StoredAsyncSampleJob>,
        job: StoredAsyncSampleJob,
    ) -> Result<(), HandlerError> {
        let job = job.job().clone();
        let id = job.sample_id.to_string();
        let Some(wanted) =
            database::within(DATABASE_TIMEOUT, async_samples::read_parameters(&self.pool, &id)).await?
        else {
            return store(&self.pool, &context, &Err(JobFailure::Cancelled)).await;
        };
        if let Some(failure) = wanted.too_narrow {
            return store(&self.pool, &context, &Err(failure)).await;
        }
        let Some(model) = self.registry.models().choose(Some(&job.model_id)).cloned() else {
            let problem = JobFailure::UnknownModel { model_id: job.model_id };
            return store(&self.pool, &context, &Err(problem)).await;
        };
        let excluded = samples::excluded(&self.pool, &job.conditions.exclude);
        let excluded = database::within(DATABASE_TIMEOUT, excluded).await?;
        let conditions = Arc::new(DrawConditions::new(&job.conditions, excluded)?);
        let making = AsyncSampleRun { handler: self, context, job, wanted, model, conditions };
        match making.make().await? {
            ComputationOutcome::Done(()) | ComputationOutcome::Cancelled => Ok(()),
            ComputationOutcome::Refused(problem) => store(&self.pool, &making.context, &Err(problem)).await,
        }
    }
}

/// Asynchronous sample in progress.
struct AsyncSampleRun<'a> {
    handler: &'a AsyncSampleHandler,
    context: JobContext<StoredAsyncSampleJob>,
    job: AsyncSampleJob,
    wanted: async_samples::AsyncSampleParameters,
    model: Arc<LoadedModel>,
    conditions: Arc<DrawConditions>,
}

impl AsyncSampleRun<'_> {
    /// Draws until there are enough new molecules, and stores them.
    async fn make(&self) -> Result<ComputationOutcome<()>, HandlerError> {
        let limits = self.job.conditions.synthesizable.as_ref();
        let mut makeable = limits.map(|_| MakeableMolecules::default());
        let latest = Instant::now() + MAX_CONDITIONED_TIME;
        let mut time_left = MAX_CONDITIONED_TIME;
        let mut draft = PartialSample::new(next_draft(makeable.as_ref(), self.size()), self.wanted.seed);
        loop {
            let mut is_last;
            (draft, is_last) = match self.draw(draft, &mut time_left).await? {
                ComputationOutcome::Done(drawn) => drawn,
                ComputationOutcome::Refused(problem) => return Ok(ComputationOutcome::Refused(problem)),
                ComputationOutcome::Cancelled => return Ok(ComputationOutcome::Cancelled),
            };
            if let (Some(limits), Some(makeable)) = (limits, &mut makeable) {
                match makeable.check(draft.molecules(), &self.route_check(limits, latest)).await? {
                    ComputationOutcome::Done(()) => {}
                    ComputationOutcome::Refused(JobFailure::DeadlinePassed) => is_last = true,
                    ended => return Ok(ended),
                }
            }
            let candidates = makeable.as_ref().map_or(draft.molecules(), MakeableMolecules::smiles);
            let new = match self.store_new(candidates, makeable.as_ref()).await? {
                StoreOutcome::Ended => return Ok(ComputationOutcome::Done(())),
                StoreOutcome::TooFew(new) => new,
            };
            if is_last {
                return Ok(ComputationOutcome::Refused(self.too_few(new, &draft, makeable.as_ref())));
            }
            let aim = next_aim(self.size(), candidates.len(), new);
            draft.grow(next_draft(makeable.as_ref(), aim));
        }
    }

    /// Returns the check of routes, until `deadline`.
    fn route_check<'a>(&'a self, limits: &'a RouteLimits, deadline: Instant) -> RouteCheck<'a> {
        RouteCheck {
            checker: &self.handler.routes,
            account_id: &self.wanted.account_id,
            limits,
            deadline,
            patience: SEARCHER_PATIENCE,
            cancelled: &self.context.cancelled,
        }
    }

    /// Draws all that `draft` lacks, while the process runs no interactive sample. Under conditions, `time_left` bounds
    /// the time of drawing, which is taken from it. Returns true with the draft if it can get no more molecules.
    async fn draw(
        &self,
        mut draft: PartialSample,
        time_left: &mut Duration,
    ) -> Result<ComputationOutcome<(PartialSample, bool)>, HandlerError> {
        let (largest, least) = PARTS;
        let (mut part, mut is_interrupted) = (largest, false);
        while draft.molecules().len() < draft.size() {
            tokio::select! {
                biased;
                () = is_set(&self.context.cancelled) => return Ok(ComputationOutcome::Cancelled),
                () = self.yield_to_others(is_interrupted) => {}
            }
            let begun = Instant::now();
            let ended;
            (draft, ended) = self.draw_part(draft, part, begun + *time_left).await?;
            if self.conditions.are_narrow() {
                *time_left = time_left.saturating_sub(begun.elapsed());
            }
            is_interrupted = ended.is_err();
            match ended {
                Ok(()) => part = (2 * part).min(largest),
                Err(SampleError::Interrupted { .. }) if !time_left.is_zero() => part = (part / 2).max(least),
                Err(SampleError::Interrupted { .. } | SampleError::SizeUnreachable { .. }) => {
                    return Ok(ComputationOutcome::Done((draft, true)));
                }
                Err(SampleError::Unwritable { .. }) => {
                    return Ok(ComputationOutcome::Refused(self.conditions.unwritable()));
                }
                Err(fault) => return Err(fault.into()),
            }
        }
        Ok(ComputationOutcome::Done((draft, false)))
    }

    /// Resolves when no interactive sample runs.
    async fn yield_to_others(&self, is_interrupted: bool) {
        let activity = &self.handler.activity;
        if is_interrupted {
            // Interactive answers are still being sent, and use the same cores.
            let _ = tokio::time::timeout(YIELD_TIME, activity.quiet()).await;
        }
        activity.idle().await;
    }

    /// Draws `part` more molecules, unless an interactive sample arrives or, under conditions, `latest` passes.
    async fn draw_part(
        &self,
        mut draft: PartialSample,
        part: usize,
        latest: Instant,
    ) -> Result<(PartialSample, Result<(), SampleError>), HandlerError> {
        let stop = StopOnDrop::default();
        let deadline = self.conditions.are_narrow().then_some(latest);
        let budget = SampleBudget { deadline, cancelled: Arc::clone(&stop.0) };
        let (model, conditions) = (Arc::clone(&self.model), Arc::clone(&self.conditions));
        let mut work = compute_in_background(move || {
            let aim = draft.molecules().len() + part;
            let (options, filter) = (&conditions.options, conditions.filter());
            let ended = model.sampler.resume_filtered(&mut draft, aim, options, filter, &budget);
            (draft, ended)
        });
        let drawn = tokio::select! {
            drawn = &mut work => drawn,
            () = self.handler.activity.busy() => {
                drop(stop);
                work.await
            }
            () = is_set(&self.context.cancelled) => {
                drop(stop);
                work.await
            }
        };
        metrics::drawn(self.model.id(), self.model.sampler.take_counts());
        Ok(drawn?)
    }

    /// Stores a sample of the first of `candidates`; for a batch, of those that no other chunk has.
    async fn store_new(
        &self,
        candidates: &[String],
        makeable: Option<&MakeableMolecules>,
    ) -> Result<StoreOutcome, HandlerError> {
        if candidates.len() < self.size() {
            return Ok(StoreOutcome::TooFew(candidates.len()));
        }
        loop {
            let molecules = match self.wanted.batch {
                None => candidates[..self.size()].to_vec(),
                Some(batch) => {
                    let pool = &self.handler.pool;
                    let unclaimed = async_samples::unclaimed(pool, batch, candidates, self.size());
                    database::within(DATABASE_TIMEOUT, unclaimed).await?
                }
            };
            if molecules.len() < self.size() {
                return Ok(StoreOutcome::TooFew(molecules.len()));
            }
            let (molecules, details) = self.details(molecules, makeable).await?;
            // Else another chunk has stored one of the molecules since, which happens at most once a chunk.
            if database::within(DATABASE_TIMEOUT, self.store(molecules, details)).await? {
                return Ok(StoreOutcome::Ended);
            }
        }
    }

    /// Stores a sample of these molecules; false if another chunk of the batch has one of them. The terminal states of
    /// the asynchronous sample and of its job are stored in the same transaction.
    async fn store(
        &self,
        molecules: Vec<String>,
        details: Option<MoleculeDetails>,
    ) -> Result<bool, HandlerError> {
        let id = self.job.sample_id.to_string();
        let mut transaction = self.handler.pool.begin().await?;
        if !async_samples::lock(&mut transaction, &id).await? {
            transaction.rollback().await?;
            store(&self.handler.pool, &self.context, &Err(JobFailure::Cancelled)).await?;
            return Ok(true);
        }
        if let Some(batch) = self.wanted.batch
            && !async_samples::claim(&mut transaction, batch, &molecules).await?
        {
            transaction.rollback().await?;
            return Ok(false);
        }
        match self.context.finish(&mut transaction, &Ok(())).await? {
            FinishResult::Superseded => transaction.rollback().await?,
            FinishResult::Stored => {
                async_samples::complete(&mut transaction, &id).await?;
                let model_id = self.model.id().to_owned();
                let drawn = CompletedSample { model_id, smiles: molecules, details, ready: 0 };
                samples::insert(&mut transaction, &self.sample_job(), &drawn).await?;
                transaction.commit().await?;
                metrics::stored(self.model.id(), 0, self.size());
                info!(sample.id = id, sample.size = self.job.size, "asynchronous sample done");
                self.forget_claims().await;
            }
        }
        Ok(true)
    }

    /// Computes the details of the sample's molecules, if it has any; of makeable ones, with their routes.
    async fn details(
        &self,
        molecules: Vec<String>,
        makeable: Option<&MakeableMolecules>,
    ) -> Result<(Vec<String>, Option<MoleculeDetails>), HandlerError> {
        if !self.job.details {
            return Ok((molecules, None));
        }
        let model = Arc::clone(&self.model);
        let computing = move || {
            let details = details(&model, &molecules);
            (molecules, details)
        };
        let (molecules, details) = compute_in_background(computing).await?;
        let details = match makeable {
            Some(makeable) => makeable.complete(&molecules, details?),
            None => details?,
        };
        Ok((molecules, Some(details)))
    }

    /// Claims that remain are deleted with their batch.
    async fn forget_claims(&self) {
        if let Some(batch) = self.wanted.batch
            && let Err(fault) = async_samples::forget_claims(&self.handler.pool, batch).await
        {
            warn!("the claims of a completed batch could not be deleted: {fault}");
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
            conditions: self.job.conditions.clone(),
            details: self.job.details,
            deadline: Utc::now(),
        }
    }

    /// Number of molecules requested.
    fn size(&self) -> usize {
        usize::try_from(self.job.size).unwrap_or(usize::MAX)
    }

    /// Returns the failure of a sample that has `found` molecules and cannot get more.
    fn too_few(
        &self,
        found: usize,
        draft: &PartialSample,
        makeable: Option<&MakeableMolecules>,
    ) -> JobFailure {
        let wanted = self.job.size;
        if let Some(makeable) = makeable {
            return makeable.too_few(wanted, found, self.conditions.refusals(draft.refused()));
        }
        let too_narrow = self.conditions.too_narrow(wanted, found, draft.refused());
        too_narrow.unwrap_or_else(|| JobFailure::SizeUnreachable {
            model_id: self.job.model_id.clone(),
            wanted,
            reached: u32::try_from(found).unwrap_or(u32::MAX),
        })
    }
}

/// Returns the number of candidates to have next in all, for a sample of `size`, if `new` of the `candidates` so far
/// can be used.
///
/// It expects the same share of new ones, and at most doubles their number.
fn next_aim(size: usize, candidates: usize, new: usize) -> usize {
    if candidates < size {
        return size;
    }
    let missing = size.saturating_sub(new);
    let least = missing + SPARE_MOLECULES;
    candidates + (missing * candidates / new.max(1)).clamp(least, least.max(candidates))
}

/// Returns the size of the next draft, of which `aim` candidates are to come: all of its molecules, or those that are
/// makeable.
fn next_draft(makeable: Option<&MakeableMolecules>, aim: usize) -> usize {
    makeable.map_or(aim, |makeable| makeable.next_aim(aim))
}

/// Outcome of storing a sample.
enum StoreOutcome {
    /// The job is over.
    Ended,
    /// Nothing is stored: only this number of candidates is free of other chunks' claims.
    TooFew(usize),
}
