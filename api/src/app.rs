//! Assembly of the process: the state that handlers share, each taking its parts, and the router. `serve` and the
//! tests run the same one.

use std::{any::Any, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::FromRef,
    http::{HeaderName, HeaderValue, Method, Uri},
    middleware,
    response::{IntoResponse, Response},
    routing::{MethodRouter, delete, get, patch, post},
};
use database::Database;
use http_errors::{ApiError, Deadline};
use identity::{Identity, KeysError, Transport};
use sqlx::PgPool;
use tower_http::{catch_panic::CatchPanicLayer, cors::CorsLayer};

use crate::{
    access::{self, AuthGuard},
    body_validation::ValidationPermits,
    concurrency_limit::{self, ConcurrencyLimit},
    config::{Config, GzipBody},
    console,
    deadline::{self, Deadlines},
    docs,
    endpoints::{
        batches, bulk_queries,
        engines::{self, Engines},
        generate, health, kept_routes, models, operations, plans, sample_batches, samples, treesearch,
    },
    jobs::{AdmissionLimits, Jobs},
    limits::{Limits, Operation},
    observe::observe,
    openapi,
    quota::Quota,
    retention_times::RetentionTimes,
    streams::Streams,
};

/// State of which handlers take parts. Clones share everything.
#[derive(Clone, FromRef)]
pub struct App {
    identity: Arc<Identity>,
    limits: Arc<Limits>,
    checks: ValidationPermits,
    deadlines: Deadlines,
    crowd: ConcurrencyLimit,
    pool: PgPool,
    queue: queue::Client,
    jobs: Jobs,
    engines: Engines,
    streams: Streams,
    gzip_body: GzipBody,
    keep: RetentionTimes,
    transport: Transport,
    document: openapi::ServedDocument,
    recent: health::ReadinessCache,
    cors_origins: Arc<[HeaderValue]>,
}

