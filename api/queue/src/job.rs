//! Definition of a job for the queue, and the kinds of jobs.

use contract::{
    BulkQuery, BulkQueryOutcome, CatalogueCriterion, Likelihoods, SampleConditions, SampleId, StepCheck,
    StoredAsyncSampleJob, StoredBulkQueryJob, StoredLikelihoodJob, StoredPlanJob, StoredSampleJob,
    StoredSearchResult, StoredTreeSearchJob, TreeSearchRequest,
};
use serde::{Serialize, de::DeserializeOwned};

/// Seconds that any sample takes of a sampler slot, whatever its size.
const SAMPLE_FLOOR_SECONDS: f64 = 0.2;

/// Molecules that a sampler slot draws per second, rounded down.
const MOLECULES_PER_SECOND: f64 = 2_000.0;

/// Seconds that a sample of ready molecules takes at least, and the number of molecules per further second.
const READY_FLOOR_SECONDS: f64 = 0.005;
const READY_PER_SECOND: f64 = 200_000.0;

/// Seconds that a search is expected to take if it may stop at the first route.
const FIRST_ROUTE_SECONDS: f64 = 1.0;

/// Lowest estimate for a search: even a trivial one is claimed, started and answered.
const MIN_SEARCH_SECONDS: f64 = 0.01;

/// Seconds that any bulk query takes, and the seconds for each of its molecules on two cores.
const BULK_QUERY_FLOOR_SECONDS: f64 = 0.01;
const EXPANSION_SECONDS: f64 = 0.003;
const CHECKED_EXPANSION_SECONDS: f64 = 0.01;
const BUILDING_BLOCK_SECONDS: f64 = 0.000_2;
const INCHIKEY_SECONDS: f64 = 0.000_4;
const ANALOGUE_SECONDS: f64 = 0.03;
/// Share of its time limit that a small search takes, on two cores.
const SMALL_SEARCH_SHARE: f64 = 0.25;
/// Seconds that a catalogue search takes beyond the floor: a substructure search, which reads molecules, and any
/// other.
const SUBSTRUCTURE_SECONDS: f64 = 0.5;
const CATALOGUE_SECONDS: f64 = 0.03;

/// Seconds that any request for likelihoods takes, and the number of molecules per further second.
const LIKELIHOOD_FLOOR_SECONDS: f64 = 0.01;
const LIKELIHOODS_PER_SECOND: f64 = 2_000.0;

/// Seconds reserved at the end of a search for the offers, the outcome and the response.
const ANSWERING_SECONDS: f64 = 0.3;

/// A unit of work as it is stored: versioned JSON, of which older versions still decode.
pub trait Job: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Queue of jobs of this kind; part of the stored data.
    const QUEUE: &'static str;

    /// Result of a successful job.
    type Outcome: Serialize + DeserializeOwned + Send + Sync;

    /// Returns the job's estimate of its own work.
    fn work(&self) -> WorkEstimate<'_>;

    /// Returns the model that the job needs: only workers that serve it take the job. `None`: any worker does.
    fn model_id(&self) -> Option<&str> {
        None
    }
}

/// Estimated work of a job. The durations of finished jobs of its kind correct it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WorkEstimate<'a> {
    /// Kind, within which actual durations deviate from estimates by the same factor.
    pub kind: &'a str,
    /// Seconds of one worker slot.
    pub seconds: f64,
    /// Longest run in seconds from start to answer: the job starts only if that much time is left. `None`: only the
    /// deadline bounds it.
    pub longest: Option<f64>,
    /// Work if the result is ready on a worker; `None`: it is always computed.
    pub ready: Option<ReadyResult>,
}

/// A job's share of ready results.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReadyResult {
    /// Number of results that it takes.
    pub units: u32,
    /// Seconds to deliver them.
    pub seconds: f64,
}

/// All queues, in display order.
pub const QUEUES: [&str; 6] = [
    StoredSampleJob::QUEUE,
    StoredTreeSearchJob::QUEUE,
    StoredPlanJob::QUEUE,
    StoredBulkQueryJob::QUEUE,
    StoredAsyncSampleJob::QUEUE,
    StoredLikelihoodJob::QUEUE,
];

/// Returns the words for a queue that people read. Rows, paths and metrics have its name.
#[must_use]
pub fn queue_label(queue: &str) -> &str {
    match queue {
        StoredPlanJob::QUEUE => "background search",
        StoredBulkQueryJob::QUEUE => "bulk query",
        StoredAsyncSampleJob::QUEUE => "asynchronous sample",
        name => name,
    }
}

impl Job for StoredSampleJob {
    const QUEUE: &'static str = "sample";

    type Outcome = SampleId;

    fn work(&self) -> WorkEstimate<'_> {
        let job = self.job();
        let size = f64::from(job.size);
        let model_id = job.model_id.as_deref().unwrap_or_default();
        let ready = ReadyResult { units: job.size, seconds: READY_FLOOR_SECONDS + size / READY_PER_SECOND };
        WorkEstimate {
            kind: sample_kind(model_id, &job.conditions),
            seconds: drawing_seconds(job.size),
            longest: None,
            // A check shows which of the ready molecules satisfy conditions.
            ready: job.conditions.is_empty().then_some(ready),
        }
    }

    fn model_id(&self) -> Option<&str> {
        self.job().model_id.as_deref()
    }
}

impl Job for StoredTreeSearchJob {
    const QUEUE: &'static str = "search";

    type Outcome = StoredSearchResult;

    /// A search that stops at its first route mostly needs far less than its limit; any other uses all of it.
    fn work(&self) -> WorkEstimate<'_> {
        let Self::V1(job) = self;
        let (kind, seconds) = search_estimate(&job.request);
        WorkEstimate {
            kind,
            seconds,
            longest: Some(job.request.max_seconds + ANSWERING_SECONDS),
            ready: None,
        }
    }

    fn model_id(&self) -> Option<&str> {
        let Self::V1(job) = self;
        job.engine.as_deref()
    }
}

