//! Handler of sample jobs: choose a model, take ready molecules, draw the missing ones, store all at once.
//!
//! If all molecules are ready, one short transaction does everything. Otherwise the sample leases the ready ones, under
//! conditions those that satisfy them. It draws the rest without a connection, and stores in one short transaction. A
//! sample of makeable molecules takes those that lie ready, and asks searchers for the routes of others between its
//! draws.

use std::{
    collections::HashSet,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use catalogue_tables::{content, terms};
use contract::{JobFailure, RouteLimits, SampleJob, StoredSampleJob, TreeSearchRequest};
use generator::{PartialSample, SampleBudget, SampleError};
use queue::{FinishResult, Handler, HandlerError, JobContext};
use sqlx::{PgPool, Postgres, Transaction};
use tracing::{Span, field::Empty, info, info_span};

use super::{ComputationOutcome, DATABASE_TIMEOUT, store};
use crate::{
    LoadedModel, ModelRegistry, ReadyCounts, RunningJobs, compute,
    conditions::{DrawConditions, are_drawn_alike},
    makeable::{MakeableMolecules, RouteCheck, RouteChecker},
    makeable_reservoir::{self, MakeableRequest, MakeableSource},
    metrics,
    molecule_details::{details, with_details},
    reservoir::{self, Lease},
    reservoir_filter::{FilterRequest, ReadyMolecules, lease_filtered},
    samples::{self, CompletedSample},
};

/// Time after its deadline for which a sample is still finished. Its client has received a timeout, and finds the
/// sample in the list.
const LATE_FINISH_TIME: Duration = Duration::from_secs(30);
/// Time after the end of drawing within which a sample is surely stored; then its lease ends.
const STORE_TIME: Duration = Duration::from_secs(10);
/// Time before its deadline at which a conditioned sample is given up, so that its client learns the reason in time.
const REFUSAL_TIME: Duration = Duration::from_millis(500);

/// Handler of sample jobs.
#[derive(Debug, Clone)]
pub struct SampleHandler {
    /// Connections with synchronous commit: what is acknowledged is never lost.
    pub pool: PgPool,
    /// Models of this process.
    pub registry: Arc<ModelRegistry>,
    /// Running samples, to which the refilling of the reservoir yields.
    pub activity: RunningJobs,
    /// Counts of the reservoir's molecules.
    pub ready: ReadyCounts,
    /// Access to searchers, for samples of makeable molecules.
    pub routes: RouteChecker,
}

impl Handler<StoredSampleJob> for SampleHandler {
    async fn handle(
        &self,
        context: JobContext<StoredSampleJob>,
        (StoredSampleJob::V1(job) | StoredSampleJob::V2(job) | StoredSampleJob::V3(job)): StoredSampleJob,
    ) -> Result<(), HandlerError> {
        // A sample of makeable molecules mostly waits for searchers, and runs only while it draws.
        let _active = job.conditions.synthesizable.is_none().then(|| self.activity.begin());
        let Some(model) = self.registry.models().choose(job.model_id.as_deref()).cloned() else {
            let problem = JobFailure::UnknownModel { model_id: job.model_id.unwrap_or_default() };
            return store(&self.pool, &context, &Err(problem)).await;
        };
        let span = info_span!(
            "model.sample",
            sample.id = %job.sample_id,
            model.id = model.id(),
            sample.size = job.size,
            sample.conditioned = !job.conditions.is_empty(),
            sample.ready = Empty,
            sample.drawn = Empty,
        );
        let making = SampleRun { sampling: self, context, job, model, span };
        let conditions = Arc::new(making.conditions().await?);
        let Some((ready, lease)) = making.take_ready(&conditions).await? else { return Ok(()) };
        let ended = making.draw(ready, conditions).await;
        metrics::drawn(making.model.id(), making.model.sampler.take_counts());
        let stored = match &ended {
            Ok(ComputationOutcome::Done(sample)) => {
                database::within(DATABASE_TIMEOUT, making.store_with_lease(&lease, sample)).await
            }
            _ => Ok(FinishResult::Superseded),
        };
        if !matches!(stored, Ok(FinishResult::Stored)) {
            // The leased molecules are free for others immediately.
            database::within(DATABASE_TIMEOUT, reservoir::release_lease(&self.pool, &lease)).await?;
        }
        match ended? {
            ComputationOutcome::Refused(problem) => store(&self.pool, &making.context, &Err(problem)).await,
            ComputationOutcome::Done(sample) => {
                if stored? == FinishResult::Stored {
                    metrics::stored(making.model.id(), sample.ready, sample.smiles.len() - sample.ready);
                }
                Ok(())
            }
            ComputationOutcome::Cancelled => Ok(()),
        }
    }
}

/// Molecules found in the reservoir.
enum ReservoirHit {
    /// All of them; the job is over.
    All,
    Some,
    Nothing,
}

/// Sample in progress.
struct SampleRun<'a> {
    sampling: &'a SampleHandler,
    context: JobContext<StoredSampleJob>,
    job: SampleJob,
    model: Arc<LoadedModel>,
    span: Span,
}

