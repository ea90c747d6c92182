//! Requests for work of a searcher, which cost the account search seconds.

use std::sync::Arc;

use axum::{
    extract::{FromRef, FromRequestParts},
    http::request::Parts,
    response::Response,
};
use contract::{BulkQuery, BulkQueryOutcome, QuotaKind};
use http_errors::ApiError;

use crate::{
    access::Caller,
    deadline::{Arrival, Deadlines},
    jobs::Jobs,
    limits::RateLimits,
};

/// Request that spends search seconds, with all that is needed to answer it.
pub struct MeteredSearch {
    pub(super) jobs: Jobs,
    pub(super) limits: Arc<RateLimits>,
    pub(super) deadlines: Deadlines,
    pub(super) arrival: Arrival,
    pub(super) caller: Caller,
}

impl<S> FromRequestParts<S> for MeteredSearch
where
    S: Send + Sync,
    Jobs: FromRef<S>,
    Arc<RateLimits>: FromRef<S>,
    Deadlines: FromRef<S>,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        Ok(Self {
            jobs: Jobs::from_ref(state),
            limits: Arc::from_ref(state),
            deadlines: Deadlines::from_ref(state),
            arrival: Arrival::from_request_parts(parts, state).await?,
            caller: Caller::from_request_parts(parts, state).await?,
        })
    }
}

impl MeteredSearch {
    /// Runs a bulk query that takes at most `most_seconds`; the inner error is the answer to an account whose search
    /// seconds are spent.
    pub(super) async fn submit_bulk_query(
        &self,
        most_seconds: f64,
        smiles: Vec<String>,
        query: BulkQuery,
        engine: Option<&str>,
    ) -> Result<Result<BulkQueryOutcome, Response>, ApiError> {
        let Self { jobs, limits, deadlines, arrival, caller } = self;
        let longest = jobs.longest_search();
        let most = whole_seconds(most_seconds.min(longest));
        let spending =
            match limits.reserve(QuotaKind::SearchSeconds, &caller.account_id, &caller.quotas, most).await {
                Ok(spending) => spending,
                Err(refusal) => return Ok(Err(refusal)),
            };
        let submitted = jobs.submit_bulk_query(&caller.account_id, smiles, query, engine);
        let outcome = deadlines.search(*arrival, longest, submitted).await;
        spending.settle(outcome.as_ref().map_or(0, |outcome| whole_seconds(outcome.worked_seconds))).await;
        outcome.map(Ok)
    }
}

/// Rounds seconds up to whole ones, as rate limits count them.
pub fn whole_seconds(seconds: f64) -> u32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a day at most, and saturating is what is wanted"
    )]
    let whole = seconds.ceil() as u32;
    whole
}
