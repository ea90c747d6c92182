//! Jobs as they are stored, and their permanent failures.

use std::{fmt, str::FromStr, time::SystemTime};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use ulid::Ulid;

use crate::{
    ConditionRefusals, Country, RouteGraph, RouteLimits, SampleConditions, SampleId, StepCheck,
    TreeSearchRequest,
};

/// A job's id: a ULID, the same in our tables, in those of apalis and in every log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(Ulid);

impl JobId {
    /// Generates a new id.
    #[must_use]
    pub fn generate() -> Self {
        Self(Ulid::generate())
    }

    /// Returns the smallest id of all that are made from `at` on, to the millisecond. Smaller ids were made before.
    #[must_use]
    pub fn first_at(at: SystemTime) -> Self {
        let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self(Ulid::from_parts(u64::try_from(since.as_millis()).unwrap_or(u64::MAX), 0))
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for JobId {
    type Err = ulid::DecodeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// Job that generates and stores one sample.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SampleJob {
    /// Id of the future sample.
    pub sample_id: SampleId,
    /// Account that will own the sample.
    pub account_id: String,
    /// Molecules wanted, 1 to 10,000.
    pub size: u32,
    /// Requested model; `None` leaves the choice to the worker.
    pub model_id: Option<String>,
    /// Random seed. The same seed and resources give the same sample.
    pub seed: u64,
    /// Conditions on the molecules. Absent from the first version, like the next field.
    #[serde(default, skip_serializing_if = "SampleConditions::is_empty")]
    pub conditions: SampleConditions,
    /// True if details of each molecule are stored with the sample.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub details: bool,
    /// Time at which the caller stops waiting, by the submitter's clock. Only older workers read it: the deadline
    /// that counts is the queue's, by the database's clock.
    pub deadline: DateTime<Utc>,
}

/// Job that searches for routes to one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreeSearchJob {
    /// The validated request.
    pub request: TreeSearchRequest,
    /// Account that asks, which decides the private vendors it sees. `None` in jobs of the previous release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    /// Required engine: only searchers that serve it claim the job. `None`: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Progress events to publish. Older searchers do not know this field and publish none.
    #[serde(rename = "told", default, skip_serializing_if = "ProgressReporting::is_nothing")]
    pub reporting: ProgressReporting,
    /// True if the submitter reads a [compact result](crate::CompactResult). Older searchers do not know this field and
    /// store the contract's shape.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compact: bool,
    /// Time at which the caller stops waiting, by the submitter's clock. Only older workers read it: the deadline
    /// that counts is the queue's, by the database's clock.
    pub deadline: DateTime<Utc>,
}

/// Progress events that a running search publishes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProgressReporting {
    /// No events, only the answer.
    #[default]
    Nothing,
    /// The progress, and each route when it is found.
    Events,
}

impl ProgressReporting {
    fn is_nothing(&self) -> bool {
        *self == Self::Nothing
    }
}

/// Job that runs the search of a stored plan and stores its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanJob {
    /// Id of the plan.
    pub plan_id: String,
    /// Required engine: only searchers that serve it claim the job.
    pub engine: String,
    /// Expected seconds in a worker's slot.
    pub expected_seconds: f64,
}

/// Job that computes the likelihoods of molecules under a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LikelihoodJob {
    /// Required model: only samplers that serve it claim the job.
    pub model_id: String,
    /// SMILES as the caller wrote them, 1 to 1,000.
    pub smiles: Vec<String>,
}

/// Job of a bulk query: one question about many molecules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BulkQueryJob {
    /// Account that asks, which decides the private vendors it sees.
    pub account_id: String,
    /// Required engine: only searchers that serve it claim the job. `None`: any.
    pub engine: Option<String>,
    /// SMILES as the caller wrote them, 1 to 1,000; empty for a catalogue search.
    pub smiles: Vec<String>,
    /// Seconds after the start at which the query stops, finished or not.
    pub deadline_seconds: f64,
    /// The query.
    #[serde(rename = "look")]
    pub query: BulkQuery,
}

/// A bulk query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BulkQuery {
    /// One-step disconnections of each molecule.
    Expansions {
        /// Maximum number of precursor sets of each molecule.
        limit: u32,
        /// Checks that the steps have to pass.
        check: StepCheck,
    },
    /// Availability and offers of each molecule.
    BuildingBlocks {
        /// Delivery region; `None`: anywhere.
        ships_to: Option<Country>,
        /// Maximum number of offers listed for each molecule.
        max_offers: u32,
        /// Set if the InChIKey of each is wanted. Absent in jobs of earlier versions.
        #[serde(default)]
        inchikey: bool,
    },
    /// Short search for a way to make or buy each molecule.
    Synthesizability {
        /// Seconds that each search may take.
        max_seconds: f64,
    },
    /// Short search for a route to each molecule within limits. Asked by samplers.
    Makeability {
        /// The limits.
        limits: RouteLimits,
    },
    /// Product of a route with each molecule in place of a building block.
    Analogues {
        /// The route.
        route: Box<RouteGraph>,
        /// SMILES of the block.
        building_block: String,
    },
    /// Search of the catalogue for building blocks.
    Catalogue {
        /// Search criterion.
        sought: CatalogueCriterion,
        /// Maximum number of blocks.
        limit: u32,
        /// Delivery region; `None`: anywhere.
        ships_to: Option<Country>,
        /// Maximum number of offers listed for each block.
        max_offers: u32,
    },
}

