//! One stored job, run by hand.
//!
//! The deadline of a stored job has long passed, so it is left out: a search gets its `max_seconds`, a sample
//! the time that it takes. A sample is drawn anew, from the job's seed, and takes nothing that is kept ready.

use std::{sync::Arc, time::Instant};

use anyhow::{Context, Result, anyhow, bail};
use chrono::Utc;
use contract::{
    Problem, Sample, SampleJob, SampleObject, SampleStatus, StoredSampleJob, StoredTreeSearchJob,
    TreeSearchJob,
};
use serde_json::Value;

use crate::{
    CatalogueView, Ended, Machine, Models, Search, Settings, connections::connect, draw, load_planner,
};

/// One reads the catalogue and the offers, one listens.
const CONNECTIONS: u32 = 2;

/// Runs the job with this JSON and gives its outcome, a sample with its structures, as JSON.
///
/// # Errors
/// Fails when the JSON is no stored job, or what the job needs cannot be loaded.
pub async fn replay(settings: &Settings, job: &str) -> Result<Value> {
    if let Ok(StoredSampleJob::V1(job)) = serde_json::from_str(job) {
        return Ok(serde_json::to_value(sample(settings, &job)?)?);
    }
    match serde_json::from_str(job).context("neither a stored sample job nor a stored tree search job") {
        Ok(StoredTreeSearchJob::V1(job)) => Ok(serde_json::to_value(search(settings, job).await?)?),
        Err(error) => Err(error),
    }
}

fn sample(settings: &Settings, job: &SampleJob) -> Result<Result<Sample, Problem>> {
    let machine = Machine::open(settings.device, settings.threads())?;
    let models = Models::load(&settings.models_dir, &settings.sampler_models, &machine)?;
    let Some(model) = models.choose(job.model_id.as_deref()) else {
        return Ok(Err(Problem::UnknownModel { model_id: job.model_id.clone().unwrap_or_default() }));
    };
    match draw(model, Vec::new(), job, &generator::Budget::unlimited())? {
        Ended::Done(drawn) => Ok(Ok(Sample {
            id: job.sample_id,
            object: SampleObject::Sample,
            model_id: drawn.model_id,
            smiles: drawn.smiles,
            created_at: Utc::now(),
            status: SampleStatus::Completed,
            batch_id: None,
            error: None,
        })),
        Ended::Refused(problem) => Ok(Err(problem)),
        Ended::Cancelled => bail!("a replayed job was cancelled"),
    }
}

async fn search(
    settings: &Settings,
    job: TreeSearchJob,
) -> Result<Result<contract::TreeSearchResult, Problem>> {
    let addresses = settings.addresses().context("DATABASE_URL names no catalogue to search with")?;
    let database =
        connect(addresses, "retort-replay", CONNECTIONS).await.context("connecting to the database")?;
    let search = Search {
        planner: load_planner(&settings.retro_model(), settings.search())?,
        catalogue: CatalogueView::load(&database, settings.snapshots().context("CATALOGUE_STORE")?)
            .await
            .context("reading the catalogue")?,
        pool: database.pool,
    };
    let started = Instant::now();
    let time = std::time::Duration::try_from_secs_f64(job.request.max_seconds).context("max_seconds")?;
    let budget = synth::Budget::until(started + time, Arc::default());
    search.answer(&job, budget, started).await.map_err(|error| anyhow!(error))
}
