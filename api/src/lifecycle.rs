//! Router for the whole life of a process: it accepts requests from the first moment to the last, and reports
//! readiness.
//!
//! Until the service is assembled its probes answer, and all other requests get 503 with `Retry-After`. After a stop
//! signal it reports "not ready" and still serves, so that a load balancer sends nothing more before the socket
//! closes.

use axum::{Router, extract::Request, middleware, response::IntoResponse, routing::get};
use http_errors::ApiError;
use identity::Transport;
use schema::Missing;
use tokio::sync::watch;
use tower::ServiceExt;

use crate::{
    endpoints::health::{self, Readiness},
    observe::observe,
    streams::ShutdownSignal,
};

/// Router that every connection reaches.
#[derive(Debug)]
pub struct LifecycleRouter {
    transport: Transport,
    now: watch::Sender<Now>,
    closing: watch::Sender<bool>,
}

#[derive(Debug, Clone)]
struct Now {
    router: Router,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Working,
    Stopping,
}

impl LifecycleRouter {
    /// Creates a router whose service is not ready yet.
    #[must_use]
    pub fn new(transport: Transport) -> Self {
        let router = waiting(transport, Readiness::waiting(None));
        let now = watch::Sender::new(Now { router, stage: Stage::Working });
        Self { transport, now, closing: watch::Sender::new(false) }
    }

    /// Reports from now on that `missing` is not available.
    pub fn report_missing(&self, missing: &Missing) {
        let router = waiting(self.transport, Readiness::waiting(Some(missing)));
        self.now.send_modify(|now| now.router = router);
    }

    /// Routes requests to `service` from now on.
    pub fn serve(&self, service: Router) {
        self.now.send_modify(|now| now.router = service);
    }

    /// Reports "not ready" from now on.
    pub fn stop(&self) {
        self.now.send_modify(|now| now.stage = Stage::Stopping);
    }

    /// Ends the event streams; clients resume them at another process.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Returns the router for the server, valid for the server's whole life.
    pub fn router(&self) -> Router {
        let (now, closing) = (self.now.subscribe(), ShutdownSignal::once(self.closing.subscribe()));
        Router::new().fallback(async move |mut request: Request| {
            request.extensions_mut().insert(closing.clone());
            let Now { router, stage } = now.borrow().clone();
            if stage == Stage::Stopping && request.uri().path() == "/readyz" {
                return Readiness::stopping().into_response();
            }
            router.oneshot(request).await.into_response()
        })
    }
}

fn waiting(transport: Transport, readiness: Readiness) -> Router {
    let later =
        || ApiError::Unavailable { retry_after: queue::WORKER_START_TIME, reason: "The service is starting" };
    Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(async move || readiness))
        .fallback(async move || later())
        .layer(middleware::from_fn_with_state(transport, observe))
}
