//! Reading and validation of request bodies.
//!
//! A large body is validated off the threads that serve requests, since a thousand molecules take seconds. An account
//! has one such check at a time, and the process no more than cores. The time is charged to the account's search
//! seconds. A check holds no concurrency permit, and it stops when its caller has left.

use std::{
    collections::HashMap,
    num::NonZeroU32,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use axum::{
    extract::{FromRequestParts, Request},
    http::request::Parts,
};
use contract::QuotaKind;
use http_errors::{ApiError, Challenge, MAX_BODY, json_body_up_to, query_pairs};
use identity::AccountQuotas;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    fields::{Faults, Fields},
    idempotency::IdempotencyKey,
    limits::RateLimits,
};

/// An account with a valid token for the operation at hand.
#[derive(Clone)]
pub struct Caller {
    pub account_id: String,
    /// Quotas of the account.
    pub quotas: AccountQuotas,
    /// Permits to validate its bodies.
    pub(crate) validation_permits: ValidationPermits,
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        // Without the authentication middleware there is no caller: an operation without it answers 401 to everybody.
        parts.extensions.get().cloned().ok_or(ApiError::Unauthorized(Challenge::NoToken))
    }
}

/// Largest body that is validated on the async threads, in bytes.
const SMALL: usize = 8 * 1024;

/// Cancellation flag of a check. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct CancelFlag(Arc<AtomicBool>);

impl CancelFlag {
    /// Sets the flag: the caller has left.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns true if the caller has left.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Sets the flag when dropped.
struct CancelOnDrop(CancelFlag);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// Permits to validate large bodies. Clones share them.
#[derive(Clone)]
pub struct ValidationPermits {
    limits: Arc<RateLimits>,
    cores: Arc<Semaphore>,
    accounts: Arc<Mutex<HashMap<String, Weak<Semaphore>>>>,
}

impl ValidationPermits {
    /// Allows `cores` checks at once.
    pub fn new(cores: usize, limits: Arc<RateLimits>) -> Self {
        Self { limits, cores: Arc::new(Semaphore::new(cores)), accounts: Arc::default() }
    }

    /// Runs `work` off the async threads and charges its time to the account.
    async fn run<T: Send + 'static>(
        &self,
        caller: &Caller,
        work: impl FnOnce(CancelFlag) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let own = acquired(self.account(&caller.account_id)).await?;
        let core = acquired(Arc::clone(&self.cores)).await?;
        let stop = CancelFlag::default();
        let _stop = CancelOnDrop(stop.clone());
        let begun = Instant::now();
        // Both permits belong to the work, which may end a little after its request.
        let done = tokio::task::spawn_blocking(move || {
            let _permits = (own, core);
            work(stop)
        });
        let done = done.await.map_err(|error| ApiError::internal(&error))?;
        let seconds = u32::try_from(begun.elapsed().as_secs() + 1).unwrap_or(u32::MAX);
        let rate_limit_state =
            self.limits.take(QuotaKind::SearchSeconds, &caller.account_id, &caller.quotas, seconds).await?;
        match rate_limit_state.retry_after() {
            Some(retry_after) => Err(ApiError::RateLimited { retry_after }),
            None => Ok(done),
        }
    }

    /// Returns the one permit of an account, which exists while somebody holds it or waits for it.
    fn account(&self, id: &str) -> Arc<Semaphore> {
        let mut accounts = self.accounts.lock();
        accounts.retain(|_, permit| permit.strong_count() > 0);
        let known = accounts.get(id).and_then(Weak::upgrade);
        known.unwrap_or_else(|| {
            let permit = Arc::new(Semaphore::new(1));
            accounts.insert(id.to_owned(), Arc::downgrade(&permit));
            permit
        })
    }
}

async fn acquired(semaphore: Arc<Semaphore>) -> Result<OwnedSemaphorePermit, ApiError> {
    semaphore.acquire_owned().await.map_err(|error| ApiError::internal(&error))
}

impl Caller {
    /// Returns the account's amount of a quota; `None`: unlimited.
    pub fn quota(&self, kind: QuotaKind) -> Option<NonZeroU32> {
        self.validation_permits.limits.per_minute(kind, &self.quotas)
    }

    /// Reads the request's body with `parse`; the query must be empty.
    pub async fn body<T: Send + 'static>(
        &self,
        request: Request,
        parse: impl FnOnce(&[u8], &mut Faults) -> Option<T> + Send + 'static,
    ) -> Result<T, ApiError> {
        self.creation(MAX_BODY, request, parse).await.map(|(read, _)| read)
    }

    /// Reads the body of a request that creates something, at most `most` bytes, and its idempotency key; the query
    /// must be empty.
    pub async fn creation<T: Send + 'static>(
        &self,
        most: usize,
        request: Request,
        parse: impl FnOnce(&[u8], &mut Faults) -> Option<T> + Send + 'static,
    ) -> Result<(T, Option<IdempotencyKey>), ApiError> {
        let empty = |query: Fields<'_, '_>| {
            query.finish();
            Some(())
        };
        let (((), read), key) = self.parts(most, request, empty, parse).await?;
        Ok((read, key))
    }

    /// Reads the query of a request, and its body as [`Self::body`] does.
    pub async fn query_and_body<Q: Send + 'static, T: Send + 'static>(
        &self,
        request: Request,
        query: impl FnOnce(Fields<'_, '_>) -> Option<Q> + Send,
        parse: impl FnOnce(&[u8], &mut Faults) -> Option<T> + Send + 'static,
    ) -> Result<(Q, T), ApiError> {
        self.parts(MAX_BODY, request, query, parse).await.map(|(read, _)| read)
    }

    async fn parts<Q: Send + 'static, T: Send + 'static>(
        &self,
        most: usize,
        request: Request,
        query: impl FnOnce(Fields<'_, '_>) -> Option<Q> + Send,
        parse: impl FnOnce(&[u8], &mut Faults) -> Option<T> + Send + 'static,
    ) -> Result<((Q, T), Option<IdempotencyKey>), ApiError> {
        let (method, uri, headers) =
            (request.method().clone(), request.uri().clone(), request.headers().clone());
        let body = json_body_up_to(most, request).await?;
        let mut faults = Faults::default();
        let query = query(Fields::query(query_pairs(&uri), &mut faults));
        let key = IdempotencyKey::read(&headers, (&method, &uri, &body), &mut faults);
        if body.len() <= SMALL {
            let read = parse(&body, &mut faults);
            return Ok((faults.settle(query.zip(read))?, key));
        }
        let work = move |stop| {
            faults.stop_by(stop);
            let read = parse(&body, &mut faults);
            faults.settle(query.zip(read))
        };
        Ok((self.validation_permits.run(self, work).await??, key))
    }
}
