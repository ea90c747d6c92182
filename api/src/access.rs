//! Checks before every operation of the contract: the token, its scope, and the account's request quota. So an
//! operation starts with a [`Caller`] or not at all.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{FromRequestParts, Request, State},
    http::{HeaderMap, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http_errors::{ApiError, Challenge};
use identity::{AuthenticatedCaller, Identity};

pub use crate::body_validation::Caller;
use crate::{
    body_validation::ValidationPermits,
    limits::{RateLimitState, RateLimits},
    operation::Operation,
};

/// A caller's right to the current operation, for responses that stream.
#[derive(Clone)]
pub struct StreamAccess {
    identity: Arc<Identity>,
    known: AuthenticatedCaller,
    operation: Operation,
}

impl StreamAccess {
    /// Returns the caller's account.
    pub fn account_id(&self) -> &str {
        &self.known.account_id
    }

    /// Checks the account, the login and the scope again.
    ///
    /// # Errors
    /// Fails when one of them has ended, or when that cannot be determined at the moment.
    pub async fn check(&self) -> Result<(), ApiError> {
        must_allow(&self.identity.recheck(&self.known).await?, self.operation)
    }
}

impl<S: Sync> FromRequestParts<S> for StreamAccess {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts.extensions.get().cloned().ok_or(ApiError::Unauthorized(Challenge::NoToken))
    }
}

fn must_allow(known: &AuthenticatedCaller, operation: Operation) -> Result<(), ApiError> {
    match operation.scope {
        Some(scope) if !known.may(scope) => Err(ApiError::Forbidden { scope }),
        _ => Ok(()),
    }
}

/// Authentication and quota check of a request, within `timeout`.
#[derive(Clone)]
pub struct AuthGuard {
    pub identity: Arc<Identity>,
    pub limits: Arc<RateLimits>,
    pub validation_permits: ValidationPermits,
    pub timeout: Duration,
}

/// Admits a request to `operation` and gives it its [`Caller`].
pub async fn guard(
    State((guard, operation)): State<(AuthGuard, Operation)>,
    mut request: Request,
    next: Next,
) -> Response {
    let admitted = tokio::time::timeout(guard.timeout, guard.admit(operation, request.headers())).await;
    match admitted.unwrap_or_else(|_| Err(ApiError::late().into())) {
        Ok((known, rate_limit_state)) => {
            tracing::Span::current().record("account.id", &known.account_id);
            let caller = Caller {
                account_id: known.account_id.clone(),
                quotas: known.quotas.clone(),
                validation_permits: guard.validation_permits.clone(),
            };
            request.extensions_mut().insert(caller);
            request.extensions_mut().insert(StreamAccess {
                identity: guard.identity.clone(),
                known,
                operation,
            });
            rate_limit_state.attach(next.run(request).await)
        }
        Err(AccessRefusal { error, rate_limit_state }) => rate_limit_state.attach(error.into_response()),
    }
}

struct AccessRefusal {
    error: ApiError,
    rate_limit_state: RateLimitState,
}

impl From<ApiError> for AccessRefusal {
    fn from(error: ApiError) -> Self {
        Self { error, rate_limit_state: RateLimitState::Unlimited }
    }
}

impl AuthGuard {
    async fn admit(
        &self,
        operation: Operation,
        headers: &HeaderMap,
    ) -> Result<(AuthenticatedCaller, RateLimitState), AccessRefusal> {
        let known = self.identity.caller(headers).await?;
        must_allow(&known, operation)?;
        let rate_limit_state = self.limits.take(operation.quota, &known.account_id, &known.quotas, 1).await;
        let rate_limit_state = rate_limit_state.map_err(ApiError::from)?;
        match rate_limit_state.retry_after() {
            Some(retry_after) => {
                Err(AccessRefusal { error: ApiError::RateLimited { retry_after }, rate_limit_state })
            }
            None => Ok((known, rate_limit_state)),
        }
    }
}
