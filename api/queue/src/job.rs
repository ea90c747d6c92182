//! What a job is to the queue, and the kinds there are.

use contract::{
    Look, LookOutcome, SampleId, Sought, StepCheck, StoredLookJob, StoredOrderJob, StoredPlanJob,
    StoredSampleJob, StoredTreeSearchJob, TreeSearchRequest, TreeSearchResult,
};
use serde::{Serialize, de::DeserializeOwned};

/// Seconds a sampler slot needs for any sample, whatever its size.
const SAMPLE_FLOOR_SECONDS: f64 = 0.2;

/// Molecules a sampler slot makes in a second, rounded down.
const MOLECULES_PER_SECOND: f64 = 2_000.0;

/// Seconds that a sample takes whose molecules lie ready, and so many of them more a second.
const READY_FLOOR_SECONDS: f64 = 0.005;
const READY_PER_SECOND: f64 = 200_000.0;

/// Seconds that a search expects to need when it may stop at the first route.
const FIRST_ROUTE_SECONDS: f64 = 1.0;

/// What a search takes that may take next to nothing: it is handed out, begun and answered all the same.
const LEAST_SEARCH_SECONDS: f64 = 0.01;

/// What a look takes however few molecules it asks for, and what each of them takes of two cores.
const LOOK_FLOOR_SECONDS: f64 = 0.01;
const EXPANSION_SECONDS: f64 = 0.003;
const CHECKED_EXPANSION_SECONDS: f64 = 0.01;
const BUILDING_BLOCK_SECONDS: f64 = 0.000_2;
const INCHIKEY_SECONDS: f64 = 0.000_4;
const ANALOGUE_SECONDS: f64 = 0.03;
/// What a small search takes of its time, on two cores.
const SMALL_SEARCH_SHARE: f64 = 0.25;
/// What a search of the catalogue takes beyond the floor: of a pattern, for which molecules are read, and of anything else.
const SUBSTRUCTURE_SECONDS: f64 = 0.5;
const CATALOGUE_SECONDS: f64 = 0.03;

/// Kept back from a search's deadline for the offers, the outcome and the way to the caller.
const ANSWERING_SECONDS: f64 = 0.3;

/// A unit of work, as it is stored: versioned JSON that older code wrote still decodes.
pub trait Job: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The queue that holds jobs of this kind; part of the stored data.
    const QUEUE: &'static str;

    /// What a job that worked answers.
    type Outcome: Serialize + DeserializeOwned + Send + Sync;

    /// What the job says of the work that it is.
    fn work(&self) -> Work<'_>;

    /// The model that the job needs: only workers that serve it take the job. `None`: any worker does.
    fn model_id(&self) -> Option<&str> {
        None
    }
}

/// What a job is expected to take. What finished jobs of its kind took corrects it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Work<'a> {
    /// Jobs of one kind take alike, as multiples of what each says.
    pub kind: &'a str,
    /// Seconds of one worker slot.
    pub seconds: f64,
    /// The most seconds from its begin to its answer: it is promised so many, or it is not begun. `None`: it has no bound but
    /// its deadline.
    pub longest: Option<f64>,
    /// What it takes where workers have its result ready; `None`: it is always made anew.
    pub ready: Option<Ready>,
}

/// A job's part of what lies ready.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ready {
    /// How much of it.
    pub units: u32,
    /// Seconds to hand that out.
    pub seconds: f64,
}

/// The queues that there are, as people list them.
pub const QUEUES: [&str; 5] = [
    StoredSampleJob::QUEUE,
    StoredTreeSearchJob::QUEUE,
    StoredPlanJob::QUEUE,
    StoredLookJob::QUEUE,
    StoredOrderJob::QUEUE,
];

impl Job for StoredSampleJob {
    const QUEUE: &'static str = "sample";

    type Outcome = SampleId;

