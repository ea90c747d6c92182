//! Concurrency limit of requests; a request beyond it is refused at once.
//!
//! Queries in flight share the processor. If more arrive than can be served, all answers come later and later until
//! all are late. So a request holds a permit while it is worked on, and without a permit it is refused before it
//! queries anything. An admitted request waits no longer than the permits before it take (Little's law: at 4,000
//! reads a second 64 permits are 16 ms). A request that waits for something else holds no permit: for a slow body
//! ([`leave`]), or for a worker, since the queue has its own admission.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http_errors::ApiError;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Retry-after: permits are free within milliseconds, and an overload passes within seconds.
const COME_AGAIN: Duration = Duration::from_secs(1);

/// Permits. Clones share them.
#[derive(Debug, Clone)]
pub struct ConcurrencyLimit(Arc<Semaphore>);

impl ConcurrencyLimit {
    /// Allows `places` concurrent requests.
    pub fn new(places: usize) -> Self {
        Self(Arc::new(Semaphore::new(places)))
    }

    /// Acquires a permit, which is released when dropped.
    ///
    /// # Errors
    /// Fails when none is free.
    pub fn place(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let reason = "The service has more requests than it can answer soon";
        let full = |_| ApiError::Unavailable { retry_after: COME_AGAIN, reason };
        Arc::clone(&self.0).try_acquire_owned().map_err(full)
    }
}

/// Permit of a running request, which may be released before the response.
#[derive(Debug, Clone)]
struct RequestPermit(Arc<Mutex<Option<OwnedSemaphorePermit>>>);

impl RequestPermit {
    fn leave(&self) {
        self.0.lock().take();
    }
}

/// Middleware that runs a request only with a permit.
pub async fn enter(State(crowd): State<ConcurrencyLimit>, mut request: Request, next: Next) -> Response {
    let place = match crowd.place() {
        Ok(permit) => RequestPermit(Arc::new(Mutex::new(Some(permit)))),
        Err(full) => return full.into_response(),
    };
    request.extensions_mut().insert(place.clone());
    let response = next.run(request).await;
    place.leave();
    response
}

/// Middleware that releases the request's permit.
pub async fn leave(request: Request, next: Next) -> Response {
    if let Some(place) = request.extensions().get::<RequestPermit>() {
        place.leave();
    }
    next.run(request).await
}
