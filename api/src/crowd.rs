//! How many requests are in hand at once; who comes beyond that is told so at once.
//!
//! What is asked of the database and not answered yet waits for processor time that all share. Where more is asked than can be done,
//! every answer would come later and later until all are late; so a request has a place while it is worked on, and without one it is
//! refused before anything is asked for it. Who was let in waits no longer than the places before them take (Little's law: at 4,000
//! reads a second 64 places are 16 ms). Nobody has a place who waits for something else: a body that its sender takes their time for
//! ([`leave`]), or a worker, since the queue has an admission of its own.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use edge::ApiError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// When to come again: places are free within milliseconds, a crowd goes within seconds.
const COME_AGAIN: Duration = Duration::from_secs(1);

/// The places. Clones share them.
#[derive(Debug, Clone)]
pub struct Crowd(Arc<Semaphore>);

impl Crowd {
    /// Room for so many requests.
    pub fn new(places: usize) -> Self {
        Self(Arc::new(Semaphore::new(places)))
    }

    /// A place, until it is dropped.
    ///
    /// # Errors
    /// Fails where none is free.
    pub fn place(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        let reason = "The service has more requests in hand than it can answer soon";
        let full = |_| ApiError::Unavailable { retry_after: COME_AGAIN, reason };
        Arc::clone(&self.0).try_acquire_owned().map_err(full)
    }
}

/// The place of a request under way, which may be left before it is answered.
#[derive(Debug, Clone)]
struct Place(Arc<Mutex<Option<OwnedSemaphorePermit>>>);

impl Place {
    fn leave(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
    }
}

/// Lets a request through that finds a place.
pub async fn enter(State(crowd): State<Crowd>, mut request: Request, next: Next) -> Response {
    let place = match crowd.place() {
        Ok(permit) => Place(Arc::new(Mutex::new(Some(permit)))),
        Err(full) => return full.into_response(),
    };
    request.extensions_mut().insert(place.clone());
    let response = next.run(request).await;
    place.leave();
    response
}

/// Leaves the place that a request was let in with.
pub async fn leave(request: Request, next: Next) -> Response {
    if let Some(place) = request.extensions().get::<Place>() {
        place.leave();
    }
    next.run(request).await
}