impl SampleRun<'_> {
    /// Stores the sample if all of it is ready.
    async fn hand_out(&self) -> Result<ReservoirHit, HandlerError> {
        // A rollback returns the molecules to the reservoir.
        let mut transaction = self.sampling.pool.begin().await?;
        let smiles = reservoir::take(&mut transaction, &self.model, size(&self.job)).await?;
        if smiles.len() < size(&self.job) {
            transaction.rollback().await?;
            return Ok(if smiles.is_empty() { ReservoirHit::Nothing } else { ReservoirHit::Some });
        }
        self.span.record("sample.ready", smiles.len());
        self.span.record("sample.drawn", 0);
        let ready = smiles.len();
        let sample = CompletedSample { model_id: self.model.id().to_owned(), smiles, details: None, ready };
        if self.store(transaction, &sample).await? == FinishResult::Stored {
            self.sampling.ready.fewer(&self.model, sample.smiles.len());
            metrics::stored(self.model.id(), sample.smiles.len(), 0);
        }
        Ok(ReservoirHit::All)
    }

    /// Returns ready molecules, and their lease until the rest is drawn. `None` if all were ready and the job is over.
    async fn take_ready(
        &self,
        conditions: &Arc<DrawConditions>,
    ) -> Result<Option<(ReadyMolecules, Lease)>, HandlerError> {
        let wanted = &self.job.conditions;
        // A retry draws all molecules again: whatever failed before, that needs only the model.
        if self.context.attempt > 1 || wanted.synthesizable.is_some() || !are_drawn_alike(wanted) {
            return Ok(Some(Default::default()));
        }
        // Details are computed while the molecules are leased.
        let found = match wanted.is_empty() && !self.job.details {
            true => database::within(DATABASE_TIMEOUT, self.hand_out()).await?,
            false => ReservoirHit::Some,
        };
        match found {
            ReservoirHit::All => Ok(None),
            ReservoirHit::Some => database::within(DATABASE_TIMEOUT, self.lease(conditions)).await.map(Some),
            ReservoirHit::Nothing => Ok(Some(Default::default())),
        }
    }

    /// Leases the ready molecules that satisfy the conditions.
    async fn lease(&self, conditions: &Arc<DrawConditions>) -> Result<(ReadyMolecules, Lease), HandlerError> {
        let last = self.context.deadline + LATE_FINISH_TIME + STORE_TIME;
        let time = last.saturating_duration_since(Instant::now());
        let (pool, holder, size) = (&self.sampling.pool, &self.context.id.to_string(), size(&self.job));
        let (ready, lease) = match conditions.filter() {
            None => {
                let (smiles, lease) = reservoir::lease(pool, &self.model, size, holder, time).await?;
                (smiles.into(), lease)
            }
            Some(_) => {
                let budget = &self.budget(conditions);
                let request = FilterRequest { size, conditions, budget, holder, time };
                lease_filtered(pool, &self.model, &request).await?
            }
        };
        self.sampling.ready.fewer(&self.model, ready.used);
        Ok((ready, lease))
    }

    /// Reads the conditions, with the molecules that they exclude.
    async fn conditions(&self) -> Result<DrawConditions, HandlerError> {
        let excluded = samples::excluded(&self.sampling.pool, &self.job.conditions.exclude);
        let excluded = database::within(DATABASE_TIMEOUT, excluded).await?;
        Ok(DrawConditions::new(&self.job.conditions, excluded)?)
    }

    /// Returns the time for taking and drawing.
    fn budget(&self, conditions: &DrawConditions) -> SampleBudget {
        let deadline = match conditions.are_narrow() {
            true => self.context.deadline.checked_sub(REFUSAL_TIME),
            false => Some(self.context.deadline + LATE_FINISH_TIME),
        };
        SampleBudget { deadline, cancelled: Arc::clone(&self.context.cancelled) }
    }

    /// Draws the molecules that are missing beside those `ready`, and adds the details.
    async fn draw(
        &self,
        ready: ReadyMolecules,
        conditions: Arc<DrawConditions>,
    ) -> Result<ComputationOutcome<CompletedSample>, HandlerError> {
        if let Some(limits) = &self.job.conditions.synthesizable {
            return self.draw_makeable(conditions, limits).await;
        }
        self.span.record("sample.ready", ready.smiles.len());
        let budget = self.budget(&conditions);
        let (model, job, span) = (Arc::clone(&self.model), self.job.clone(), self.span.clone());
        let drawing = move || {
            span.in_scope(|| {
                let drawn = draw(&model, ready, &job, &conditions, &budget)?;
                Ok(if job.details { with_details(&model, drawn)? } else { drawn })
            })
        };
        compute(drawing).await?
    }

    /// Takes makeable molecules that lie ready. Then it draws candidates and keeps those that searchers find a route to
    /// within `limits`, until there are enough.
    async fn draw_makeable(
        &self,
        conditions: Arc<DrawConditions>,
        limits: &RouteLimits,
    ) -> Result<ComputationOutcome<CompletedSample>, HandlerError> {
        let deadline = self.context.deadline.checked_sub(REFUSAL_TIME).unwrap_or_else(Instant::now);
        let check = RouteCheck {
            checker: &self.sampling.routes,
            account_id: &self.job.account_id,
            limits,
            deadline,
            patience: Duration::ZERO,
            cancelled: &self.context.cancelled,
        };
        let budget =
            SampleBudget { deadline: Some(deadline), cancelled: Arc::clone(&self.context.cancelled) };
        let mut found = match self.context.attempt {
            1 => {
                let taken = self.take_makeable(&conditions, limits, &budget);
                database::within(DATABASE_TIMEOUT, taken).await?
            }
            // A retry needs only the model and the searchers.
            _ => MakeableMolecules::default(),
        };
        self.span.record("sample.ready", found.ready());
        if found.smiles().len() >= size(&self.job) {
            self.span.record("sample.drawn", 0);
            return self.complete_makeable(&found).await;
        }
        let mut draft = PartialSample::new(0, self.job.seed);
        loop {
            draft.grow(found.next_aim(size(&self.job)));
            let ended;
            (draft, ended) = self.draw_candidates(draft, &conditions, &budget).await?;
            let is_last = match ended {
                Ok(()) => false,
                Err(SampleError::Interrupted { .. }) if budget.cancelled.load(Ordering::Acquire) => {
                    return Ok(ComputationOutcome::Cancelled);
                }
                Err(SampleError::Interrupted { .. } | SampleError::SizeUnreachable { .. }) => true,
                Err(SampleError::Unwritable { .. }) => {
                    return Ok(ComputationOutcome::Refused(conditions.unwritable()));
                }
                Err(fault) => return Err(fault.into()),
            };
            self.span.record("sample.drawn", draft.molecules().len());
            let is_late = match found.check(draft.molecules(), &check).await? {
                ComputationOutcome::Done(()) => false,
                ComputationOutcome::Refused(JobFailure::DeadlinePassed) => true,
                ComputationOutcome::Refused(failure) => return Ok(ComputationOutcome::Refused(failure)),
                ComputationOutcome::Cancelled => return Ok(ComputationOutcome::Cancelled),
            };
            if found.smiles().len() >= size(&self.job) {
                return self.complete_makeable(&found).await;
            }
            if is_last || is_late {
                let others = conditions.refusals(draft.refused());
                let failure = found.too_few(self.job.size, found.smiles().len(), others);
                return Ok(ComputationOutcome::Refused(failure));
            }
        }
    }

    /// Takes makeable molecules that lie ready, if such molecules can serve the request.
    async fn take_makeable(
        &self,
        conditions: &Arc<DrawConditions>,
        limits: &RouteLimits,
        budget: &SampleBudget,
    ) -> Result<MakeableMolecules, HandlerError> {
        if !makeable_reservoir::can_serve(&self.job.conditions, limits) {
            return Ok(MakeableMolecules::default());
        }
        let _active = self.sampling.activity.begin();
        let pool = &self.sampling.pool;
        // Their building blocks may be from any public vendor.
        let terms = terms(pool, Some(&self.job.account_id), &TreeSearchRequest::new("")).await?;
        if !terms.allow_all_public() {
            return Ok(MakeableMolecules::default());
        }
        let source = MakeableSource {
            model_id: self.model.id(),
            model_version: &self.model.version,
            catalogue_version: content(pool).await?.version,
        };
        let request = MakeableRequest { size: size(&self.job), limits, conditions, budget };
        let taken = makeable_reservoir::take(pool, &source, &request).await?;
        Ok(MakeableMolecules::from_ready(taken))
    }

    /// Draws all that `draft` lacks.
    async fn draw_candidates(
        &self,
        mut draft: PartialSample,
        conditions: &Arc<DrawConditions>,
        budget: &SampleBudget,
    ) -> Result<(PartialSample, Result<(), SampleError>), HandlerError> {
        let _active = self.sampling.activity.begin();
        let (model, conditions, budget) = (Arc::clone(&self.model), Arc::clone(conditions), budget.clone());
        let span = self.span.clone();
        let drawing = move || {
            let (options, filter) = (&conditions.options, conditions.filter());
            let aim = draft.size();
            let ended =
                span.in_scope(|| model.sampler.resume_filtered(&mut draft, aim, options, filter, &budget));
            (draft, ended)
        };
        Ok(compute(drawing).await?)
    }

    /// Makes the sample of the first makeable molecules, and adds the details.
    async fn complete_makeable(
        &self,
        found: &MakeableMolecules,
    ) -> Result<ComputationOutcome<CompletedSample>, HandlerError> {
        let smiles = found.smiles()[..size(&self.job)].to_vec();
        let (model_id, ready) = (self.model.id().to_owned(), found.ready());
        let sample = CompletedSample { model_id, smiles, details: None, ready };
        if !self.job.details {
            return Ok(ComputationOutcome::Done(sample));
        }
        let model = Arc::clone(&self.model);
        let (sample, details) = compute(move || {
            let details = details(&model, &sample.smiles);
            (sample, details)
        })
        .await?;
        let details = Some(found.complete(&sample.smiles, details?));
        Ok(ComputationOutcome::Done(CompletedSample { details, ..sample }))
    }

    /// Stores the sample, using all that `lease` reserved.
    async fn store_with_lease(
        &self,
        lease: &Lease,
        sample: &CompletedSample,
    ) -> Result<FinishResult, HandlerError> {
        let mut transaction = self.sampling.pool.begin().await?;
        if !reservoir::spend(&mut transaction, &self.model, lease).await? {
            return Err("what was kept of the reservoir has gone to others meanwhile".into());
        }
        self.store(transaction, sample).await
    }

    /// Commits `transaction` with the sample and the job's outcome, or rolls all of it back.
    async fn store(
        &self,
        mut transaction: Transaction<'_, Postgres>,
        sample: &CompletedSample,
    ) -> Result<FinishResult, HandlerError> {
        let finished = self.context.finish(&mut transaction, &Ok(self.job.sample_id)).await?;
        match finished {
            FinishResult::Stored => {
                samples::insert(&mut transaction, &self.job, sample).await?;
                transaction.commit().await?;
                info!(sample.id = %self.job.sample_id, sample.size = self.job.size, "sample job done");
            }
            FinishResult::Superseded => transaction.rollback().await?,
        }
        Ok(finished)
    }
}