/// Reason for which the process cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Identity cannot start.
    #[error(transparent)]
    Identity(#[from] identity::StartError),
    /// The queue could not be reached.
    #[error("the queue cannot be reached")]
    Queue(#[from] queue::QueueError),
    /// The OpenAPI document cannot be written.
    #[error("the OpenAPI document cannot be written")]
    Document(#[from] serde_json::Error),
}

impl StartError {
    /// Returns true if another start would fail as well.
    #[must_use]
    pub fn is_permanent(&self) -> bool {
        matches!(self, Self::Identity(identity::StartError::Keys(KeysError::Sealed { .. })))
    }
}

impl App {
    /// Builds the state over a migrated database.
    ///
    /// # Errors
    /// Fails when the signing keys or the queue cannot be reached.
    pub async fn new(config: Config, database: impl Into<Database>) -> Result<Self, StartError> {
        let database = database.into();
        let document = openapi::ServedDocument::new(&config.identity.public_url, config.max_seconds_limit)?;
        let transport = config.identity.transport();
        let connections = queue::Connections {
            queue: config.database_connections.queue_share(),
            process: config.connections_to_server(),
        };
        let queue = queue::Client::connect(database.clone(), connections).await?;
        let pool = database.pool.clone();
        let deadlines = Deadlines::new(&config);
        let crowd = ConcurrencyLimit::new(config.requests_at_once);
        let patience = AdmissionLimits {
            sample: config.sample_deadline,
            longest_search: config.max_seconds_limit,
            search_slack: config.search_slack,
            most_in_flight: (config.jobs_in_flight > 0).then_some(config.jobs_in_flight),
            quota: Quota {
                targets: (config.waiting_targets > 0).then_some(config.waiting_targets),
                molecules: (config.waiting_molecules > 0).then_some(config.waiting_molecules),
            },
        };
        let limits = Arc::new(Limits::new(pool.clone(), config.rates));
        Ok(Self {
            checks: ValidationPermits::new(config.identity.threads.get(), limits.clone()),
            identity: Identity::new(config.identity, config.request_time, database).await?,
            limits,
            jobs: Jobs::new(queue.clone(), crowd.clone(), patience, config.default_models),
            engines: Engines::new(config.engine_aliases),
            streams: Streams::new(pool.clone()),
            deadlines,
            crowd,
            queue,
            pool,
            gzip_body: config.gzip_body,
            keep: config.keep,
            transport,
            document,
            recent: health::ReadinessCache::default(),
            cors_origins: config.cors_origins.into(),
        })
    }
}

/// Builds the router of the whole service.
pub fn router(app: App) -> Router {
    let deadlines = app.deadlines;
    let gate = AuthGuard {
        identity: app.identity.clone(),
        limits: app.limits.clone(),
        checks: app.checks.clone(),
        patience: deadlines.request,
    };
    let watched = |operation: Operation, method: MethodRouter<App>| {
        method
            .route_layer(middleware::from_fn_with_state((gate.clone(), operation), access::guard))
            .route_layer(middleware::from_fn_with_state((deadlines, operation), deadline::keep))
    };
    // Operators need no permit, so that they can read and act under overload.
    let guarded = |operation: Operation, method: MethodRouter<App>| {
        watched(operation, method)
            .route_layer(middleware::from_fn_with_state(app.crowd.clone(), concurrency_limit::enter))
    };
    let queued = |operation: Operation, method: MethodRouter<App>| {
        guarded(operation, method.route_layer(middleware::from_fn(concurrency_limit::leave)))
    };
    let ready = Deadline { time: deadlines.request, late: ApiError::into_response };
    let called = Router::new()
        .route(
            "/generator/v1/samples",
            guarded(Operation::ListSamples, get(samples::list))
                .merge(queued(Operation::CreateSample, post(samples::create))),
        )
        .route(
            "/generator/v1/samples/{sample_id}",
            guarded(Operation::RetrieveSample, get(samples::retrieve))
                .merge(guarded(Operation::DeleteSample, delete(samples::delete))),
        )
        .route("/generator/v1/models", guarded(Operation::ListModels, get(models::list)))
        .route("/generator/v1/models/{model_id}", guarded(Operation::RetrieveModel, get(models::retrieve)))
        .route(
            "/generator/v1/models/{model_id}/status",
            guarded(Operation::RetrieveModel, get(models::status)),
        )
        .route("/generator/v1/version-backend", guarded(Operation::ListModels, get(models::version)))
        .route("/generator/v1/generate", queued(Operation::CreateSample, post(generate::generate)))
        .route(
            "/generator/v1/generate/{model_id}",
            queued(Operation::CreateSample, post(generate::generate_by_model)),
        )
        .merge(sample_batch_routes(&guarded, &queued))
        .route("/synth/v1/treesearch", queued(Operation::CreateTreeSearch, post(treesearch::create)))
        .route(
            "/synth/v1/treesearch/{search_id}/events",
            guarded(Operation::WatchTreeSearch, get(treesearch::events::watch)),
        )
        .route(
            "/synth/v1/{engine}/treesearch",
            queued(Operation::CreateTreeSearch, post(treesearch::create_by_engine)),
        )
        .merge(bulk_query_routes(&queued))
        .merge(plan_routes(&guarded, &queued))
        .merge(kept_route_routes(&guarded, &queued))
        .route("/operations/v1/state", watched(Operation::SeeOperations, get(operations::state)))
        .route("/operations/v1/queues/{queue}/pause", watched(Operation::Operate, post(operations::pause)))
        .route("/operations/v1/queues/{queue}/resume", watched(Operation::Operate, post(operations::resume)))
        .route("/operations/v1/jobs/{job_id}/cancel", watched(Operation::Operate, post(operations::cancel)))
        .route("/operations/v1/jobs/{job_id}/retry", watched(Operation::Operate, post(operations::retry)))
        .route("/openapi.json", get(openapi::serve))
        .merge(identity::endpoints(app.identity.clone()).with_state(()))
        // Set before the CORS layer, which must see preflight requests that no method takes.
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed);
    let called = match cors(&app.cors_origins) {
        Some(cors) => called.layer(cors),
        None => called,
    };
    Router::new()
        .merge(called)
        .route("/healthz", get(health::alive))
        .route(
            "/readyz",
            get(health::ready)
                .route_layer(middleware::from_fn_with_state(ready, http_errors::enforce_deadline)),
        )
        .merge(docs::router())
        .merge(console::router())
        .merge(identity::pages(app.identity.clone()).with_state(()))
        .fallback(not_found)
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn_with_state(app.transport, observe))
        .with_state(app)
}

/// Middleware of an operation.
trait OperationLayer: Fn(Operation, MethodRouter<App>) -> MethodRouter<App> {}

impl<F: Fn(Operation, MethodRouter<App>) -> MethodRouter<App>> OperationLayer for F {}

/// Routes for bulk queries.
fn bulk_query_routes(queued: &impl OperationLayer) -> Router<App> {
    Router::new()
        .route("/synth/v1/expansions", queued(Operation::BulkQuery, post(bulk_queries::expansions)))
        .route("/synth/v1/building-blocks", queued(Operation::BulkQuery, post(bulk_queries::building_blocks)))
        .route("/synth/v1/building-blocks/search", queued(Operation::BulkQuery, post(bulk_queries::search)))
        .route("/synth/v1/analogues", queued(Operation::BulkQuery, post(bulk_queries::analogues)))
        .route(
            "/synth/v1/synthesizability",
            queued(Operation::BulkQuery, post(bulk_queries::synthesizability)),
        )
}

