//! What a job is to the queue, and the two kinds there are.

use chrono::{DateTime, Utc};
use contract::{SampleId, StoredSampleJob, StoredTreeSearchJob, TreeSearchResult};
use serde::{Serialize, de::DeserializeOwned};

/// Seconds a sampler slot needs for any sample, whatever its size.
const SAMPLE_FLOOR_SECONDS: f64 = 0.2;

/// Molecules a sampler slot makes in a second, rounded down.
const MOLECULES_PER_SECOND: f64 = 2_000.0;

/// Seconds that a search expects to need when it may stop at the first route.
const FIRST_ROUTE_SECONDS: f64 = 1.0;

/// A unit of work, as it is stored: versioned JSON that older code wrote still decodes.
pub trait Job: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The queue that holds jobs of this kind; part of the stored data.
    const QUEUE: &'static str;

    /// What a job that worked answers.
    type Outcome: Serialize + DeserializeOwned + Send + Sync;

    /// The instant by which the caller stops waiting.
    fn deadline(&self) -> DateTime<Utc>;

    /// Seconds of one worker slot that the job is expected to take; admission adds them up.
    fn expected_seconds(&self) -> f64;

    /// The model that the job needs: only workers that serve it take the job. `None`: any worker does.
    fn model_id(&self) -> Option<&str> {
        None
    }
}

impl Job for StoredSampleJob {
    const QUEUE: &'static str = "sample";

    type Outcome = SampleId;

    fn deadline(&self) -> DateTime<Utc> {
        match self {
            Self::V1(job) => job.deadline,
        }
    }

    fn expected_seconds(&self) -> f64 {
        match self {
            Self::V1(job) => SAMPLE_FLOOR_SECONDS + f64::from(job.size) / MOLECULES_PER_SECOND,
        }
    }

    fn model_id(&self) -> Option<&str> {
        match self {
            Self::V1(job) => job.model_id.as_deref(),
        }
    }
}

impl Job for StoredTreeSearchJob {
    const QUEUE: &'static str = "search";

    type Outcome = TreeSearchResult;

    fn deadline(&self) -> DateTime<Utc> {
        match self {
            Self::V1(job) => job.deadline,
        }
    }

    /// A search that stops at its first route mostly needs far less than it may take; one that does not
    /// takes all of it.
    fn expected_seconds(&self) -> f64 {
        match self {
            Self::V1(job) if job.request.early_exit_first_solution => {
                job.request.max_seconds.min(FIRST_ROUTE_SECONDS)
            }
            Self::V1(job) => job.request.max_seconds,
        }
    }
}
