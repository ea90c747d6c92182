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
use identity::{Identity, Rations};

use crate::{
    checks::Checks,
    limits::{Headroom, Limits, Operation},
};

/// An account with a valid token for the operation at hand.
#[derive(Clone)]
pub struct Caller {
    pub account_id: String,
    /// Its own rations.
    pub rations: Rations,
    /// What its bodies are checked by.
    pub(crate) checks: Checks,
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        // Without the guard there is no caller: an operation that forgot it answers 401 to everybody.
        parts.extensions.get().cloned().ok_or(ApiError::Unauthorized(Challenge::NoToken))
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
        Ok((caller, headroom)) => {
            tracing::Span::current().record("account.id", &caller.account_id);
            request.extensions_mut().insert(caller);
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
    async fn admit(&self, operation: Operation, headers: &HeaderMap) -> Result<(Caller, Headroom), Refusal> {
        let known = self.identity.caller(headers).await?;
        if let Some(scope) = operation.scope()
            && !known.may(scope)
        {
            return Err(ApiError::Forbidden { scope }.into());
        }
        let checks = self.checks.clone();
        let caller = Caller { account_id: known.account_id, rations: known.rations, checks };
        let headroom = self.limits.take(operation.ration(), &caller.account_id, &caller.rations, 1).await;
        let headroom = headroom.map_err(ApiError::from)?;
        match headroom.spent() {
            Some(retry_after) => Err(Refusal { error: ApiError::RateLimited { retry_after }, headroom }),
            None => Ok((caller, headroom)),
        }
    }
}
