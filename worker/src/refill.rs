//! Refilling of the reservoir while no sample is requested.
//!
//! A model is refilled once its level falls below the low-water mark, and then up to its capacity. A block in
//! progress is dropped when a job arrives, so that requests are not slowed. Several processes may refill one model;
//! each overshoots by one block at most. When all models are full, some blocks are annotated, in the same way.

use std::{
    collections::{BTreeMap, BTreeSet},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use chem::Molecule;
use generator::{SampleBudget, SampleError};
use sqlx::PgPool;
use tokio::sync::watch;
use tracing::{Instrument, error, info, info_span};

use crate::{
    ModelRegistry, Models, ReadyCounts,
    annotations::Annotation,
    compute, metrics,
    refill_retries::RefillRetries,
    reservoir::{self, BLOCK_SIZE},
    resources::LoadedModel,
};

/// Low-water mark, as a fraction of the capacity: refilling starts below it.
const LOW_WATER: f64 = 0.9;
/// Most molecules of a model that are annotated: those of some conditioned samples. Annotating takes several times as
/// long as drawing, and rows with annotations are larger.
const MOST_ANNOTATED: usize = 20_000;
/// Polling interval of the levels while nothing is to be done.
const REFILL_POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Time without a job before refilling resumes: the job's answer is still being sent, and uses the same cores.
const QUIET_PERIOD: Duration = Duration::from_millis(20);
/// Timeout of a database operation: dropping a reservoir takes a while.
const DATABASE: Duration = Duration::from_secs(60);
/// Timeout of a block: a model that takes longer on an idle machine is given up.
const BLOCK_TIMEOUT: Duration = Duration::from_secs(60);

/// Number of running jobs of this process; refilling waits while there are any.
#[derive(Debug, Clone)]
pub struct RunningJobs(watch::Sender<usize>);

impl Default for RunningJobs {
    fn default() -> Self {
        Self(watch::Sender::new(0))
    }
}

impl RunningJobs {
    /// Counts a job until the result is dropped.
    #[must_use]
    pub fn begin(&self) -> RunningJob {
        self.0.send_modify(|jobs| *jobs += 1);
        RunningJob(self.0.clone())
    }

    /// Resolves when no job runs.
    pub(crate) async fn idle(&self) {
        // The sender is ours, so the channel cannot be closed.
        let _ = self.0.subscribe().wait_for(|jobs| *jobs == 0).await;
    }

    /// Resolves when no job has run for the time `QUIET_PERIOD`.
    pub(crate) async fn quiet(&self) {
        self.idle().await;
        while tokio::time::timeout(QUIET_PERIOD, self.busy()).await.is_ok() {
            self.idle().await;
        }
    }

    /// Resolves when a job runs.
    pub(crate) async fn busy(&self) {
        let _ = self.0.subscribe().wait_for(|jobs| *jobs > 0).await;
    }

    /// Returns the result of `work`, which `stop` ends early as soon as a job runs.
    async fn stop_when_busy<T>(&self, work: impl Future<Output = T>, stop: StopOnDrop) -> T {
        let mut work = pin!(work);
        tokio::select! {
            ended = &mut work => ended,
            () = self.busy() => {
                drop(stop);
                work.await
            }
        }
    }
}

/// Running job.
#[derive(Debug)]
pub struct RunningJob(watch::Sender<usize>);

impl Drop for RunningJob {
    fn drop(&mut self) {
        self.0.send_modify(|jobs| *jobs -= 1);
    }
}

/// Refills the reservoir of each model up to `capacity` molecules; runs until dropped, and may be restarted.
pub async fn refill(
    pool: PgPool,
    registry: Arc<ModelRegistry>,
    capacity: usize,
    activity: RunningJobs,
    ready: ReadyCounts,
) {
    let (filling, given_up, current) = Default::default();
    let mut filler = Filler { pool, capacity, activity, ready, filling, given_up, current };
    let mut retries = RefillRetries::new("the reservoir");
    loop {
        filler.activity.idle().await;
        let pause = match filler.round(&registry.models()).await {
            Ok(RefillOutcome::JobCame) => {
                filler.activity.quiet().await;
                Duration::ZERO
            }
            Ok(RefillOutcome::Filled) => {
                retries.succeeded();
                Duration::ZERO
            }
            Ok(RefillOutcome::Full) => {
                retries.succeeded();
                REFILL_POLL_INTERVAL
            }
            Err(fault) => retries.failed(&fault),
        };
        tokio::time::sleep(pause).await;
    }
}

/// Outcome of one pass over all models.
enum RefillOutcome {
    /// Blocks were made or annotated.
    Filled,
    /// No model needs a block or annotations.
    Full,
    /// A job arrived, and takes precedence.
    JobCame,
}

struct Filler {
    pool: PgPool,
    capacity: usize,
    activity: RunningJobs,
    ready: ReadyCounts,
    /// Models that are being refilled from below the low-water mark to the capacity.
    filling: BTreeSet<String>,
    /// Versions that cannot give a block of distinct molecules.
    given_up: BTreeSet<String>,
    /// Version of each model whose older versions' molecules are deleted.
    current: BTreeMap<String, String>,
}

impl Filler {
    /// Makes one block for each model that needs one.
    async fn round(&mut self, models: &Arc<Models>) -> Result<RefillOutcome, sqlx::Error> {
        for model in models.iter() {
            self.drop_other_versions(model).await?;
        }
        let levels = database::within(DATABASE, reservoir::levels(&self.pool)).await?;
        let mut round = RefillOutcome::Full;
        for model in models.iter() {
            if !self.wants(model, levels.of(model)) {
                continue;
            }
            round = RefillOutcome::Filled;
            let span = info_span!("reservoir.refill", model.id = model.id(), molecules = BLOCK_SIZE);
            match make(model, &self.activity).instrument(span.clone()).await {
                Ok(block) => {
                    database::within(DATABASE, self.put(model, &block)).instrument(span).await?;
                    self.ready.more(model, block.len());
                    metrics::refilled(model.id(), block.len());
                }
                Err(NoBlock::JobCame) => return Ok(RefillOutcome::JobCame),
                Err(NoBlock::Fault(fault)) => {
                    error!(model.id = model.id(), "no molecules of this model are kept ready: {fault}");
                    self.given_up.insert(model.version.clone());
                }
            }
        }
        match round {
            RefillOutcome::Full => self.annotate(models).await,
            outcome => Ok(outcome),
        }
    }

    /// Annotates one block of each model that has too few annotated molecules.
    async fn annotate(&self, models: &Models) -> Result<RefillOutcome, sqlx::Error> {
        let mut round = RefillOutcome::Full;
        for model in models.iter() {
            let block = reservoir::block_to_annotate(&self.pool, model, MOST_ANNOTATED);
            let Some((id, molecules)) = database::within(DATABASE, block).await? else { continue };
            round = RefillOutcome::Filled;
            let span = info_span!("reservoir.annotate", model.id = model.id(), molecules = molecules.len());
            let Some(found) = annotations(model, molecules, &self.activity).instrument(span.clone()).await
            else {
                return Ok(RefillOutcome::JobCame);
            };
            database::within(DATABASE, reservoir::annotate(&self.pool, id, &found)).instrument(span).await?;
        }
        Ok(round)
    }

    async fn drop_other_versions(&mut self, model: &LoadedModel) -> Result<(), sqlx::Error> {
        if self.current.get(model.id()) != Some(&model.version) {
            let dropped = reservoir::drop_other_versions(&self.pool, model);
            let blocks = database::within(DATABASE, dropped).await?;
            if blocks > 0 {
                info!(model.id = model.id(), blocks, "dropped the molecules of another version");
            }
            self.current.insert(model.id().to_owned(), model.version.clone());
        }
        Ok(())
    }

    async fn put(&self, model: &LoadedModel, block: &[String]) -> Result<(), sqlx::Error> {
        reservoir::put(&mut *self.pool.acquire().await?, model, block).await
    }

    fn wants(&mut self, model: &LoadedModel, level: usize) -> bool {
        if self.given_up.contains(&model.version) {
            return false;
        }
        if level >= self.capacity {
            if self.filling.remove(model.id()) {
                info!(model.id = model.id(), molecules = level, "the reservoir is full");
            }
            return false;
        }
        // A level is exact in f64.
        if (level as f64) < self.capacity as f64 * LOW_WATER {
            self.filling.insert(model.id().to_owned());
        }
        self.filling.contains(model.id())
    }
}

/// Reason why there is no block.
enum NoBlock {
    /// A job arrived, and takes precedence.
    JobCame,
    Fault(String),
}

/// Makes a block, unless a job arrives.
async fn make(model: &Arc<LoadedModel>, activity: &RunningJobs) -> Result<Vec<String>, NoBlock> {
    let stop = StopOnDrop::default();
    let deadline = Instant::now() + BLOCK_TIMEOUT;
    let budget = SampleBudget { deadline: Some(deadline), cancelled: Arc::clone(&stop.0) };
    let maker = Arc::clone(model);
    let work = compute(move || maker.sampler.sample(BLOCK_SIZE, rand::random(), &budget));
    let ended = activity.stop_when_busy(work, stop).await;
    metrics::drawn(model.id(), model.sampler.take_counts());
    match ended {
        Ok(Ok(block)) => Ok(block),
        Ok(Err(SampleError::Interrupted { .. })) if Instant::now() >= deadline => Err(NoBlock::Fault(
            format!("{BLOCK_SIZE} molecules take longer than {} s", BLOCK_TIMEOUT.as_secs()),
        )),
        Ok(Err(SampleError::Interrupted { .. })) => Err(NoBlock::JobCame),
        Ok(Err(fault)) => Err(NoBlock::Fault(fault.to_string())),
        Err(panic) => Err(NoBlock::Fault(panic.to_string())),
    }
}

/// Computes the annotations of a block's molecules; `None` if a job arrives. A block without a result has none, so that
/// it is not tried again.
async fn annotations(
    model: &Arc<LoadedModel>,
    molecules: Vec<String>,
    activity: &RunningJobs,
) -> Option<Vec<Annotation>> {
    let stop = StopOnDrop::default();
    let budget = SampleBudget { deadline: None, cancelled: Arc::clone(&stop.0) };
    let (annotator, count) = (Arc::clone(model), molecules.len());
    let of = |smiles: &String| Molecule::trusted(smiles).ok().map(|molecule| Annotation::of(&molecule));
    let work = compute(move || annotator.sampler.map(&molecules, of, &budget));
    match activity.stop_when_busy(work, stop).await {
        Ok(found) if found.len() < count => None,
        Ok(found) => Some(found.into_iter().collect::<Option<_>>().unwrap_or_default()),
        Err(panic) => {
            error!(model.id = model.id(), "no annotations of a block: {panic}");
            Some(Vec::new())
        }
    }
}

/// Sets the stop flag of the work when dropped.
#[derive(Default)]
pub(crate) struct StopOnDrop(pub(crate) Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}