fn size(job: &SampleJob) -> usize {
    usize::try_from(job.size).unwrap_or(usize::MAX)
}

/// Completes the sample of `job` with molecules that are not among those `ready`, under its `conditions`.
///
/// With nothing ready, the molecules depend only on the job.
///
/// # Errors
/// Fails when the network cannot be evaluated; another attempt may succeed.
pub fn draw(
    model: &LoadedModel,
    ready: ReadyMolecules,
    job: &SampleJob,
    conditions: &DrawConditions,
    budget: &SampleBudget,
) -> Result<ComputationOutcome<CompletedSample>, SampleError> {
    let (size, model_id) = (size(job), model.id().to_owned());
    let ReadyMolecules { mut smiles, mut refused, .. } = ready;
    let already = smiles.len();
    let mut known: HashSet<String> = match already < size {
        true => smiles.iter().cloned().collect(),
        false => HashSet::new(),
    };
    let mut draft = PartialSample::new(0, job.seed);
    let mut ended = Ok(());
    while smiles.len() < size && ended.is_ok() {
        let before = draft.molecules().len();
        let aim = before + size - smiles.len();
        draft.grow(aim);
        let (options, filter) = (&conditions.options, conditions.filter());
        ended = model.sampler.resume_filtered(&mut draft, aim, options, filter, budget);
        let new = draft.molecules()[before..].iter().filter(|&one| known.insert(one.clone()));
        smiles.extend(new.cloned());
    }
    Span::current().record("sample.drawn", smiles.len() - already);
    add_counts(&mut refused, draft.refused());
    let found = smiles.len();
    match ended {
        Ok(()) => {
            Ok(ComputationOutcome::Done(CompletedSample { model_id, smiles, details: None, ready: already }))
        }
        Err(SampleError::Interrupted { .. }) if budget.cancelled.load(Ordering::Acquire) => {
            Ok(ComputationOutcome::Cancelled)
        }
        Err(SampleError::Interrupted { .. }) => {
            let problem = conditions.too_narrow(job.size, found, &refused);
            Ok(ComputationOutcome::Refused(problem.unwrap_or(JobFailure::DeadlinePassed)))
        }
        Err(SampleError::SizeUnreachable { .. }) => {
            let problem = conditions.too_narrow(job.size, found, &refused);
            Ok(ComputationOutcome::Refused(problem.unwrap_or_else(|| unreachable(model_id, job, found))))
        }
        Err(SampleError::Unwritable { .. }) => Ok(ComputationOutcome::Refused(conditions.unwritable())),
        Err(fault) => Err(fault),
    }
}

/// Adds counts to those with the same index.
fn add_counts(counts: &mut Vec<u64>, more: &[u64]) {
    counts.resize(counts.len().max(more.len()), 0);
    counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
}

fn unreachable(model_id: String, job: &SampleJob, reached: usize) -> JobFailure {
    let reached = u32::try_from(reached).unwrap_or(u32::MAX);
    JobFailure::SizeUnreachable { model_id, wanted: job.size, reached }
}