impl BulkQuery {
    /// Returns the kind of query; queries of one kind take similar times.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Expansions { check: StepCheck::Rules, .. } => "expansions",
            Self::Expansions { check: StepCheck::Forwards, .. } => "expansions forwards",
            Self::BuildingBlocks { .. } => "building_blocks",
            Self::Synthesizability { .. } => "synthesizability",
            Self::Makeability { .. } => "makeability",
            Self::Analogues { .. } => "analogues",
            Self::Catalogue { sought: CatalogueCriterion::Structure { .. }, .. } => "catalogue structure",
            Self::Catalogue { sought: CatalogueCriterion::Similar { .. }, .. } => "catalogue similar",
            Self::Catalogue { sought: CatalogueCriterion::Substructure { .. }, .. } => {
                "catalogue substructure"
            }
            Self::Catalogue { sought: CatalogueCriterion::Number { .. }, .. } => "catalogue number",
        }
    }
}

/// Search criterion of the catalogue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum CatalogueCriterion {
    /// Block that is the same compound as a molecule.
    Structure {
        /// The molecule.
        smiles: String,
    },
    /// Blocks similar to a molecule.
    Similar {
        /// The molecule.
        smiles: String,
        /// Minimum Tanimoto similarity.
        least: f64,
    },
    /// Blocks that contain a substructure.
    Substructure {
        /// SMARTS or SMILES.
        pattern: String,
    },
    /// Blocks by the catalogue numbers of their vendors.
    Number {
        /// Prefix of the number, case-insensitive.
        text: String,
    },
}

/// Worker's answer to a bulk query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BulkQueryOutcome {
    /// Body of the answer: gzipped JSON in Base64. A thousand molecules may take megabytes.
    pub zipped: String,
    /// Seconds of work, as charged to the account.
    pub worked_seconds: f64,
}

/// Job that makes an asynchronous sample. Its row in `sample_orders` has the account and the seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AsyncSampleJob {
    /// Id of the asynchronous sample, which the finished sample keeps.
    pub sample_id: SampleId,
    /// Required model: only samplers that serve it claim the job.
    pub model_id: String,
    /// Molecules wanted, 1 to 10,000.
    pub size: u32,
    /// Conditions on the molecules. Absent from the first version, like the next field.
    #[serde(default, skip_serializing_if = "SampleConditions::is_empty")]
    pub conditions: SampleConditions,
    /// True if details of each molecule are stored with the sample.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub details: bool,
}

/// A [`SampleJob`] with the version of its shape; old versions can still be decoded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "version")]
pub enum StoredSampleJob {
    /// The first shape: a job without conditions and details.
    #[serde(rename = "1")]
    V1(SampleJob),
    /// The second shape: a job with any of these, but `synthesizable`. Samplers that know only the first do not run it.
    #[serde(rename = "2")]
    V2(SampleJob),
    /// The third shape: a job whose molecules have routes. Samplers that know only the others do not run it.
    #[serde(rename = "3")]
    V3(SampleJob),
}

impl StoredSampleJob {
    /// Returns the job of any version.
    #[must_use]
    pub fn job(&self) -> &SampleJob {
        match self {
            Self::V1(job) | Self::V2(job) | Self::V3(job) => job,
        }
    }
}

impl From<SampleJob> for StoredSampleJob {
    /// Stores the job in the oldest version that can express it.
    fn from(job: SampleJob) -> Self {
        match job.conditions {
            ref conditions if conditions.synthesizable.is_some() => Self::V3(job),
            ref conditions if conditions.is_empty() && !job.details => Self::V1(job),
            _ => Self::V2(job),
        }
    }
}

/// A [`TreeSearchJob`] with the version of its shape; old versions can still be decoded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "version")]
pub enum StoredTreeSearchJob {
    /// The first shape.
    #[serde(rename = "1")]
    V1(TreeSearchJob),
}

/// A [`PlanJob`] with the version of its shape; old versions can still be decoded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "version")]
pub enum StoredPlanJob {
    /// The first shape.
    #[serde(rename = "1")]
    V1(PlanJob),
}

/// A [`LikelihoodJob`] with the version of its shape; old versions can still be decoded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "version")]
pub enum StoredLikelihoodJob {
    /// The first shape.
    #[serde(rename = "1")]
    V1(LikelihoodJob),
}

