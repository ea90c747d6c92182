//! Assembly of the process: the state that handlers share, each taking its parts, and the router. `serve` and the
//! tests run the same one.

use std::{any::Any, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::FromRef,
    http::{HeaderName, HeaderValue, Method, Uri},
    middleware,
    response::{IntoResponse, Response},
    routing::{MethodRouter, get},
};
use database::Database;
use http_errors::{ApiError, Deadline};
use identity::{Identity, KeysError, Transport};
use sqlx::PgPool;
use tower_http::{catch_panic::CatchPanicLayer, cors::CorsLayer};
use utoipa::openapi::OpenApi;
use utoipa_axum::{
    router::{OpenApiRouter, UtoipaMethodRouter},
    routes,
};

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
        generate, health, kept_routes, likelihoods, models, operations, plans, sample_batches, samples,
        treesearch,
    },
    jobs::{AdmissionLimits, Jobs},
    limits::RateLimits,
    observe::observe,
    openapi,
    operation::{Operation, PermitUse},
    quota::Quota,
    retention_times::RetentionTimes,
    streams::Streams,
};

/// State of which handlers take parts. Clones share everything.
#[derive(Clone, FromRef)]
pub struct App {
    identity: Arc<Identity>,
    limits: Arc<RateLimits>,
    validation_permits: ValidationPermits,
    deadlines: Deadlines,
    concurrency_limit: ConcurrencyLimit,
    pool: PgPool,
    queue: queue::Client,
    jobs: Jobs,
    engines: Engines,
    streams: Streams,
    gzip_body: GzipBody,
    retention_times: RetentionTimes,
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
    Identity(#[from] identity::IdentityStartError),
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
        matches!(self, Self::Identity(identity::IdentityStartError::Keys(KeysError::Sealed { .. })))
    }
}

