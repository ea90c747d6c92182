//! Types shared by both sides of the queue: wire bodies, jobs, outcomes.
//!
//! There is one shape per boundary. HTTP bodies follow the service's contract field by field, a job is what the API
//! stores, an outcome is what a worker answers. Nothing here does I/O or is async. So a stored job can be replayed by
//! hand, and a change of shape shows up in the golden files of `tests/`.

// No input from outside may cause a panic or be silently turned into another number.
#![cfg_attr(
    not(test),
    warn(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        clippy::indexing_slicing,
        clippy::string_slice
    )
)]

mod bulk_query;
mod compact;
mod constraints;
mod engine_answer;
mod error;
mod events;
mod export;
mod flow;
mod job;
mod kept_route;
mod likelihood;
mod model;
mod native_plan;
mod operations;
mod plan;
mod quota;
mod route_tree;
mod sample;
mod sample_batch;
mod sample_conditions;
pub mod scope;
mod search_request;
mod shaped_result;
mod shopping;
mod treesearch;

pub use bulk_query::{
    Analogue, AnaloguesRequest, BuildingBlocksRequest, BulkQueryResult, CatalogueMatch, CatalogueRequest,
    CatalogueSearchResult, DEFAULT_MIN_SIMILARITY, ExpandedMolecule, ExpansionsRequest, LEAST_NUMBER,
    MAX_BULK_QUERY, MAX_CATALOGUE_MATCHES, MAX_CATALOGUE_TEXT, MAX_LISTED_OFFERS, MAX_PRECURSOR_SETS,
    MoleculeAvailability, NOT_REACHED, PrecursorSet, SYNTHESIZABILITY_SECONDS, StepCheck, Synthesizability,
    SynthesizabilityRequest,
};
pub use compact::{
    COMPACT_RESULT, CompactMolecule, CompactResult, CompactRoute, CompactStep, StoredSearchResult,
};
pub use constraints::{AtomPair, ConstraintReport, MAX_ATOM_MAP, OwnBlock, ProtectingGroups};
pub use engine_answer::{
    COMMON_CHEMICALS, CommonOffer, EngineAnswer, EngineEdge, EngineHierarchy, EngineNode, EngineNodeData,
    EngineOffer, EngineRoute, PricedOffer, PricedRoute, ReactionData, UNKNOWN,
};
pub use error::{ErrorBody, ErrorItem, Location};
pub use events::{FoundRoute, SearchProgress, StreamEvent, StreamProblem};
pub use export::{
    AizynthTrees, ExportFormat, NoInchiKey, RetrocastPredictions, aizynth_tree, export, retrocast_candidates,
};
pub use flow::{Flow, FlowError};
pub use job::{
    AsyncSampleJob, BulkQuery, BulkQueryJob, BulkQueryOutcome, CatalogueCriterion, Cause, JobFailure, JobId,
    LikelihoodJob, PlanJob, ProgressReporting, SampleJob, StoredAsyncSampleJob, StoredBulkQueryJob,
    StoredLikelihoodJob, StoredPlanJob, StoredSampleJob, StoredTreeSearchJob, TreeSearchJob,
};
pub use kept_route::{
    KeptRoute, KeptRouteChange, KeptRouteObject, KeptRouteRequest, MAX_KEPT, MAX_KEPT_NODES, RouteFigures,
};
pub use likelihood::{Likelihoods, LikelihoodsRequest, MAX_LIKELIHOODS, MoleculeLikelihood};
pub use model::{
    Model, ModelAvailability, ModelCard, ModelList, ModelMetrics, ModelObject, ModelStatus,
    PropertyDistribution,
};
pub use native_plan::NativePlan;
pub use operations::{
    CatalogueState, FailedJob, JobInFlight, JobState, OperationsState, QueuePause, QueueState,
    ReservoirState, WorkerState,
};
pub use plan::{
    Batch, BatchObject, BatchParameters, BatchProgress, BatchRequest, Deleted, Engine, Library, MAX_BATCH,
    Page, Plan, PlanFigures, PlanObject, PlanParameters, PlanRequest, PlanStatus, Version,
};
pub use quota::{QuotaKind, RationError};
pub use route_tree::{RouteTree, TreeMolecule, TreeStep};
pub use sample::{
    Generated, ListObject, MAX_SAMPLE_SIZE, NotASampleId, Sample, SampleId, SampleList, SampleListItem,
    SampleObject, SampleRequest, SampleStatus,
};
pub use sample_batch::{
    CHUNK_SIZE, Listed, MAX_SAMPLE_BATCH, SampleBatch, SampleBatchObject, SampleBatchRequest,
};
pub use sample_conditions::{
    ConditionRefusals, DEFAULT_MAKEABLE_SECONDS, MAKEABLE_SECONDS, MAX_EXCLUDED, MAX_EXCLUDED_MOLECULES,
    MAX_LEAD_TIME_DAYS, MAX_LINKED_FRAGMENTS, MAX_ROUTE_STEPS, MAX_SEED, MAX_SIMILAR_TO, MAX_SUBSTRUCTURES,
    Makeability, MakeableRoute, MoleculeDetails, PropertyRange, RouteDetails, RouteLimits, SampleConditions,
    TEMPERATURES,
};
pub use search_request::{Country, MAX_AMOUNT_MMOL, MAX_DEPTH_LIMIT, TreeSearchRequest};
pub use shaped_result::{NATIVE_RESULT, ShapedResult};
pub use shopping::{OrderedPack, ShoppingList, StockTaken, Unpriced, VendorOrder};
pub use treesearch::{
    Conditions, Edge, Hierarchy, Metadata, Node, NodeData, NodeNecessity, PricingAnnotation, ReagentResults,
    RefusedSteps, RouteGraph, RouteSummary, SearchReport, StepEvidence, TreeSearchResult,
};
