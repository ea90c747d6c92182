//! What stands before every operation of the contract: the token, its scope, one request of the account's ration. So an
//! operation starts with a [`Caller`] or not at all.

use std::{sync::Arc, time::Duration};

use axum::{
    extract::{FromRequestParts, Request, State},
    http::{HeaderMap, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use edge::{ApiError, Challenge};
use identity::{Identity, Known};

pub use crate::checks::Caller;
use crate::{
    checks::Checks,
    limits::{Headroom, Limits, Operation},
};

/// The right of a caller to the operation at hand, for an answer that lasts.
#[derive(Clone)]
pub struct Access {
    identity: Arc<Identity>,
    known: Known,
    operation: Operation,
}

impl Access {
    /// The caller's account.
    pub fn account_id(&self) -> &str {
        &self.known.account_id
    }

    /// Looks again at the account, the login and the scope.
    ///
    /// # Errors
    /// Says what has ended, or that nobody can tell at the moment.
    pub async fn check(&self) -> Result<(), ApiError> {
        must_allow(&self.identity.recheck(&self.known).await?, self.operation)
    }
}

impl<S: Sync> FromRequestParts<S> for Access {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        parts.extensions.get().cloned().ok_or(ApiError::Unauthorized(Challenge::NoToken))
    }
}

fn must_allow(known: &Known, operation: Operation) -> Result<(), ApiError> {
    match operation.scope() {
        Some(scope) if !known.may(scope) => Err(ApiError::Forbidden { scope }),
        _ => Ok(()),
    }
}

/// Who asks, and what they have left; nobody waits longer than `patience` to be let in.
#[derive(Clone)]
pub struct Gate {
    pub identity: Arc<Identity>,
    pub limits: Arc<Limits>,
    pub checks: Checks,
    pub patience: Duration,
}

/// Lets a request through to `operation` with its [`Caller`].
pub async fn guard(
    State((gate, operation)): State<(Gate, Operation)>,
    mut request: Request,
    next: Next,
) -> Response {
    let admitted = tokio::time::timeout(gate.patience, gate.admit(operation, request.headers())).await;
    match admitted.unwrap_or_else(|_| Err(ApiError::late().into())) {
        Ok((known, headroom)) => {
            tracing::Span::current().record("account.id", &known.account_id);
            let caller = Caller {
                account_id: known.account_id.clone(),
                rations: known.rations.clone(),
                checks: gate.checks.clone(),
            };
            request.extensions_mut().insert(caller);
            request.extensions_mut().insert(Access { identity: gate.identity.clone(), known, operation });
            headroom.attach(next.run(request).await)
        }
        Err(Refusal { error, headroom }) => headroom.attach(error.into_response()),
    }
}

struct Refusal {
    error: ApiError,
    headroom: Headroom,
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        Self { error, headroom: Headroom::Unlimited }
    }
}

impl Gate {
    async fn admit(&self, operation: Operation, headers: &HeaderMap) -> Result<(Known, Headroom), Refusal> {
        let known = self.identity.caller(headers).await?;
        must_allow(&known, operation)?;
        let headroom = self.limits.take(operation.ration(), &known.account_id, &known.rations, 1).await;
        let headroom = headroom.map_err(ApiError::from)?;
        match headroom.spent() {
            Some(retry_after) => Err(Refusal { error: ApiError::RateLimited { retry_after }, headroom }),
            None => Ok((known, headroom)),
        }
    }
}