impl App {
    /// Builds the state over a migrated database.
    ///
    /// # Errors
    /// Fails when the signing keys or the queue cannot be reached.
    pub async fn new(config: Config, database: impl Into<Database>) -> Result<Self, StartError> {
        let database = database.into();
        let document =
            openapi::ServedDocument::new(document(), &config.identity.public_url, config.max_seconds_limit)?;
        let transport = config.identity.transport();
        let connections = queue::ClientConnections {
            queue: config.database_connections.queue_share(),
            process: config.connections_to_server(),
        };
        let queue = queue::Client::connect(database.clone(), connections).await?;
        let pool = database.pool.clone();
        let deadlines = Deadlines::new(&config);
        let concurrency_limit = ConcurrencyLimit::new(config.requests_at_once);
        let admission_limits = AdmissionLimits {
            sample_timeout: config.sample_deadline,
            longest_search: config.max_seconds_limit,
            search_slack: config.search_slack,
            max_in_flight: (config.jobs_in_flight > 0).then_some(config.jobs_in_flight),
            quota: Quota {
                targets: (config.waiting_targets > 0).then_some(config.waiting_targets),
                molecules: (config.waiting_molecules > 0).then_some(config.waiting_molecules),
            },
        };
        let limits = Arc::new(RateLimits::new(pool.clone(), config.rates));
        Ok(Self {
            validation_permits: ValidationPermits::new(config.identity.threads.get(), limits.clone()),
            identity: Identity::new(config.identity, config.request_time, database).await?,
            limits,
            jobs: Jobs::new(
                queue.clone(),
                concurrency_limit.clone(),
                admission_limits,
                config.default_models,
            ),
            engines: Engines::new(config.engine_aliases),
            streams: Streams::new(pool.clone()),
            deadlines,
            concurrency_limit,
            queue,
            pool,
            gzip_body: config.gzip_body,
            retention_times: config.retention_times,
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
    let auth_guard = AuthGuard {
        identity: app.identity.clone(),
        limits: app.limits.clone(),
        validation_permits: app.validation_permits.clone(),
        timeout: deadlines.request,
    };
    let guard = |operation: Operation, methods: MethodRouter<App>| {
        let methods = match operation.permit {
            PermitUse::Admission => methods.route_layer(middleware::from_fn(concurrency_limit::release)),
            PermitUse::WholeRequest | PermitUse::Unlimited => methods,
        };
        let methods = methods
            .route_layer(middleware::from_fn_with_state((auth_guard.clone(), operation), access::guard))
            .route_layer(middleware::from_fn_with_state((deadlines, operation.deadline), deadline::enforce));
        match operation.permit {
            PermitUse::Admission | PermitUse::WholeRequest => {
                methods.route_layer(middleware::from_fn_with_state(
                    app.concurrency_limit.clone(),
                    concurrency_limit::limit_requests,
                ))
            }
            PermitUse::Unlimited => methods,
        }
    };
    let ready = Deadline { time: deadlines.request, late: ApiError::into_response };
    let called = Router::from(endpoints(guard))
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

/// Lists the endpoints that need a token, each with its rules. `guard` adds the middleware.
fn endpoints(guard: impl Fn(Operation, MethodRouter<App>) -> MethodRouter<App>) -> OpenApiRouter<App> {
    let endpoint = |rules: Operation, (schemas, mut paths, methods): UtoipaMethodRouter<App>| {
        openapi::complete(&mut paths, &rules);
        (schemas, paths, guard(rules, methods))
    };
    OpenApiRouter::with_openapi(openapi::empty())
        .routes(endpoint(samples::READ, routes!(samples::list)))
        .routes(endpoint(samples::CREATE, routes!(samples::create)))
        .routes(endpoint(samples::READ, routes!(samples::retrieve)))
        .routes(endpoint(samples::DELETE, routes!(samples::delete)))
        .routes(endpoint(generate::GENERATE, routes!(generate::generate)))
        .routes(endpoint(generate::GENERATE, routes!(generate::generate_by_model)))
        .routes(endpoint(likelihoods::CREATE, routes!(likelihoods::create)))
        .routes(endpoint(sample_batches::CREATE, routes!(sample_batches::create)))
        .routes(endpoint(sample_batches::READ, routes!(sample_batches::list)))
        .routes(endpoint(sample_batches::READ, routes!(sample_batches::retrieve)))
        .routes(endpoint(sample_batches::READ, routes!(sample_batches::samples)))
        .routes(endpoint(sample_batches::DELETE, routes!(sample_batches::cancel)))
        .routes(endpoint(sample_batches::DELETE, routes!(sample_batches::delete)))
        .routes(endpoint(models::READ, routes!(models::list)))
        .routes(endpoint(models::READ, routes!(models::retrieve)))
        .routes(endpoint(models::READ, routes!(models::status)))
        .routes(endpoint(models::READ, routes!(models::version)))
        .routes(endpoint(treesearch::CREATE, routes!(treesearch::create)))
        .routes(endpoint(treesearch::events::WATCH, routes!(treesearch::events::watch)))
        .routes(endpoint(treesearch::CREATE, routes!(treesearch::create_by_engine)))
        .routes(endpoint(bulk_queries::EXPANSIONS, routes!(bulk_queries::expansions)))
        .routes(endpoint(bulk_queries::BUILDING_BLOCKS, routes!(bulk_queries::building_blocks)))
        .routes(endpoint(bulk_queries::SEARCH, routes!(bulk_queries::search)))
        .routes(endpoint(bulk_queries::ANALOGUES, routes!(bulk_queries::analogues)))
        .routes(endpoint(bulk_queries::SYNTHESIZABILITY, routes!(bulk_queries::synthesizability)))
        .routes(endpoint(kept_routes::CREATE, routes!(kept_routes::create)))
        .routes(endpoint(kept_routes::READ, routes!(kept_routes::list)))
        .routes(endpoint(kept_routes::RETRIEVE, routes!(kept_routes::retrieve)))
        .routes(endpoint(kept_routes::UPDATE, routes!(kept_routes::update)))
        .routes(endpoint(kept_routes::DELETE, routes!(kept_routes::delete)))
        .routes(endpoint(plans::CREATE, routes!(plans::create)))
        .routes(endpoint(plans::READ, routes!(plans::list)))
        .routes(endpoint(plans::RETRIEVE, routes!(plans::retrieve)))
        .routes(endpoint(plans::READ, routes!(plans::events::watch)))
        .routes(endpoint(plans::DELETE, routes!(plans::cancel)))
        .routes(endpoint(plans::DELETE, routes!(plans::delete)))
        .routes(endpoint(batches::CREATE, routes!(batches::create)))
        .routes(endpoint(batches::READ, routes!(batches::list)))
        .routes(endpoint(batches::READ, routes!(batches::retrieve)))
        .routes(endpoint(batches::READ, routes!(batches::plans)))
        .routes(endpoint(batches::READ, routes!(batches::retrieve_plan)))
        .routes(endpoint(batches::DELETE, routes!(batches::cancel)))
        .routes(endpoint(batches::RESUME, routes!(batches::resume)))
        .routes(endpoint(batches::DELETE, routes!(batches::delete)))
        .routes(endpoint(engines::VERSION, routes!(engines::version)))
        .routes(endpoint(engines::READ, routes!(engines::list)))
        .routes(endpoint(engines::READ, routes!(engines::libraries)))
        .routes(endpoint(operations::OPERATE, routes!(operations::state)))
        .routes(endpoint(operations::OPERATE, routes!(operations::pause)))
        .routes(endpoint(operations::OPERATE, routes!(operations::resume)))
        .routes(endpoint(operations::OPERATE, routes!(operations::cancel)))
        .routes(endpoint(operations::OPERATE, routes!(operations::retry)))
}

/// Returns the OpenAPI document without the address of an installation.
#[must_use]
pub fn document() -> OpenApi {
    openapi::finished(endpoints(|_, methods| methods).into_openapi())
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

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// To accept a change, run `retort-api openapi >api/tests/openapi.json`.
    #[test]
    fn the_openapi_document_is_the_one_that_was_reviewed() {
        let reviewed: Value = serde_json::from_str(include_str!("../tests/openapi.json")).unwrap();

        let generated = serde_json::to_value(document()).unwrap();

        assert_eq!(generated, reviewed);
    }
}
