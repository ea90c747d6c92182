//! Handler of likelihoods of given molecules under a model.

use std::sync::Arc;

use chem::{Limits, Molecule};
use contract::{JobFailure, LikelihoodJob, Likelihoods, MoleculeLikelihood, StoredLikelihoodJob};
use generator::SampleError;
use queue::{Handler, HandlerError, JobContext};
use sqlx::PgPool;
use tracing::info_span;

use super::store;
use crate::{LoadedModel, ModelRegistry, RunningJobs, compute::compute, rounding::rounded};

/// Error of a molecule that the vocabulary cannot express.
const UNWRITABLE: &str = "the model has no token for a part of this molecule";

/// Handler of likelihoods.
#[derive(Debug, Clone)]
pub struct LikelihoodHandler {
    /// Pool for the outcome.
    pub pool: PgPool,
    /// Models of this process.
    pub registry: Arc<ModelRegistry>,
    /// Running interactive work, to which the refilling of the reservoir yields.
    pub activity: RunningJobs,
}

impl Handler<StoredLikelihoodJob> for LikelihoodHandler {
    async fn handle(
        &self,
        context: JobContext<StoredLikelihoodJob>,
        StoredLikelihoodJob::V1(job): StoredLikelihoodJob,
    ) -> Result<(), HandlerError> {
        let _active = self.activity.begin();
        let LikelihoodJob { model_id, smiles } = job;
        let Some(model) = self.registry.models().choose(Some(&model_id)).cloned() else {
            return store(&self.pool, &context, &Err(JobFailure::UnknownModel { model_id })).await;
        };
        let span = info_span!("model.likelihoods", model.id = model.id(), molecules = smiles.len());
        let answer = compute(move || span.in_scope(|| likelihoods(&model, smiles))).await??;
        store(&self.pool, &context, &Ok(answer)).await
    }
}

/// Computes the negative log-likelihoods of the canonical SMILES of `texts`, to four decimal places.
///
/// # Errors
/// Fails if the network does.
pub(crate) fn likelihoods(model: &LoadedModel, texts: Vec<String>) -> Result<Likelihoods, SampleError> {
    let (smiles, errors): (Vec<_>, Vec<_>) = texts
        .into_iter()
        .map(|text| match Molecule::parse(&text, Limits::DEFAULT) {
            Ok(molecule) => (molecule.canonical_smiles(), None),
            Err(error) => (text, Some(error.to_string())),
        })
        .unzip();
    let valid: Vec<&str> = smiles
        .iter()
        .zip(&errors)
        .filter(|(_, error)| error.is_none())
        .map(|(smiles, _)| smiles.as_str())
        .collect();
    let mut losses = model.sampler.likelihoods(&valid)?.into_iter();
    let items = smiles
        .into_iter()
        .zip(errors)
        .map(|(smiles, error)| {
            let loss = if error.is_none() { losses.next().flatten() } else { None };
            let error = error.or_else(|| loss.is_none().then(|| UNWRITABLE.to_owned()));
            MoleculeLikelihood { smiles, error, negative_log_likelihood: loss.map(rounded) }
        })
        .collect();
    Ok(Likelihoods { object: Default::default(), model_id: model.id().to_owned(), items })
}
