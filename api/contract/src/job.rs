//! Jobs as they are stored, and how they can fail for good.

use std::{fmt, str::FromStr, time::SystemTime};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use ulid::Ulid;

use crate::{Country, RouteGraph, SampleId, StepCheck, TreeSearchRequest};

/// A job's id: a ULID, the same in our tables, in apalis' and in every log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JobId(Ulid);

impl JobId {
    /// A new id.
    #[must_use]
    pub fn generate() -> Self {
        Self(Ulid::generate())
    }

    /// The least id of all that are made from `at` on, to the millisecond: what is less was made before.
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

/// Generate and store one sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleJob {
    /// The id that the sample will have.
    pub sample_id: SampleId,
    /// The account that will own it.
    pub account_id: String,
    /// Molecules wanted, 1 to 10,000.
    pub size: u32,
    /// The model asked for; `None` leaves the choice to the worker.
    pub model_id: Option<String>,
    /// Same seed, same resources: same sample.
    pub seed: u64,
    /// When the caller stops waiting, by the clock of whoever submitted it. Nobody reads it but workers of before: what counts is
    /// the queue's, by the database's clock.
    pub deadline: DateTime<Utc>,
}

/// Search for routes to one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreeSearchJob {
    /// The request, checked.
    pub request: TreeSearchRequest,
    /// Who asks, and so sees their organisation's vendors. None in jobs of the release before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account_id: Option<String>,
    /// The engine that is to do it: searchers that serve another are not dealt the job. `None`: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// Whether somebody wants to hear of it before it is done. Searchers of before do not know this, and tell nothing.
    #[serde(default, skip_serializing_if = "Told::is_nothing")]
    pub told: Told,
    /// When the caller stops waiting, by the clock of whoever submitted it. Nobody reads it but workers of before: what counts is
    /// the queue's, by the database's clock.
    pub deadline: DateTime<Utc>,
}

/// What is told of a search while it runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// Nothing but its answer.
    #[default]
    Nothing,
    /// How far it is, and its routes as they are found.
    Events,
}

impl Told {
    fn is_nothing(&self) -> bool {
        *self == Self::Nothing
    }
}

/// Make a plan that is stored: search, and store what was found with it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanJob {
    /// The plan.
    pub plan_id: String,
    /// The engine that is to do it: searchers that serve another are not dealt the job.
    pub engine: String,
    /// Seconds of a worker's slot that it is expected to take.
    pub expected_seconds: f64,
}

/// Tell something of many molecules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LookJob {
    /// Who asks, and so sees their organisation's vendors.
    pub account_id: String,
    /// The engine that is to do it: searchers that serve another are not dealt the job. `None`: any.
    pub engine: Option<String>,
    /// As they were written, 1 to 1,000; none where the catalogue is searched.
    pub smiles: Vec<String>,
    /// Seconds after its begin at which it ends, whatever is left.
    pub deadline_seconds: f64,
    /// What is to be told.
    pub look: Look,
}

/// What is to be told of molecules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Look {
    /// What each may be made of in one step.
    Expansions {
        /// The most sets of precursors of each.
        limit: u32,
        /// What the steps are held against.
        check: StepCheck,
    },
    /// Whether and where each is sold.
    BuildingBlocks {
        /// The delivery region; `None`: anywhere.
        ships_to: Option<Country>,
        /// The most offers of each that are listed.
        max_offers: u32,
        /// Whether the InChIKey of each is told. Absent in jobs of earlier versions.
        #[serde(default)]
        inchikey: bool,
    },
    /// Whether a short search finds a way to make or buy each.
    Synthesizability {
        /// Seconds that each search may take.
        max_seconds: f64,
    },
    /// What a route gives with each in the place of a building block.
    Analogues {
        /// The route.
        route: Box<RouteGraph>,
        /// SMILES of the block.
        building_block: String,
    },
    /// Which building blocks are like something.
    Catalogue {
        /// What they have to be like.
        sought: Sought,
        /// The most blocks.
        limit: u32,
        /// The delivery region; `None`: anywhere.
        ships_to: Option<Country>,
        /// The most offers of each that are listed.
        max_offers: u32,
    },
}