    fn work(&self) -> Work<'_> {
        let Self::V1(job) = self;
        let size = f64::from(job.size);
        Work {
            kind: job.model_id.as_deref().unwrap_or_default(),
            seconds: drawing_seconds(job.size),
            longest: None,
            ready: Some(Ready { units: job.size, seconds: READY_FLOOR_SECONDS + size / READY_PER_SECOND }),
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

    /// A search that stops at its first route mostly needs far less than it may take; one that does not takes all of it.
    fn work(&self) -> Work<'_> {
        let Self::V1(job) = self;
        let (kind, seconds) = search_takes(&job.request);
        Work { kind, seconds, longest: Some(job.request.max_seconds + ANSWERING_SECONDS), ready: None }
    }

    fn model_id(&self) -> Option<&str> {
        let Self::V1(job) = self;
        job.engine.as_deref()
    }
}

impl Job for StoredPlanJob {
    const QUEUE: &'static str = "plan";

    /// What was found is stored with the plan.
    type Outcome = ();

    fn work(&self) -> Work<'_> {
        let Self::V1(job) = self;
        Work { kind: "plan", seconds: job.expected_seconds, longest: None, ready: None }
    }

    fn model_id(&self) -> Option<&str> {
        let Self::V1(job) = self;
        Some(&job.engine)
    }
}

impl Job for StoredLookJob {
    const QUEUE: &'static str = "look";

    type Outcome = LookOutcome;

    fn work(&self) -> Work<'_> {
        let Self::V1(job) = self;
        let molecules = job.smiles.len() as f64;
        let seconds = match &job.look {
            Look::Expansions { check: StepCheck::Rules, .. } => EXPANSION_SECONDS * molecules,
            Look::Expansions { check: StepCheck::Forwards, .. } => CHECKED_EXPANSION_SECONDS * molecules,
            Look::BuildingBlocks { inchikey, .. } => {
                (BUILDING_BLOCK_SECONDS + if *inchikey { INCHIKEY_SECONDS } else { 0.0 }) * molecules
            }
            Look::Synthesizability { max_seconds } => max_seconds * SMALL_SEARCH_SHARE * molecules,
            Look::Analogues { .. } => ANALOGUE_SECONDS * molecules,
            Look::Catalogue { sought: Sought::Substructure { .. }, .. } => SUBSTRUCTURE_SECONDS,
            Look::Catalogue { .. } => CATALOGUE_SECONDS,
        };
        Work {
            kind: job.look.kind(),
            seconds: (LOOK_FLOOR_SECONDS + seconds).min(job.deadline_seconds),
            longest: Some(job.deadline_seconds + ANSWERING_SECONDS),
            ready: None,
        }
    }

    fn model_id(&self) -> Option<&str> {
        let Self::V1(job) = self;
        job.engine.as_deref()
    }
}

impl Job for StoredOrderJob {
    const QUEUE: &'static str = "order";

    /// The sample is stored under the order's id.
    type Outcome = ();

    fn work(&self) -> Work<'_> {
        let Self::V1(job) = self;
        Work { kind: &job.model_id, seconds: drawing_seconds(job.size), longest: None, ready: None }
    }

    fn model_id(&self) -> Option<&str> {
        let Self::V1(job) = self;
        Some(&job.model_id)
    }
}

/// Seconds of a sampler's slot that so many molecules are expected to take of which none lies ready.
fn drawing_seconds(size: u32) -> f64 {
    SAMPLE_FLOOR_SECONDS + f64::from(size) / MOLECULES_PER_SECOND
}

/// Of which kind a search is, and how many seconds it is expected to take.
#[must_use]
pub fn search_takes(request: &TreeSearchRequest) -> (&'static str, f64) {
    let most = request.max_seconds;
    let (kind, seconds) = match request.early_exit_first_solution {
        true => ("first_route", most.min(FIRST_ROUTE_SECONDS)),
        false => ("all_routes", most),
    };
    (kind, seconds.max(LEAST_SEARCH_SECONDS))
}