/// Routes for sample batches.
fn sample_batch_routes(guarded: &impl OperationLayer, queued: &impl OperationLayer) -> Router<App> {
    Router::new()
        .route(
            "/generator/v1/sample-batches",
            guarded(Operation::ListSamples, get(sample_batches::list))
                .merge(queued(Operation::CreateSampleBatch, post(sample_batches::create))),
        )
        .route(
            "/generator/v1/sample-batches/{batch_id}",
            guarded(Operation::RetrieveSample, get(sample_batches::retrieve))
                .merge(guarded(Operation::DeleteSample, delete(sample_batches::delete))),
        )
        .route(
            "/generator/v1/sample-batches/{batch_id}/samples",
            guarded(Operation::RetrieveSample, get(sample_batches::samples)),
        )
        .route(
            "/generator/v1/sample-batches/{batch_id}/cancel",
            guarded(Operation::DeleteSample, post(sample_batches::cancel)),
        )
}

/// Routes for plans and batches, the asynchronous searches.
fn plan_routes(guarded: &impl OperationLayer, queued: &impl OperationLayer) -> Router<App> {
    Router::new()
        .route(
            "/synth-batches/v1/version-backend",
            guarded(Operation::RetrieveVersion, get(engines::version)),
        )
        .route("/synth-batches/v1/engines", guarded(Operation::ReadPlans, get(engines::list)))
        .route("/synth-batches/v1/libraries", guarded(Operation::ReadPlans, get(engines::libraries)))
        .route(
            "/synth-batches/v1/plans",
            guarded(Operation::ReadPlans, get(plans::list))
                .merge(queued(Operation::CreatePlan, post(plans::create))),
        )
        .route(
            "/synth-batches/v1/plans/{plan_id}",
            guarded(Operation::ReadPlans, get(plans::retrieve))
                .merge(guarded(Operation::DeletePlan, delete(plans::delete))),
        )
        .route(
            "/synth-batches/v1/plans/{plan_id}/events",
            guarded(Operation::ReadPlans, get(plans::events::watch)),
        )
        .route(
            "/synth-batches/v1/plans/{plan_id}/cancel",
            guarded(Operation::DeletePlan, post(plans::cancel)),
        )
        .route(
            "/synth-batches/v1/batches",
            guarded(Operation::ReadPlans, get(batches::list))
                .merge(queued(Operation::CreateBatch, post(batches::create))),
        )
        .route(
            "/synth-batches/v1/batches/{batch_id}",
            guarded(Operation::ReadPlans, get(batches::retrieve))
                .merge(guarded(Operation::DeletePlan, delete(batches::delete))),
        )
        .route(
            "/synth-batches/v1/batches/{batch_id}/plans",
            guarded(Operation::ReadPlans, get(batches::plans)),
        )
        .route(
            "/synth-batches/v1/batches/{batch_id}/plans/{plan_id}",
            guarded(Operation::ReadPlans, get(batches::retrieve_plan)),
        )
        .route(
            "/synth-batches/v1/batches/{batch_id}/cancel",
            guarded(Operation::DeletePlan, post(batches::cancel)),
        )
        .route(
            "/synth-batches/v1/batches/{batch_id}/resume",
            guarded(Operation::ResumeBatch, post(batches::resume)),
        )
}

/// Routes for kept routes.
fn kept_route_routes(guarded: &impl OperationLayer, queued: &impl OperationLayer) -> Router<App> {
    Router::new()
        .route(
            "/synth/v1/routes",
            guarded(Operation::ReadRoutes, get(kept_routes::list))
                .merge(queued(Operation::CreateRoute, post(kept_routes::create))),
        )
        .route(
            "/synth/v1/routes/{route_id}",
            guarded(Operation::ReadRoutes, get(kept_routes::retrieve))
                .merge(queued(Operation::UpdateRoute, patch(kept_routes::update)))
                .merge(guarded(Operation::DeleteRoute, delete(kept_routes::delete))),
        )
}

/// Request headers that web pages of other origins may send.
const CORS_REQUEST_HEADERS: [&str; 7] = [
    "authorization",
    "content-type",
    "idempotency-key",
    "last-event-id",
    "prefer",
    "traceparent",
    "x-request-id",
];

/// Response headers that web pages of other origins may read.
const CORS_RESPONSE_HEADERS: [&str; 8] = [
    "content-location",
    "idempotent-replayed",
    "location",
    "preference-applied",
    "ratelimit",
    "ratelimit-policy",
    "retry-after",
    "x-request-id",
];

/// Allows web pages from the operator's origins to call the service, with tokens and without cookies.
fn cors(origins: &[HeaderValue]) -> Option<CorsLayer> {
    (!origins.is_empty()).then(|| {
        CorsLayer::new()
            .allow_origin(origins.to_vec())
            .allow_methods([Method::GET, Method::POST, Method::PATCH, Method::DELETE])
            .allow_headers(CORS_REQUEST_HEADERS.map(HeaderName::from_static))
            .expose_headers(CORS_RESPONSE_HEADERS.map(HeaderName::from_static))
            .max_age(Duration::from_secs(3600))
    })
}

async fn not_found(_: Uri) -> ApiError {
    ApiError::NotFound
}

/// Answers after a panic. The panic hook has logged the message; the caller learns nothing of it.
fn panicked(_: Box<dyn Any + Send>) -> Response {
    tracing::error!("a request panicked");
    ApiError::Internal.into_response()
}
