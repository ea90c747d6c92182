//! Concurrency limit of requests; a request beyond it is refused at once.
//!
//! Queries in flight share the processor. If more arrive than can be served, all answers come later and later until
//! all are late. So a request holds a permit while it is worked on, and without a permit it is refused before it
//! queries anything. An admitted request waits no longer than the permits before it take (Little's law: at 4,000
//! reads a second 64 permits are 16 ms). A request that waits for something else holds no permit: for a slow body
//! ([`release`]), or for a worker, since the queue has its own admission.

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
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Permits. Clones share them.
#[derive(Debug, Clone)]
pub struct ConcurrencyLimit(Arc<Semaphore>);

impl ConcurrencyLimit {
    /// Allows `permits` concurrent requests.
    pub fn new(permits: usize) -> Self {
        Self(Arc::new(Semaphore::new(permits)))
    }

    /// Acquires a permit, which is released when dropped.
    ///
    /// # Errors
    /// Fails when none is free.
    pub fn acquire(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let reason = "The service has more requests than it can answer soon";
        let full = |_| ApiError::Unavailable { retry_after: RETRY_AFTER, reason };
        Arc::clone(&self.0).try_acquire_owned().map_err(full)
    }
}

/// Permit of a running request, which may be released before the response.
#[derive(Debug, Clone)]
struct RequestPermit(Arc<Mutex<Option<OwnedSemaphorePermit>>>);

impl RequestPermit {
    fn release(&self) {
        self.0.lock().take();
    }
}

/// Middleware that runs a request only with a permit.
pub async fn limit_requests(
    State(concurrency_limit): State<ConcurrencyLimit>,
    mut request: Request,
    next: Next,
) -> Response {
    let request_permit = match concurrency_limit.acquire() {
        Ok(permit) => RequestPermit(Arc::new(Mutex::new(Some(permit)))),
        Err(full) => return full.into_response(),
    };
    request.extensions_mut().insert(request_permit.clone());
    let response = next.run(request).await;
    request_permit.release();
    response
}

/// Middleware that releases the request's permit.
pub async fn release(request: Request, next: Next) -> Response {
    if let Some(request_permit) = request.extensions().get::<RequestPermit>() {
        request_permit.release();
    }
    next.run(request).await
}
