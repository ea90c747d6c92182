//! What answers at which time of a process's life: it listens from its first moment to its last, and says what it lacks.
//!
//! Until the service can be put together its probes answer, and everybody else is told to come back. Once it was told to stop
//! it is not ready and still serves, so that a balancer sends nobody there when the socket closes.

use axum::{Router, extract::Request, middleware, response::IntoResponse, routing::get};
use edge::ApiError;
use identity::Transport;
use schema::Missing;
use tokio::sync::watch;
use tower::ServiceExt;

use crate::{
    endpoints::health::{self, Readiness},
    observe::observe,
    streams::Closing,
};

/// What every connection meets.
#[derive(Debug)]
pub struct Front {
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

impl Front {
    /// A front whose service is still to come.
    #[must_use]
    pub fn new(transport: Transport) -> Self {
        let router = waiting(transport, Readiness::waiting(None));
        let now = watch::Sender::new(Now { router, stage: Stage::Working });
        Self { transport, now, closing: watch::Sender::new(false) }
    }

    /// Says from now on what is missing.
    pub fn lacks(&self, missing: &Missing) {
        let router = waiting(self.transport, Readiness::waiting(Some(missing)));
        self.now.send_modify(|now| now.router = router);
    }

    /// Answers with `service` from now on.
    pub fn serve(&self, service: Router) {
        self.now.send_modify(|now| now.router = service);
    }

    /// Says from now on that nobody should be sent here.
    pub fn stop(&self) {
        self.now.send_modify(|now| now.stage = Stage::Stopping);
    }

    /// Ends the streams: whoever reads one goes on at another process.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }

    /// What a server serves, for as long as it lives.
    pub fn router(&self) -> Router {
        let (now, closing) = (self.now.subscribe(), Closing::once(self.closing.subscribe()));
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
        || ApiError::Unavailable { retry_after: queue::WORKER_START, reason: "The service is starting" };
    Router::new()
        .route("/healthz", get(health::alive))
        .route("/readyz", get(async move || readiness))
        .fallback(async move || later())
        .layer(middleware::from_fn_with_state(transport, observe))
}