impl Job for StoredPlanJob {
    const QUEUE: &'static str = "plan";

    /// The result is stored with the plan.
    type Outcome = ();

    fn work(&self) -> WorkEstimate<'_> {
        let Self::V1(job) = self;
        WorkEstimate { kind: "plan", seconds: job.expected_seconds, longest: None, ready: None }
    }

    fn model_id(&self) -> Option<&str> {
        let Self::V1(job) = self;
        Some(&job.engine)
    }
}

impl Job for StoredBulkQueryJob {
    const QUEUE: &'static str = "look";

    type Outcome = BulkQueryOutcome;

    fn work(&self) -> WorkEstimate<'_> {
        let Self::V1(job) = self;
        let molecules = job.smiles.len() as f64;
        let seconds = match &job.query {
            BulkQuery::Expansions { check: StepCheck::Rules, .. } => EXPANSION_SECONDS * molecules,
            BulkQuery::Expansions { check: StepCheck::Forwards, .. } => CHECKED_EXPANSION_SECONDS * molecules,
            BulkQuery::BuildingBlocks { inchikey, .. } => {
                (BUILDING_BLOCK_SECONDS + if *inchikey { INCHIKEY_SECONDS } else { 0.0 }) * molecules
            }
            BulkQuery::Synthesizability { max_seconds } => max_seconds * SMALL_SEARCH_SHARE * molecules,
            BulkQuery::Makeability { limits } => limits.max_seconds_each * SMALL_SEARCH_SHARE * molecules,
            BulkQuery::Analogues { .. } => ANALOGUE_SECONDS * molecules,
            BulkQuery::Catalogue { sought: CatalogueCriterion::Substructure { .. }, .. } => {
                SUBSTRUCTURE_SECONDS
            }
            BulkQuery::Catalogue { .. } => CATALOGUE_SECONDS,
        };
        WorkEstimate {
            kind: job.query.kind(),
            seconds: (BULK_QUERY_FLOOR_SECONDS + seconds).min(job.deadline_seconds),
            longest: Some(job.deadline_seconds + ANSWERING_SECONDS),
            ready: None,
        }
    }

    fn model_id(&self) -> Option<&str> {
        let Self::V1(job) = self;
        job.engine.as_deref()
    }
}

impl Job for StoredAsyncSampleJob {
    const QUEUE: &'static str = "order";

    /// The sample is stored under the id of the asynchronous sample.
    type Outcome = ();

    fn work(&self) -> WorkEstimate<'_> {
        let job = self.job();
        WorkEstimate {
            kind: sample_kind(&job.model_id, &job.conditions),
            seconds: drawing_seconds(job.size),
            longest: None,
            ready: None,
        }
    }

    fn model_id(&self) -> Option<&str> {
        Some(&self.job().model_id)
    }
}

impl Job for StoredLikelihoodJob {
    const QUEUE: &'static str = "likelihood";

    type Outcome = Likelihoods;

    fn work(&self) -> WorkEstimate<'_> {
        let Self::V1(job) = self;
        WorkEstimate {
            kind: &job.model_id,
            seconds: LIKELIHOOD_FLOOR_SECONDS + job.smiles.len() as f64 / LIKELIHOODS_PER_SECOND,
            longest: None,
            ready: None,
        }
    }

    fn model_id(&self) -> Option<&str> {
        let Self::V1(job) = self;
        Some(&job.model_id)
    }
}

/// Returns the kind of a sample: with conditions, durations say nothing about samples without.
fn sample_kind<'a>(model_id: &'a str, conditions: &SampleConditions) -> &'a str {
    if conditions.is_empty() { model_id } else { "conditioned" }
}

/// Returns the expected slot seconds for a number of molecules none of which is ready.
fn drawing_seconds(size: u32) -> f64 {
    SAMPLE_FLOOR_SECONDS + f64::from(size) / MOLECULES_PER_SECOND
}

/// Returns the kind of a search and its expected duration in seconds.
#[must_use]
pub fn search_estimate(request: &TreeSearchRequest) -> (&'static str, f64) {
    let most = request.max_seconds;
    let (kind, seconds) = match request.early_exit_first_solution {
        true => ("first_route", most.min(FIRST_ROUTE_SECONDS)),
        false => ("all_routes", most),
    };
    (kind, seconds.max(MIN_SEARCH_SECONDS))
}

#[cfg(test)]
mod tests {
    use contract::SampleJob;

    use super::*;

    #[test]
    fn a_conditioned_sample_never_counts_as_ready_and_is_of_its_own_kind() {
        let job = |seed| SampleJob {
            sample_id: SampleId::generate(),
            account_id: "acc_1".to_owned(),
            size: 10,
            model_id: Some("druglike_gru".to_owned()),
            seed: 1,
            conditions: SampleConditions { seed, ..SampleConditions::default() },
            details: false,
            deadline: chrono::DateTime::UNIX_EPOCH,
        };
        let work = |seed| {
            let job = StoredSampleJob::from(job(seed));
            (job.work().kind.to_owned(), job.work().ready.map(|ready| ready.units))
        };

        assert_eq!(work(None), ("druglike_gru".to_owned(), Some(10)));
        assert_eq!(work(Some(1)), ("conditioned".to_owned(), None));
    }

    #[test]
    fn every_queue_has_words_of_its_own() {
        let labels = QUEUES.map(queue_label);

        assert_eq!(
            labels,
            ["sample", "search", "background search", "bulk query", "asynchronous sample", "likelihood"]
        );
    }
}
