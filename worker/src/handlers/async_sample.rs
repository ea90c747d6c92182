//! Handler of asynchronous samples, which run while no interactive sample does.
//!
//! It takes nothing from the reservoir, which is kept for interactive samples: all of its molecules are drawn.
//! Drawing stops immediately when an interactive sample arrives, and resumes later with all molecules drawn so far.
//! Molecules are drawn in parts. The part size is halved after each interruption, since fewer strings finish sooner;
//! so even short gaps between interactive samples are used. A chunk of a batch claims its molecules in the
//! transaction that stores it, and draws further ones in place of those that another chunk has.

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

/// Extra molecules drawn beyond the missing number when some of the drawn ones were not new.
const SPARE_MOLECULES: usize = 50;

/// Molecules of the largest and of the smallest part.
const PARTS: (usize, usize) = (BLOCK_SIZE, 8);

/// Maximum time of drawing under conditions, without interruptions; of makeable molecules, with checking their routes.
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
        (StoredAsyncSampleJob::V1(job) | StoredAsyncSampleJob::V2(job) | StoredAsyncSampleJob::V3(job)): StoredAsyncSampleJob,
    ) -> Result<(), HandlerError> {
        let id = job.sample_id.to_string();
        let Some(wanted) =
            database::within(DATABASE_TIMEOUT, async_samples::read_parameters(&self.pool, &id)).await?
        else {
            return store(&self.pool, &context, &Err(JobFailure::Cancelled)).await;
        };
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
        let mut makeable = MakeableMolecules::default();
        let latest = Instant::now() + MAX_CONDITIONED_TIME;
        let first = if limits.is_some() { makeable.next_aim(self.size()) } else { self.size() };
        let mut draft = PartialSample::new(first, self.wanted.seed);
        let mut last = None;
        loop {
            let drawn = match self.draw(draft).await? {
                ComputationOutcome::Done(drawn) => drawn,
                ComputationOutcome::Refused(problem) => return Ok(ComputationOutcome::Refused(problem)),
                ComputationOutcome::Cancelled => return Ok(ComputationOutcome::Cancelled),
            };
            if let Some(limits) = limits {
                let checked =
                    makeable.check(drawn.draft.molecules(), &self.route_check(limits, latest)).await?;
                let is_late = match checked {
                    ComputationOutcome::Done(()) => false,
                    ComputationOutcome::Refused(JobFailure::DeadlinePassed) => true,
                    ended => return Ok(ended),
                };
                if makeable.smiles().len() < self.size() {
                    if drawn.is_last || is_late {
                        let others = self.conditions.refusals(drawn.draft.refused());
                        return Ok(ComputationOutcome::Refused(makeable.too_few(self.job.size, others)));
                    }
                    draft = drawn.draft;
                    draft.grow(makeable.next_aim(self.size()));
                    continue;
                }
            }
            let molecules = if limits.is_some() { makeable.smiles() } else { drawn.draft.molecules() };
            if molecules.len() < self.size() {
                return Ok(ComputationOutcome::Refused(self.unreachable(molecules.len(), &drawn.refused)));
            }
            let details = self.details(molecules).await?;
            let details = match limits {
                Some(_) => details.map(|details| makeable.complete(details)),
                None => details,
            };
            match database::within(DATABASE_TIMEOUT, self.store(molecules, details)).await? {
                StoreOutcome::Ended => return Ok(ComputationOutcome::Done(())),
                // Not on the first failure: another chunk may have claimed some at the same moment, and released
                // others.
                StoreOutcome::NotAll(new) if drawn.is_last && last == Some(new) => {
                    return Ok(ComputationOutcome::Refused(self.unreachable(new, &drawn.refused)));
                }
                StoreOutcome::NotAll(new) => {
                    (draft, last) = (drawn.draft, Some(new));
                    draft.grow(draft.molecules().len() + self.size() - new + SPARE_MOLECULES);
                }
            }
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

    /// Draws all that `draft` lacks, or all that the model has, while the process runs no interactive sample. Under
    /// conditions, it gives up after some time of drawing.
    async fn draw(
        &self,
        mut draft: PartialSample,
    ) -> Result<ComputationOutcome<DrawnMolecules>, HandlerError> {
        let (largest, least) = PARTS;
        let (mut part, mut is_interrupted) = (largest, false);
        let mut time_left = MAX_CONDITIONED_TIME;
        while draft.molecules().len() < draft.size() {
            tokio::select! {
                biased;
                () = is_set(&self.context.cancelled) => return Ok(ComputationOutcome::Cancelled),
                () = self.yield_to_others(is_interrupted) => {}
            }
            let begun = Instant::now();
            let ended;
            (draft, ended) = self.draw_part(draft, part, begun + time_left).await?;
            if self.conditions.are_narrow() {
                time_left = time_left.saturating_sub(begun.elapsed());
            }
            is_interrupted = ended.is_err();
            match ended {
                Ok(()) => part = (2 * part).min(largest),
                Err(SampleError::Interrupted { .. }) if !time_left.is_zero() => part = (part / 2).max(least),
                Err(
                    SampleError::Interrupted { refused, .. } | SampleError::SizeUnreachable { refused, .. },
                ) => {
                    return Ok(ComputationOutcome::Done(DrawnMolecules { draft, is_last: true, refused }));
                }
                Err(SampleError::Unwritable { .. }) => {
                    return Ok(ComputationOutcome::Refused(self.conditions.unwritable()));
                }
                Err(fault) => return Err(fault.into()),
            }
        }
        Ok(ComputationOutcome::Done(DrawnMolecules { draft, is_last: false, refused: Vec::new() }))
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

    /// Stores a sample of the first of `candidates`; for a batch, of those that no other chunk has. The terminal
    /// states of the asynchronous sample and of its job are stored in the same transaction.
    async fn store(
        &self,
        candidates: &[String],
        details: Option<MoleculeDetails>,
    ) -> Result<StoreOutcome, HandlerError> {
        let id = self.job.sample_id.to_string();
        let mut transaction = self.handler.pool.begin().await?;
        if !async_samples::lock(&mut transaction, &id).await? {
            transaction.rollback().await?;
            store(&self.handler.pool, &self.context, &Err(JobFailure::Cancelled)).await?;
            return Ok(StoreOutcome::Ended);
        }
        let molecules = match self.wanted.batch {
            Some(batch) => async_samples::claim(&mut transaction, batch, candidates, self.size()).await?,
            None => candidates[..self.size()].to_vec(),
        };
        if molecules.len() < self.size() {
            transaction.rollback().await?;
            return Ok(StoreOutcome::NotAll(molecules.len()));
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
        Ok(StoreOutcome::Ended)
    }

    /// Computes the details of the sample, if it has any: then it is no chunk, and has the first of `candidates`.
    async fn details(&self, candidates: &[String]) -> Result<Option<MoleculeDetails>, HandlerError> {
        if !self.job.details {
            return Ok(None);
        }
        let (model, smiles) = (Arc::clone(&self.model), candidates[..self.size()].to_vec());
        let details = compute_in_background(move || details(&model, &smiles)).await??;
        Ok(Some(details))
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

    fn unreachable(&self, reached: usize, refused: &[u64]) -> JobFailure {
        let wanted = self.job.size;
        self.conditions.too_narrow(wanted, reached, refused).unwrap_or_else(|| JobFailure::SizeUnreachable {
            model_id: self.job.model_id.clone(),
            wanted,
            reached: u32::try_from(reached).unwrap_or(u32::MAX),
        })
    }
}

/// Molecules drawn so far.
struct DrawnMolecules {
    draft: PartialSample,
    /// Set when the model can give no more.
    is_last: bool,
    /// Refused candidates of a draft that is not complete, by check.
    refused: Vec<u64>,
}

/// Outcome of storing a sample.
enum StoreOutcome {
    /// The job is over.
    Ended,
    /// Nothing is stored: only this number of molecules, too few, is free of other chunks' claims.
    NotAll(usize),
}
