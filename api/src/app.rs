//! The state of the process and its router; `serve` and the tests run the same one.

use std::{any::Any, sync::Arc, time::Duration};

use axum::{
    Router,
    http::{HeaderName, Method, Uri},
    middleware,
    response::{IntoResponse, Response},
    routing::{MethodRouter, delete, get, post},
};
use sqlx::PgPool;
use tower_http::{catch_panic::CatchPanicLayer, cors::CorsLayer};

use crate::{
    auth::{self, Accounts, Issuers, Keys, KeysError, Passwords, Revocations, Throttle},
    config::Config,
    docs,
    endpoints::{health, models, samples, treesearch},
    error::ApiError,
    limits::{Limits, Operation},
    observe::observe,
    openapi,
};

/// What every request can use.
pub struct App {
    pub(crate) config: Config,
    pub(crate) pool: PgPool,
    pub(crate) queue: queue::Client,
    pub(crate) keys: Keys,
    pub(crate) issuers: Issuers,
    pub(crate) accounts: Accounts,
    pub(crate) passwords: Passwords,
    pub(crate) revocations: Revocations,
    pub(crate) throttle: Throttle,
    pub(crate) limits: Limits,
}

/// The process cannot start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The signing keys could not be read or made.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// There is no way to other issuers.
    #[error("the HTTP client for other issuers cannot be made")]
    Http(#[from] reqwest::Error),
    /// The queue could not be reached.
    #[error("the queue cannot be reached")]
    Queue(#[from] queue::QueueError),
}

impl App {
    /// The state over a database that is migrated.
    ///
    /// # Errors
    /// Fails when the signing keys or the queue are out of reach.
    pub async fn new(config: Config, pool: PgPool) -> Result<Arc<Self>, StartError> {
        Ok(Arc::new(Self {
            queue: queue::Client::connect(pool.clone()).await?,
            keys: Keys::load(pool.clone(), &config.issuer(), config.keys_secret.clone()).await?,
            issuers: Issuers::new(&config.issuers, &config.audiences)?,
            accounts: Accounts::new(pool.clone()),
            passwords: Passwords::new(),
            revocations: Revocations::new(pool.clone()),
            throttle: Throttle::new(pool.clone(), config.rates.login),
            limits: Limits::new(pool.clone(), config.rates),
            config,
            pool,
        }))
    }
}

/// The whole service.
pub fn router(app: Arc<App>) -> Router {
    let guarded = |operation: Operation, method: MethodRouter<Arc<App>>| {
        method.route_layer(middleware::from_fn_with_state((app.clone(), operation), auth::guard))
    };
    let called = Router::new()
        .route(
            "/generator/v1/samples",
            guarded(Operation::ListSamples, get(samples::list))
                .merge(guarded(Operation::CreateSample, post(samples::create))),
        )
        .route(
            "/generator/v1/samples/{sample_id}",
            guarded(Operation::RetrieveSample, get(samples::retrieve))
                .merge(guarded(Operation::DeleteSample, delete(samples::delete))),
        )
        .route("/generator/v1/models", guarded(Operation::ListModels, get(models::list)))
        .route("/generator/v1/models/{model_id}", guarded(Operation::RetrieveModel, get(models::retrieve)))
        .route("/synth/v1/treesearch", guarded(Operation::CreateTreeSearch, post(treesearch::create)))
        .route("/openapi.json", get(openapi::serve))
        .merge(auth::endpoints())
        // Before the layer, which is to see the preflight requests that no method takes.
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed);
    let called = match cors(&app) {
        Some(cors) => called.layer(cors),
        None => called,
    };
    Router::new()
        .merge(called)
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .merge(docs::router())
        .merge(auth::pages())
        .fallback(not_found)
        .method_not_allowed_fallback(async || ApiError::MethodNotAllowed)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn(observe))
        .with_state(app)
}

/// Lets web pages from the origins that the operator named call the service, with tokens and not with
/// cookies.
fn cors(app: &App) -> Option<CorsLayer> {
    let origins = &app.config.cors_origins;
    let named = |names: [&'static str; 4]| names.map(HeaderName::from_static);
    (!origins.is_empty()).then(|| {
        CorsLayer::new()
            .allow_origin(origins.clone())
            .allow_methods([Method::GET, Method::POST, Method::DELETE])
            .allow_headers(named(["authorization", "content-type", "x-request-id", "traceparent"]))
            .expose_headers(named(["retry-after", "ratelimit", "ratelimit-policy", "x-request-id"]))
            .max_age(Duration::from_secs(3600))
    })
}

async fn not_found(_: Uri) -> ApiError {
    ApiError::NotFound
}

/// The panic's message goes to the log, by the hook that every panic passes; the caller learns nothing of it.
fn panicked(_: Box<dyn Any + Send>) -> Response {
    tracing::error!("a request panicked");
    ApiError::Internal.into_response()
}