/// A [`BulkQueryJob`] with the version of its shape; old versions can still be decoded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "version")]
pub enum StoredBulkQueryJob {
    /// The first shape.
    #[serde(rename = "1")]
    V1(BulkQueryJob),
}

/// An [`AsyncSampleJob`] with the version of its shape; old versions can still be decoded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "version")]
pub enum StoredAsyncSampleJob {
    /// The first shape: a job without conditions and details.
    #[serde(rename = "1")]
    V1(AsyncSampleJob),
    /// The second shape: a job with any of these, but `synthesizable`. Samplers that know only the first do not run it.
    #[serde(rename = "2")]
    V2(AsyncSampleJob),
    /// The third shape: a job whose molecules have routes. Samplers that know only the others do not run it.
    #[serde(rename = "3")]
    V3(AsyncSampleJob),
    /// The fourth shape: a chunk of a sample batch with conditions or details. Samplers that know only the others do
    /// not run it.
    #[serde(rename = "4")]
    V4(AsyncSampleJob),
}

impl StoredAsyncSampleJob {
    /// Stores the job of a chunk of a sample batch in the oldest version that can express it.
    #[must_use]
    pub fn of_chunk(job: AsyncSampleJob) -> Self {
        if job.conditions.is_empty() && !job.details { Self::V1(job) } else { Self::V4(job) }
    }

    /// Returns the job of any version.
    #[must_use]
    pub fn job(&self) -> &AsyncSampleJob {
        match self {
            Self::V1(job) | Self::V2(job) | Self::V3(job) | Self::V4(job) => job,
        }
    }
}

impl From<AsyncSampleJob> for StoredAsyncSampleJob {
    /// Stores the job of a sample of no batch in the oldest version that can express it.
    fn from(job: AsyncSampleJob) -> Self {
        match job.conditions {
            ref conditions if conditions.synthesizable.is_some() => Self::V3(job),
            ref conditions if conditions.is_empty() && !job.details => Self::V1(job),
            _ => Self::V2(job),
        }
    }
}

/// Permanent failure of a job: stored as its outcome and never retried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "problem", rename_all = "snake_case")]
#[expect(missing_docs, reason = "fields named in the variant's doc")]
#[non_exhaustive]
pub enum JobFailure {
    /// No live worker has loaded `model_id`.
    #[error("no model `{model_id}`")]
    UnknownModel { model_id: String },
    /// The model gave only `reached` of the `wanted` distinct valid molecules within its limit of attempts.
    #[error("model `{model_id}` gave {reached} distinct valid molecules of the {wanted} wanted")]
    SizeUnreachable { model_id: String, wanted: u32, reached: u32 },
    /// The time ended when only `found` molecules of the `wanted` were there. `refused` says which conditions refused
    /// the other candidates, most of them first.
    #[error("{found} of the {wanted} molecules satisfied the conditions in time{}", refusal_text(refused))]
    ConditionsTooNarrow { wanted: u32, found: u32, refused: Vec<ConditionRefusals> },
    /// The model cannot write molecules with a part of the request, given in this field.
    #[error("the model cannot write molecules with these parts")]
    UnwritablePart { field: String },
    /// No live searcher can look for routes to the molecules of a sample.
    #[error("no searcher is running, which a sample of makeable molecules needs")]
    NoSearcher,
    /// The worker rejected the target although the API had accepted it.
    #[error("not a molecule that can be searched: {reason}")]
    BadTarget { reason: String },
    /// The deadline passed before the work was done.
    #[error("the deadline passed")]
    DeadlinePassed,
    /// The job was claimed too late to get the time that it was promised.
    #[error("its turn came too late for the time that it was promised")]
    TooLate,
    /// The caller disconnected.
    #[error("cancelled")]
    Cancelled,
    /// An operator cancelled the job.
    #[error("cancelled by an operator")]
    CancelledByOperator,
    /// The job was started `attempts` times and no worker finished it. `cause` says why the last attempt failed, if
    /// the fault was not ours.
    #[error("given up after {attempts} attempts")]
    Abandoned {
        attempts: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Cause>,
    },
    /// Internal error; the cause is in the worker's log under the job's id.
    #[error("internal error")]
    Internal,
}

/// Maximum number of conditions that a message names.
const MAX_NAMED_CONDITIONS: usize = 10;

/// Returns the conditions with the most refusals and their counts, for the end of a sentence.
fn refusal_text(refused: &[ConditionRefusals]) -> String {
    let named = refused.iter().take(MAX_NAMED_CONDITIONS);
    let named: Vec<_> =
        named.map(|ConditionRefusals { condition, count }| format!("{condition} {count}")).collect();
    if named.is_empty() { String::new() } else { format!("; candidates refused: {}", named.join(", ")) }
}

/// External cause of a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    /// The database was unavailable or out of space.
    Database,
}
