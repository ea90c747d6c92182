//! Replay of one stored job, started manually.
//!
//! The deadline of a stored job has long passed, so it is ignored: a search gets its `max_seconds`, a bulk query its
//! original time from the start, a sample unlimited time. A sample is drawn again from the job's seed, without the
//! reservoir. Parameters of plans and asynchronous samples are not in their jobs but in their rows, where the API
//! shows them.

use std::{
    io::Read,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, bail};
use base64::{Engine, engine::general_purpose::STANDARD};
use chrono::Utc;
use contract::{
    BulkQueryJob, BulkQueryOutcome, CompactResult, JobFailure, LikelihoodJob, Likelihoods, Sample, SampleJob,
    SampleObject, SampleStatus, StoredAsyncSampleJob, StoredBulkQueryJob, StoredLikelihoodJob, StoredPlanJob,
    StoredSampleJob, StoredTreeSearchJob, TreeSearchJob,
};
use flate2::read::GzDecoder;
use serde::de::DeserializeOwned;
use serde_json::Value;
use synth::{BatchLimits, SearchUrgency};

use crate::{
    BulkQueryHandler, CatalogueView, ComputationOutcome, ComputeDevice, DrawConditions, ExcludedMolecules,
    Models, ReadyMolecules, SearchHandler, WorkerSettings, connections::connect, draw, handlers::likelihoods,
    load_planner, molecule_details::with_details,
};

/// One connection reads the catalogue and the offers, one listens.
const CONNECTIONS: u32 = 2;

/// Runs the job with this JSON and returns its outcome as JSON: a sample with its structures, a bulk query with its
/// answer.
///
/// # Errors
/// Fails when the JSON is no stored job that can run without its queue, or when its resources cannot be loaded.
pub async fn replay(settings: &WorkerSettings, job: &str) -> Result<Value> {
    // A sample's job has all fields of an asynchronous sample's job.
    if let Some(job) = stored::<StoredSampleJob>(job) {
        return Ok(serde_json::to_value(sample(settings, job.job())?)?);
    }
    if let Some(StoredTreeSearchJob::V1(job)) = stored(job) {
        return Ok(serde_json::to_value(search(settings, job).await?)?);
    }
    if let Some(StoredBulkQueryJob::V1(job)) = stored(job) {
        return Ok(serde_json::json!({ "Ok": run_query(settings, job).await? }));
    }
    if let Some(StoredLikelihoodJob::V1(job)) = stored(job) {
        return Ok(serde_json::to_value(likelihoods_of(settings, job)?)?);
    }
    if let Some(StoredPlanJob::V1(job)) = stored(job) {
        bail!("the job of plan {} has no request: give its parameters to `retort plan`", job.plan_id);
    }
    if let Some(job) = stored::<StoredAsyncSampleJob>(job) {
        let id = job.job().sample_id;
        bail!("the job of sample {id} has no seed: request another sample of its model");
    }
    bail!("no stored job of a sample, a tree search, a bulk query or likelihoods")
}

/// Parses the job, if it is of this kind.
fn stored<T: DeserializeOwned>(job: &str) -> Option<T> {
    serde_json::from_str(job).ok()
}

fn sample(settings: &WorkerSettings, job: &SampleJob) -> Result<Result<Sample, JobFailure>> {
    let machine = ComputeDevice::open(settings.device, settings.threads())?;
    let models = Models::load(&settings.models_dir, &settings.sampler_models, &machine)?;
    let Some(model) = models.choose(job.model_id.as_deref()) else {
        return Ok(Err(JobFailure::UnknownModel { model_id: job.model_id.clone().unwrap_or_default() }));
    };
    let budget = generator::SampleBudget::unlimited();
    if !job.conditions.exclude.is_empty() {
        bail!("the job excludes molecules of samples, which only the service's database has");
    }
    if job.conditions.synthesizable.is_some() {
        bail!("the job asks for routes, which the service's searchers find");
    }
    let conditions = DrawConditions::new(&job.conditions, ExcludedMolecules::default())?;
    let drawn = draw(model, ReadyMolecules::default(), job, &conditions, &budget)?;
    let drawn = match job.details {
        true => with_details(model, drawn).map_err(|error| anyhow!(error))?,
        false => drawn,
    };
    match drawn {
        ComputationOutcome::Done(drawn) => Ok(Ok(Sample {
            id: job.sample_id,
            object: SampleObject::Sample,
            model_id: drawn.model_id,
            smiles: drawn.smiles,
            created_at: Utc::now(),
            status: SampleStatus::Completed,
            batch_id: None,
            error: None,
            details: drawn.details,
        })),
        ComputationOutcome::Refused(problem) => Ok(Err(problem)),
        ComputationOutcome::Cancelled => bail!("a replayed job was cancelled"),
    }
}

fn likelihoods_of(settings: &WorkerSettings, job: LikelihoodJob) -> Result<Result<Likelihoods, JobFailure>> {
    let machine = ComputeDevice::open(settings.device, settings.threads())?;
    let models = Models::load(&settings.models_dir, &settings.sampler_models, &machine)?;
    match models.choose(Some(&job.model_id)) {
        Some(model) => Ok(Ok(likelihoods(model, job.smiles)?)),
        None => Ok(Err(JobFailure::UnknownModel { model_id: job.model_id })),
    }
}

async fn search(
    settings: &WorkerSettings,
    job: TreeSearchJob,
) -> Result<Result<contract::TreeSearchResult, JobFailure>> {
    let search = search_handler(settings).await?;
    let started = Instant::now();
    let time = Duration::try_from_secs_f64(job.request.max_seconds).context("max_seconds")?;
    let budget = synth::Budget::until(started + time, Arc::default());
    let answer = search.answer(&job, budget, started).await.map_err(|error| anyhow!(error))?;
    Ok(answer.map(CompactResult::expanded))
}

/// Runs a bulk query and returns its body.
async fn run_query(settings: &WorkerSettings, job: BulkQueryJob) -> Result<Value> {
    let search = search_handler(settings).await?;
    let time = Duration::try_from_secs_f64(job.deadline_seconds).context("deadline_seconds")?;
    let latest = Instant::now() + time;
    let allowance = BatchLimits { urgency: SearchUrgency::Interactive, latest, cancelled: Arc::default() };
    let BulkQueryOutcome { zipped, .. } =
        BulkQueryHandler { search }.answer(job, allowance).await.map_err(|error| anyhow!(error))?;
    let zipped = STANDARD.decode(zipped).context("the answer's Base64")?;
    let mut body = String::new();
    GzDecoder::new(&zipped[..]).read_to_string(&mut body).context("the answer's gzip")?;
    Ok(serde_json::from_str(&body)?)
}

/// Loads the resources of searches and bulk queries.
async fn search_handler(settings: &WorkerSettings) -> Result<SearchHandler> {
    let addresses = settings.addresses().context("DATABASE_URL names no catalogue to search with")?;
    let database =
        connect(addresses, "retort-replay", CONNECTIONS).await.context("connecting to the database")?;
    Ok(SearchHandler {
        planner: load_planner(&settings.retro_model(), settings.search())?,
        catalogue: CatalogueView::load(&database, settings.snapshots().context("CATALOGUE_STORE")?)
            .await
            .context("reading the catalogue")?,
        pool: database.pool,
    })
}