impl Look {
    /// Its name; those of one kind take alike.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Expansions { check: StepCheck::Rules, .. } => "expansions",
            Self::Expansions { check: StepCheck::Forwards, .. } => "expansions forwards",
            Self::BuildingBlocks { .. } => "building_blocks",
            Self::Synthesizability { .. } => "synthesizability",
            Self::Analogues { .. } => "analogues",
            Self::Catalogue { sought: Sought::Structure { .. }, .. } => "catalogue structure",
            Self::Catalogue { sought: Sought::Similar { .. }, .. } => "catalogue similar",
            Self::Catalogue { sought: Sought::Substructure { .. }, .. } => "catalogue substructure",
            Self::Catalogue { sought: Sought::Number { .. }, .. } => "catalogue number",
        }
    }
}

/// What the catalogue is searched by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum Sought {
    /// The block that a molecule is bought as.
    Structure {
        /// The molecule.
        smiles: String,
    },
    /// Blocks that are like a molecule.
    Similar {
        /// The molecule.
        smiles: String,
        /// Their least Tanimoto similarity.
        least: f64,
    },
    /// Blocks in which a pattern occurs.
    Substructure {
        /// SMARTS, or SMILES.
        pattern: String,
    },
    /// Blocks by how vendors number their entries.
    Number {
        /// How the number begins, in capitals or not.
        text: String,
    },
}

/// What a worker tells of many molecules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LookOutcome {
    /// The body of the answer: JSON, gzipped, in Base64. A thousand molecules may be megabytes.
    pub zipped: String,
    /// Seconds of work that it took, as accounts are charged.
    pub worked_seconds: f64,
}

/// Make a sample that nobody waits for: what is to be made of it stands in its order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderJob {
    /// The order, and the id that the sample will have.
    pub sample_id: SampleId,
    /// The model that it is drawn from: samplers that serve others are not dealt the job.
    pub model_id: String,
    /// Molecules wanted, 1 to 10,000.
    pub size: u32,
}

/// A [`SampleJob`] with the version of its shape; old versions go on decoding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "version")]
pub enum StoredSampleJob {
    /// The first shape.
    #[serde(rename = "1")]
    V1(SampleJob),
}

/// A [`TreeSearchJob`] with the version of its shape; old versions go on decoding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "version")]
pub enum StoredTreeSearchJob {
    /// The first shape.
    #[serde(rename = "1")]
    V1(TreeSearchJob),
}

/// A [`PlanJob`] with the version of its shape; old versions go on decoding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "version")]
pub enum StoredPlanJob {
    /// The first shape.
    #[serde(rename = "1")]
    V1(PlanJob),
}

/// A [`LookJob`] with the version of its shape; old versions go on decoding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "version")]
pub enum StoredLookJob {
    /// The first shape.
    #[serde(rename = "1")]
    V1(LookJob),
}

/// An [`OrderJob`] with the version of its shape; old versions go on decoding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "version")]
pub enum StoredOrderJob {
    /// The first shape.
    #[serde(rename = "1")]
    V1(OrderJob),
}

/// Why a job has no answer, for good: kept as its outcome and never retried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "problem", rename_all = "snake_case")]
#[expect(missing_docs, reason = "fields named in the variant's doc")]
#[non_exhaustive]
pub enum Problem {
    /// No live worker has loaded `model_id`.
    #[error("no model `{model_id}`")]
    UnknownModel { model_id: String },
    /// The model gave only `reached` of the `wanted` distinct valid molecules within its bound on attempts.
    #[error("model `{model_id}` gave {reached} distinct valid molecules of the {wanted} wanted")]
    SizeUnreachable { model_id: String, wanted: u32, reached: u32 },
    /// The worker refused the target that the API had let through.
    #[error("not a molecule that can be searched: {reason}")]
    BadTarget { reason: String },
    /// The deadline passed before the work was done.
    #[error("the deadline passed")]
    DeadlinePassed,
    /// Its turn came too late for it to have the time that it was promised.
    #[error("its turn came too late for the time that it was promised")]
    TooLate,
    /// The caller hung up.
    #[error("cancelled")]
    Cancelled,
    /// An operator cancelled it.
    #[error("cancelled by an operator")]
    CancelledByOperator,
    /// The job was begun `attempts` times and no worker finished it; `cause` says why the last did not, where that is no fault of ours.
    #[error("given up after {attempts} attempts")]
    Abandoned {
        attempts: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Cause>,
    },
    /// A fault of ours; the cause is in the worker's log under the job's id.
    #[error("internal error")]
    Internal,
}

/// What an attempt failed of beside ourselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Cause {
    /// The database was away, or had no room.
    Database,
}
