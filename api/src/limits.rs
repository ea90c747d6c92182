//! Rate limits per account and operation.
//!
//! They are kept in the process, by the generic cell rate algorithm: an account may spend a minute's ration
//! at once and gets it back evenly. With several API processes behind one address each allows the whole
//! ration, so an operator divides the settings by their number. Answers tell the state in the headers of
//! draft-ietf-httpapi-ratelimit-headers.

use std::{num::NonZeroU32, time::Duration};

use axum::{http::HeaderValue, response::Response};
use governor::{
    Quota, RateLimiter,
    clock::{Clock, DefaultClock},
    middleware::StateInformationMiddleware,
    state::keyed::DefaultKeyedStateStore,
};

use crate::{config::Rates, error::whole_seconds};

type Limiter = RateLimiter<String, DefaultKeyedStateStore<String>, DefaultClock, StateInformationMiddleware>;

/// The operations that need a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    ListSamples,
    CreateSample,
    RetrieveSample,
    DeleteSample,
    ListModels,
    RetrieveModel,
    CreateTreeSearch,
}

impl Operation {
    /// The scope that a token needs; the contract defines none for the tree search.
    pub fn scope(self) -> Option<&'static str> {
        match self {
            Self::ListSamples | Self::RetrieveSample => Some(contract::scope::SAMPLES_READ),
            Self::CreateSample => Some(contract::scope::SAMPLES_CREATE),
            Self::DeleteSample => Some(contract::scope::SAMPLES_DELETE),
            Self::ListModels | Self::RetrieveModel => Some(contract::scope::MODELS_READ),
            Self::CreateTreeSearch => None,
        }
    }
}

/// The limiters of this process.
pub struct Limits {
    samples_create: Option<Ration>,
    /// Everything that costs little.
    reads: Option<Ration>,
    treesearch: Option<Ration>,
}

struct Ration {
    name: &'static str,
    per_minute: NonZeroU32,
    limiter: Limiter,
}

impl Ration {
    fn new(name: &'static str, per_minute: u32) -> Option<Self> {
        let per_minute = NonZeroU32::new(per_minute)?;
        let limiter =
            RateLimiter::keyed(Quota::per_minute(per_minute)).with_middleware::<StateInformationMiddleware>();
        Some(Self { name, per_minute, limiter })
    }
}

/// What is left of a ration after a request took its part.
pub enum Headroom {
    Unlimited,
    Left { name: &'static str, per_minute: NonZeroU32, remaining: u32 },
    Spent { name: &'static str, per_minute: NonZeroU32, retry_after: Duration },
}

impl Limits {
    pub fn new(rates: Rates) -> Self {
        Self {
            samples_create: Ration::new("samples-create", rates.samples_create),
            reads: Ration::new("reads", rates.samples_read),
            treesearch: Ration::new("treesearch", rates.treesearch),
        }
    }

    /// Takes one request of `operation` from the ration of `account_id`.
    pub fn take(&self, operation: Operation, account_id: &str) -> Headroom {
        let ration = match operation {
            Operation::ListSamples
            | Operation::RetrieveSample
            | Operation::DeleteSample
            | Operation::ListModels
            | Operation::RetrieveModel => &self.reads,
            Operation::CreateSample => &self.samples_create,
            Operation::CreateTreeSearch => &self.treesearch,
        };
        let Some(Ration { name, per_minute, limiter }) = ration else { return Headroom::Unlimited };
        let (name, per_minute) = (*name, *per_minute);
        match limiter.check_key(&account_id.to_owned()) {
            Ok(state) => Headroom::Left { name, per_minute, remaining: state.remaining_burst_capacity() },
            Err(refused) => {
                let retry_after = refused.wait_time_from(limiter.clock().now());
                Headroom::Spent { name, per_minute, retry_after }
            }
        }
    }
}

impl Headroom {
    /// How long to wait, if there is nothing left.
    pub fn spent(&self) -> Option<Duration> {
        match self {
            Self::Spent { retry_after, .. } => Some(*retry_after),
            Self::Unlimited | Self::Left { .. } => None,
        }
    }

    /// `response` with the state of the limit in its headers.
    pub fn attach(&self, mut response: Response) -> Response {
        let (name, per_minute, remaining, reset) = match self {
            Self::Unlimited => return response,
            Self::Left { name, per_minute, remaining } => {
                let taken = per_minute.get().saturating_sub(*remaining);
                let reset = Duration::from_secs(60) * taken / per_minute.get();
                (name, per_minute, *remaining, reset)
            }
            Self::Spent { name, per_minute, retry_after } => (name, per_minute, 0, *retry_after),
        };
        let state = format!("\"{name}\";r={remaining};t={}", whole_seconds(reset));
        for (header, value) in
            [("ratelimit-policy", format!("\"{name}\";q={per_minute};w=60")), ("ratelimit", state)]
        {
            let value = HeaderValue::try_from(value).expect("limits: the header values are plain ASCII");
            response.headers_mut().insert(header, value);
        }
        response
    }
}
